package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// problems runs every check.
func problems(t *testing.T, ctx context.Context, s store.Upkeep) (list []store.Problem) {
	t.Helper()
	for _, c := range s.ListChecks() {
		if err := c.Run(ctx, func(p store.Problem) { list = append(list, p) }, func(int64) {}); err != nil {
			t.Fatal(c.Name, err)
		}
	}
	return list
}

// breakage is something done to the database behind the program's back, and what has to be said of it.
type breakage struct {
	name, statement string
	check, says     string
	sqliteOnly      bool
}

var breakages = []breakage{
	{
		"counter",
		`UPDATE subscription_counter SET active = active + 1`,
		"counts",
		"says that 4 have not ended; there are 3",
		false,
	},
	{"counter last", `UPDATE subscription_counter SET last = 1`, "counts", "last number is 1; there is a 3", false},
	{"block", `UPDATE subscription_block SET active = active - 1`, "counts", "block 0", false},
	{"block gone", `DELETE FROM subscription_block`, "counts", "block 0", false},
	{"expiry", `INSERT INTO subscription_expiry (partner_id, block, expiry_day, active)
		SELECT partner_id, 0, 739999, 7
		FROM subscription_counter`, "counts", "says that 7 have not ended; there are 0", false},
	{"event gap", `DELETE FROM event WHERE seq = 2`, "events", "numbers 2 to 2 are missing", false},
	{"event behind", `UPDATE event_counter SET last = last + 5`, "events", "says that the last number is", false},
	{
		"delivery alone",
		`UPDATE delivery SET event_id = 'evt_other' WHERE seq = 1`,
		"events",
		"its event evt_other is not there",
		false,
	},
	{"attempt alone", `DELETE FROM delivery WHERE seq = 1`, "events", "its delivery is not there", false},
	{"finding alone", `DELETE FROM asset WHERE kind = 1`, "references", "its watched value is not there", true},
	{
		"partner gone",
		`UPDATE epp_key SET partner_id = 99`,
		"references",
		"3 rows of a partner that is not there",
		false,
	},
	{"plan gone", `UPDATE plan SET id = 'prata'`, "references", "its plan is not there", false},
	{"person gone", `DELETE FROM person`, "references", "its person is not there", false},
	{"case moved", `UPDATE support_case SET status = 'Fechado'`, "cases", "its last move left it Em andamento", false},
	{"move gone", `DELETE FROM case_move WHERE number = 1`, "cases", "has 1 moves up to number 2", false},
	{
		"status",
		`UPDATE asset SET status = 'monitorado' WHERE kind = 2`,
		"statuses",
		"from its findings it is comprometido",
		false,
	},
	{
		"open breaches",
		`UPDATE asset SET open_breaches = '' WHERE kind = 2`,
		"statuses",
		"open breaches is not that of its findings",
		false,
	},
	{
		"moved seal",
		`UPDATE subscription SET body = (SELECT o.body FROM subscription o WHERE o.seq = 1) WHERE seq = 2`,
		"seals",
		"altered, or moved here",
		false,
	},
	{
		"case at another service",
		`UPDATE support_case SET service_id = (SELECT min(s.id) FROM service s WHERE s.id <> support_case.service_id)`,
		"seals",
		"altered, or moved here",
		false,
	},
	{"no seal", `UPDATE event SET body = 'clear' WHERE seq = 1`, "seals", "is no sealed value", true},
	{"cpf index", `UPDATE subscription SET cpf = holder WHERE seq = 2`, "seals", "altered, or moved here", false},
	{"holder index", `UPDATE subscription SET holder = cpf WHERE seq = 2`, "indexes", "not that of its holder", false},
	{
		"fingerprint",
		`UPDATE asset SET fingerprint = 1 WHERE kind = 1`,
		"indexes",
		"its fingerprint is not that of its value",
		false,
	},
	{"no fingerprint", `UPDATE asset SET fingerprint = NULL WHERE kind = 1`, "indexes", "it has no fingerprint", false},
	{
		"audit changed",
		`UPDATE audit SET action = 'nothing.happened' WHERE seq = 2`,
		"audit",
		"line 2 was changed",
		false,
	},
	{"audit cut", `DELETE FROM audit WHERE seq = 1`, "audit", "line 1 is missing", false},
	{
		"audit base",
		`INSERT INTO audit_base (id, seq, mac, tag) SELECT 1, 1, mac, mac FROM audit WHERE seq = 1`,
		"audit",
		"beginning of the trail",
		false,
	},
	{
		"reference",
		`UPDATE finding SET breach = 'nowhere' WHERE id = (SELECT min(id) FROM finding)`,
		"files",
		"refer to rows of breach",
		true,
	},
	{
		"constraint",
		`UPDATE asset SET status = 'sumido' WHERE id = (SELECT min(id) FROM asset)`,
		"files",
		"CHECK constraint failed in asset",
		true,
	},
}

// TestCheck: a sound database has no problem, and each damage is found by the check that is there for it.
func TestCheck(t *testing.T) {
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			w := newLives(t, storetest.Open(t, engine), 3)
			w.note(t, 3)
			if found := problems(t, context.Background(), w.Upkeep); len(found) != 0 {
				t.Fatal("a sound database:", found)
			}
			for _, b := range breakages {
				if b.sqliteOnly && engine != sqldb.SQLite {
					continue // the other engine does not let it happen
				}
				t.Run(b.name, func(t *testing.T) {
					found := w.damaged(t, b.statement)
					for _, p := range found {
						if p.Check == b.check && strings.Contains(p.Where+" "+p.What, b.says) {
							return
						}
					}
					t.Errorf("not found; what was: %v", found)
				})
			}
		})
	}
}

// sealedOfRows are columns whose rows other checks than that of seals read too.
var sealedOfRows = []string{
	"endpoint.url", "endpoint.keys", "operator.email", "operator.totp", "operator_session.origin", "feed.target",
	"support_case.details", "asset.value", "subscription.body", "partner.salt", "finding.logins", "audit.detail",
	"event.body", "erasure.trail", "erasure_request.request",
}

// TestCheckGoesOn: a row that cannot be opened keeps no check from its end.
func TestCheckGoesOn(t *testing.T) {
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.PostgreSQL} {
		t.Run(string(engine), func(t *testing.T) {
			w := newLives(t, storetest.Open(t, engine), 1)
			w.note(t, 1)
			people := operator.NewRegistry(w.Store.Operators, nil, w.Clock.Now)
			if _, _, err := people.CreateOperator(t.Context(), "ana@exemplo.com.br", operator.Admin); err != nil {
				t.Fatal(err)
			}
			for _, of := range sealedOfRows {
				table, column, _ := strings.Cut(of, ".")
				statement := `UPDATE ` + table + ` SET ` + column + ` = (SELECT a.value FROM asset a LIMIT 1)`
				if of == "asset.value" {
					statement = `UPDATE asset SET value = (SELECT s.body FROM subscription s LIMIT 1)`
				}
				w.damaged(t, statement)
			}
			w.damaged(t, `UPDATE operator SET email = (SELECT a.value FROM asset a LIMIT 1)`)
			for _, p := range w.damaged(t, `UPDATE operator SET email = (SELECT a.value FROM asset a LIMIT 1)`) {
				if p.Check == "grants" && strings.HasPrefix(p.Where, "operator op_") {
					return
				}
			}
			t.Error("the operator who does not open is not named")
		})
	}
}

// damaged returns the problems of a database that something was done to behind the program's back. It is whole again
// afterwards.
func (w *lives) damaged(t *testing.T, statement string) (found []store.Problem) {
	t.Helper()
	ctx := context.Background()
	if w.DB.EngineName() == sqldb.SQLite {
		folder := sqldbtest.Folder(t)
		path := filepath.Join(folder, "vigia.db")
		if err := w.DB.CopyFileTo(ctx, path); err != nil {
			t.Fatal(err)
		}
		sqldbtest.WithoutReferences(t, path, statement)
		return problems(t, ctx, storetest.ReopenStore(t, path, folder, w.Keys.Root(), w.Clock).Upkeep)
	}
	undo := errors.New("undo")
	err := w.InTransaction(ctx, func(tx store.Tx) error {
		for _, s := range []string{
			`SET LOCAL session_replication_role = replica`,
			statement,
		} { // the engine keeps no references then
			if err := tx.ExecForTest(ctx, s); err != nil {
				t.Fatal(err)
			}
		}
		found = problems(t, ctx, tx.Upkeep)
		return undo
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	return found
}

// note adds lines to the audit trail.
func (w *lives) note(t *testing.T, lines int) {
	t.Helper()
	trail := operator.NewTrail(w.Store.Audit, w.Clock.Now)
	for range lines {
		if err := trail.RecordAction(
			context.Background(),
			operator.Actor{Name: "op_1", From: "aqui"},
			"partner.show",
			string(w.partner.ID),
			"",
		); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckUnknownKey: a value under a key that the ring does not hold is told apart from one that was altered.
func TestCheckUnknownKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newLives(t, e, 1)
		other := storetest.Open(t, sqldb.SQLite).Keys
		sealed, err := other.Seal(
			seal.Place{Table: "partner", Column: "salt", Partner: string(w.partner.ID), Row: string(w.partner.ID)},
			[]byte("x"),
		)
		if err != nil {
			t.Fatal(err)
		}
		err = e.DB.InTransaction(context.Background(), func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(context.Background(), `UPDATE partner SET salt = $1`, sealed)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems(t, context.Background(), e.Upkeep) {
			if p.Check == "seals" && strings.Contains(p.What, "which the ring does not hold") {
				return
			}
		}
		t.Error("not found:", problems(t, context.Background(), e.Upkeep))
	})
}

// TestCheckNamesPartners: an operator knows a partner by its ID, not by the number that the rows have.
func TestCheckNamesPartners(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newLives(t, e, 3)
		id := string(w.partner.ID)
		for statement, want := range map[string]string{
			`UPDATE subscription_counter SET active = active + 1`: "subscription_counter " + id,
			`UPDATE subscription SET plan_id = 'nowhere'`:         "subscription " + id + "/1",
			`DELETE FROM event_counter`:                           "event_counter " + id,
		} {
			found := w.damaged(t, statement)
			if !slices.ContainsFunc(found, func(p store.Problem) bool { return p.Where == want }) {
				t.Errorf("%s: nothing is found at %s: %v", statement, want, found)
			}
		}
	})
}
