package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subject"
)

// fatten gives the first person rows of every kind that a life may bring thousands of, and tells how many: with size
// 1,000 twenty thousand.
func (w *lives) fatten(t *testing.T, size int) (rows int64) {
	t.Helper()
	const last = `(SELECT last FROM event_counter WHERE partner_id = p.partner_id)`
	for _, of := range []struct {
		times        int
		into, values string
	}{
		{5, `score_day (partner_id, user_index, day, sealed, kept_at)`, `p.partner_id, p.user_512, i, p.cpf, 1`},
		{4, `score_day (partner_id, user_index, day, sealed, kept_at)`, `p.partner_id, p.user_256, i, p.cpf, 1`},
		{
			2, `asset_history (at, seq, partner_id, asset_id, previous, status)`,
			`1, 10 + i, p.partner_id, (SELECT min(id) FROM asset WHERE user_index = p.user_512), '', 'monitorado'`,
		},
		{
			2, `asset_history (at, seq, partner_id, asset_id, previous, status)`,
			`1, 10 + i, p.partner_id, (SELECT max(id) FROM asset WHERE user_index = p.user_512), '', 'monitorado'`,
		},
		{
			4, `case_move (partner_id, case_id, number, kind, from_status, to_status, actor, moved_at)`,
			`p.partner_id, (SELECT id FROM support_case WHERE user_index = p.user_512), 10 + i, '', '', 'Aberto',
			'op_1', 1`,
		},
		{
			1, `subscription (created_at, suspended_at, ended_at, partner_id, seq, start_day, expiry_day, plan_id,
				cpf, holder, body)`,
			`1, 0, 2, p.partner_id, 100000 + i, 1, 1, 'ouro', p.cpf, substr(p.cpf, 1, 0), p.cpf`,
		},
		{1, `event (partner_id, seq, id, type, person, body,
			created_at)`, `p.partner_id, ` + last + ` + i, 'evt_' || i, 'test', p.user_512, p.cpf, 1`},
		{
			1, `delivery (partner_id, endpoint_id, seq, event_id, person, state, ordered, attempts, next_at,
				created_at, finished_at)`,
			`p.partner_id, (SELECT min(id)
			FROM endpoint), ` + last + ` + i, 'evt_' || i, p.user_512, 'delivered', FALSE, 1, 1, 1, 1`,
		},
	} {
		n := of.times * size
		err := storetest.Write(
			context.Background(),
			w.Env,
			fmt.Sprintf(
				`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s SELECT %s
			FROM n, person p WHERE p.partner_id = $1 AND p.cpf = (SELECT cpf FROM subscription
			WHERE partner_id = $1 AND seq = 1)`,
				n,
				of.into,
				of.values,
			),
			w.partner.ID.Number(),
		)
		if err != nil {
			t.Fatal(of.into, err)
		}
		rows += int64(n)
	}
	if err := storetest.Write(
		context.Background(),
		w.Env,
		`UPDATE event_counter SET last = last + $1`,
		size,
	); err != nil {
		t.Fatal(err)
	}
	return rows
}

// left counts the rows of the first person by the indexes that were theirs.
func (w *lives) left(t *testing.T, user []byte) (n int64) {
	t.Helper()
	for _, from := range []string{
		`event WHERE person`,
		`asset WHERE user_index`,
		`support_case WHERE user_index`,
		`epp_key WHERE user_index`,
		`score_day WHERE user_index`,
		`person WHERE user_512`,
	} {
		n += w.count(t, `SELECT count(*) FROM `+from+` = $1`, user)
	}
	return n
}

// TestLargeErasure: somebody with twenty thousand rows is erased in many small transactions. Nothing of them is shown
// from the first on, whatever is still there; a process that is killed half way leaves neither receipt nor line in the
// trail, and the erasure is gone on with: by the same command, or by a worker, who leaves what came since it began.
func TestLargeErasure(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]func(*testing.T, *lives) int64{
		"a worker":         resumeByWorker,
		"the same command": resumeByCommand,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newLives(t, storetest.Open(t, sqldb.SQLite), 2)
			size := 100
			if name == "a worker" {
				size = 1000
			}
			rows, others := w.fatten(t, size), w.left(t, w.userIndex(t, 1))
			user := w.userIndex(t, 0)
			// A score counts for its whole day: that of the day of the erasure goes, too.
			if err := storetest.Write(
				context.Background(),
				w.Env,
				`INSERT INTO score_day (partner_id, user_index, day, sealed, kept_at)
				VALUES ($1, $2, $3, $2, 1) ON CONFLICT DO NOTHING`,
				w.partner.ID.Number(),
				user,
				partner.DayNumber(w.Clock.Now()),
			); err != nil {
				t.Fatal(err)
			}
			var most, transactions int64
			ctx, kill := context.WithCancel(context.Background())
			defer kill()
			err := w.DB.WatchWriter(ctx, func(h sqldb.Hold) {
				most = max(most, h.RowsWritten())
				if transactions++; transactions == 20 {
					kill()
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			before, err := w.Audit.TrailHead(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = w.Subjects.EraseRows(ctx, subject.Held{Partner: w.partner}, w.people[0].who(), "pedido",
				func(operator.Ledger, subject.Erased, subject.Tombstone) error {
					return errors.New("it came to its end")
				})
			if !errors.Is(err, context.Canceled) {
				t.Fatal("killed half way:", err)
			}
			w.nothingShown(t, before, user)
			erased := by(t, w)
			if left := w.left(t, user); left != 0 {
				t.Errorf("%d rows are left", left)
			}
			if now := w.left(t, w.userIndex(t, 1)); now != others {
				t.Errorf("of somebody else %d rows are left of %d", now, others)
			}
			if most > heldRows || transactions < int64(20+size/10) {
				t.Errorf("%d transactions, of %d rows at most, want at most %d", transactions, most, heldRows)
			}
			if erased == 0 || erased > rows+100 {
				t.Errorf("%d rows are counted of %d", erased, rows)
			}
			if found := problems(t, context.Background(), w.Upkeep); len(found) != 0 {
				t.Error(found)
			}
		})
	}
}

// userIndex is the index of a person's longer digest.
func (w *lives) userIndex(t *testing.T, n int) (index []byte) {
	t.Helper()
	err := w.DB.ReadPool().QueryRowContext(context.Background(), `SELECT user_512 FROM person
		WHERE partner_id = $1 AND cpf = (
		SELECT cpf FROM subscription WHERE partner_id = $1 AND seq = $2)`,
		w.partner.ID.Number(),
		n+1,
	).Scan(&index)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// nothingShown: of an erasure that ended half way nothing is to be seen, although rows are left.
func (w *lives) nothingShown(t *testing.T, before operator.Head, user []byte) {
	t.Helper()
	ctx := context.Background()
	if w.left(t, user) == 0 {
		t.Fatal("it was not half way")
	}
	for _, p := range []subject.Person{w.people[0].who(), {User: w.people[0].user, Partner: w.partner.ID}} {
		if held, err := w.rights().ExportPerson(ctx, p); err != nil || len(held) != 0 {
			t.Errorf("half of a person is shown: %+v %v", held, err)
		}
	}
	if stones, err := w.Subjects.Tombstones(ctx); err != nil || len(stones) != 0 {
		t.Error("a receipt:", stones, err)
	}
	if head, err := w.Audit.TrailHead(ctx); err != nil || head.Seq != before.Seq {
		t.Error("a line in the trail:", head, err)
	}
	if n, err := w.rights().ResumeErasures(ctx, func([]subject.Tombstone) error { return nil }); n != 0 || err != nil {
		t.Error("it was taken from a command that may still run:", n, err)
	}
}

func resumeByWorker(t *testing.T, w *lives) (erased int64) {
	ctx := context.Background()
	w.Clock.Advance(10 * time.Minute)
	watch := cyber.NewMonitoring(w.Store.Monitoring, w.Store.Partners, cyber.Unasked{}, w.Keys.Fingerprint, w.Clock.Now)
	again := partner.UserHash(strings.Repeat("cd", 32))
	if _, err := watch.AddAsset(
		ctx,
		cyber.AssetRequest{
			Owner: cyber.Owner{Partner: w.partner.ID, Mode: partner.Live},
			User:  again,
			Type:  "cpf",
			Value: w.people[0].cpf,
		},
	); err != nil {
		t.Fatal(err)
	}
	var kept []subject.Tombstone
	n, err := w.rights().ResumeErasures(ctx, func(stones []subject.Tombstone) error { kept = stones; return nil })
	if err != nil || n != 1 || len(kept) != 1 {
		t.Fatal(n, kept, err)
	}
	if stones, err := w.Subjects.Tombstones(ctx); err != nil || len(stones) != 1 || stones[0].ID != kept[0].ID {
		t.Error(stones, err)
	}
	if list, err := w.Store.Monitoring.AssetsOfUser(ctx, w.partner.ID, again); err != nil || len(list) != 1 {
		t.Error("what came after the erasure had begun:", list, err)
	}
	w.emptied(t)
	return w.recorded(t, subject.Worker)
}

func resumeByCommand(t *testing.T, w *lives) int64 {
	ctx := context.Background()
	out, err := w.rights().ErasePerson(ctx, clerk, w.people[0].who(), "pedido", keepNoCopy)
	if err != nil || !out.Scrubbed || len(out.Tombstones) != 1 {
		t.Fatal(out, err)
	}
	if stones, err := w.Subjects.Tombstones(ctx); err != nil || len(stones) != 1 ||
		stones[0].ID != out.Tombstones[0].ID {
		t.Error("it is another erasure:", stones, err)
	}
	w.emptied(t)
	if n := w.recorded(t, clerk.Name); n != out.Partners[0].Total() {
		t.Errorf("%d rows in the trail, %d in the answer", n, out.Partners[0].Total())
	}
	return out.Partners[0].Total()
}

// emptied: the kept answer about the person has nothing of them, and stands for its request.
func (w *lives) emptied(t *testing.T) {
	t.Helper()
	answer, replayed, err := w.Answers.AnswerOnce(
		context.Background(),
		w.partner.ID,
		partner.RequestClaim{Path: "/subscriptions", Key: "k0", Digest: []byte{0}},
		func(store.Tx) (partner.Answer, error) { return partner.Answer{}, errors.New("carried out again") },
	)
	if err != nil || !replayed || strings.Contains(string(answer.Body), w.people[0].cpf) ||
		!strings.Contains(string(answer.Body), `"key":"***"`) {
		t.Error("kept answer:", string(answer.Body), replayed, err)
	}
}

// recorded is how many rows the one line about the erasure speaks of.
func (w *lives) recorded(t *testing.T, actor string) (rows int64) {
	t.Helper()
	list, err := w.rights().ListAccesses(context.Background(), w.people[0].who())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	want := list[0]
	want.Action, want.Name = "subject.erased", actor
	difftest.Must(t, "the line", list[0], want)
	detail := list[0].Detail
	if _, err := fmt.Sscanf(detail[strings.LastIndex(detail, ", ")+2:], "%d rows", &rows); err != nil {
		t.Fatal(detail, err)
	}
	return rows
}

// TestErasureDropsFiles: files that operators were given or sent go with any person whom they may name: those about the
// person's partner, and lists, which may be of all partners. One that is being written is not finished.
func TestErasureDropsFiles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w, other := newLives(t, e, 1), newLives(t, e, 0)
		saved := e.Store.Operators
		if err := saved.InsertOperator(
			ctx,
			operator.Operator{ID: "op_a", Email: "a@exemplo.com.br", Role: operator.Admin},
		); err != nil {
			t.Fatal(err)
		}
		abouts := map[string]string{
			"ex_checked": string(w.partner.ID),
			"ex_list":    "",
			"ex_other":   string(other.partner.ID),
			"ex_open":    string(w.partner.ID),
		}
		for id, about := range abouts {
			err := saved.BeginExport(
				ctx,
				operator.Export{
					ID:        id,
					Operator:  "op_a",
					List:      "l",
					About:     about,
					Format:    operator.CSV,
					CreatedAt: e.Clock.Now(),
					Until:     e.Clock.Now().Add(time.Hour),
				},
			)
			for part := int64(1); part <= 9 && err == nil; part++ {
				err = saved.AddExportPart(ctx, id, part, part, []byte("um"), part == 9 && id != "ex_open")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		out := w.erase(t, subject.Person{CPF: w.people[0].cpf, Partner: w.partner.ID})
		if n := out.Partners[0].Counts["files"]; n != 3 {
			t.Errorf("%d files went, want 3", n)
		}
		for id := range abouts {
			_, err := saved.ExportPart(ctx, id, 1)
			if kept := err == nil; kept != (id == "ex_other") || err != nil && !errors.Is(err, operator.ErrNoExport) {
				t.Errorf("%s: %v", id, err)
			}
		}
		if n := w.count(t, `SELECT count(*) FROM operator_export_part`); n != 9 {
			t.Errorf("%d parts are left, want 9", n)
		}
		err := saved.AddExportPart(ctx, "ex_open", 10, 10, []byte("dois"), true)
		if !errors.Is(err, operator.ErrNoExport) {
			t.Error("it was written on:", err)
		}
	})
}
