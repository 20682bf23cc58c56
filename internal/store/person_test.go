package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sort"
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

func (w *lives) rights() *subject.Rights {
	return subject.NewRights(
		w.Store.Subjects,
		w.Store.Partners,
		operator.NewTrail(w.Store.Audit, w.Clock.Now),
		w.Clock.Now,
	)
}

var clerk = operator.Actor{Name: "cli:clerk", From: "here"}

func (w *lives) erase(t *testing.T, p subject.Person) subject.Outcome {
	t.Helper()
	out, err := w.rights().ErasePerson(context.Background(), clerk, p, "pedido da pessoa", keepNoCopy)
	if err != nil || !out.Scrubbed {
		t.Fatal(out, err)
	}
	return out
}

// TestSubjectExport: everything that a person has left in the service is in the export, and nothing of anybody else.
func TestSubjectExport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newLives(t, e, 3)
		other := newLives(t, e, 1) // the same first person at another partner
		for _, p := range []subject.Person{w.people[1].who(), {User: w.people[1].user, Partner: w.partner.ID}} {
			held, err := w.rights().ExportPerson(context.Background(), p)
			if err != nil || len(held) != 1 {
				t.Fatal(len(held), err)
			}
			h := held[0]
			type parts struct{ subscriptions, values, findings, cases, devices, answers, scores, stored int }
			difftest.Must(
				t,
				"the parts of the export",
				parts{
					len(h.Subscriptions),
					len(h.Assets),
					len(h.Findings),
					len(h.Cases),
					len(h.Devices),
					len(h.Answers),
					len(h.Scores),
					h.StoredAnswers,
				},
				parts{1, 2, 2, 1, 1, 1, 1, 1},
			)
			if len(h.Events) < 4 {
				t.Fatalf("%d events: %+v", len(h.Events), h.Events)
			}
			difftest.Must(t, "the moves of the case", len(h.Cases[0].Moves), 2)
			difftest.Check(t, "the history of a value", len(h.Assets[0].History), 1)
			difftest.Check(t, "the deliveries of an event", len(h.Events[0].Deliveries), 1)
			if h.Subscriptions[0].Beneficiary.Name != "Pessoa 1" ||
				h.Cases[0].Moves[1].Note != "ligar para a pessoa 1" ||
				h.Devices[0].Name != "Celular 1" {
				t.Errorf("%+v", h)
			}
		}
		held, err := w.rights().ExportPerson(context.Background(), w.people[0].who())
		if err != nil || len(held) != 2 || held[0].Partner.ID == held[1].Partner.ID ||
			held[0].Partner.ID != other.partner.ID && held[1].Partner.ID != other.partner.ID {
			t.Error("a person of two partners:", len(held), err)
		}
		held, err = w.rights().ExportPerson(context.Background(), subject.Person{CPF: "00000000191"})
		if err != nil || len(held) != 0 {
			t.Error("somebody unknown:", held, err)
		}
	})
}

// TestSubjectErase: a person is gone from every table and everybody else is whole; what was taken is counted; the
// checks agree.
func TestSubjectErase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 4)
		one := newTownRows(t, e) // what a single person leaves
		before := w.rows(t)
		named := func() (n int64) {
			t.Helper()
			if err := e.DB.ReadPool().QueryRowContext(ctx, `SELECT count(*) FROM idempotency
				WHERE length(person) > 0`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		asked := named()
		out := w.erase(t, subject.Person{CPF: w.people[2].cpf, Partner: w.partner.ID})
		after := w.rows(t)
		for table, n := range before {
			want := n - one[table]
			if table == "idempotency" {
				want = n // redacted, not deleted
			}
			if table == "event" || table == "delivery" {
				want++ // that their key ended, which names nobody
			}
			if after[table] != want {
				t.Errorf("%s: %d rows of %d left, want %d", table, after[table], n, want)
			}
		}
		if left := named(); left != asked-1 {
			t.Errorf("%d of %d kept answers say whom they are about", left, asked)
		}
		got := out.Partners[0].Counts
		want := maps.Clone(got)
		want["kept answers"], want["subscriptions"], want["watched values"] = 1, 1, 2
		difftest.Check(t, "what was erased", got, want)
		if got["events"] < 4 {
			t.Errorf("%d events were erased", got["events"])
		}
		if held, err := w.rights().ExportPerson(ctx, w.people[2].who()); err != nil || len(held) != 0 {
			t.Error("still there:", held, err)
		}
		if found := problems(t, ctx, w.Upkeep); len(found) != 0 {
			t.Error("an erasure leaves the database whole:", found)
		}
		comparePage(t, e, w.partner.ID, 0, 100)

		// The claim is still there: the old request answers without the person, and is not carried out again.
		answer, replayed, err := w.Answers.AnswerOnce(
			ctx,
			w.partner.ID,
			partner.RequestClaim{Path: "/subscriptions", Key: "k2", Digest: []byte{2}},
			func(store.Tx) (partner.Answer, error) { return partner.Answer{}, errors.New("carried out again") },
		)
		if err != nil || !replayed || strings.Contains(string(answer.Body), w.people[2].cpf) ||
			!strings.Contains(string(answer.Body), `"cpf":"***"`) ||
			!strings.Contains(string(answer.Body), `"n":2`) {
			t.Error("kept answer:", string(answer.Body), replayed, err)
		}
		// A new enrolment is the partner's to make.
		e.Clock.Advance(time.Minute)
		sub := person(2, livesPlan, "", 0)
		sub.Beneficiary.CPF = w.people[2].cpf
		if dup := enrolAll(t, e, w.partner.ID, sub); len(dup) != 0 {
			t.Error("a person who was erased cannot come back:", dup)
		}
		if found := problems(t, ctx, w.Upkeep); len(found) != 0 {
			t.Error("a new enrolment is no return:", found)
		}
	})
}

// TestEraseLooksAnswersUp: what was answered about others is not even opened, however much there is of it. One that
// cannot be opened stands for all of it.
func TestEraseLooksAnswersUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 2)
		err := e.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(
				ctx,
				`INSERT INTO idempotency (partner_id, claim, body_digest, answer, created_at, person)
				VALUES ($1, $2, $2, $2, $3, $4)`,
				w.partner.ID.Number(),
				[]byte("x"),
				w.Clock.Now().UnixMicro(),
				[]byte{},
			)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.rights().ErasePerson(ctx, clerk, w.people[1].who(), "pedido", keepNoCopy)
		if err != nil || out.Partners[0].Counts["kept answers"] != 1 {
			t.Error(out, err)
		}
	})
}

// newTownRows counts what one person adds to the tables, in a database of its own.
func newTownRows(t *testing.T, e *storetest.Env) map[string]int64 {
	t.Helper()
	fresh := storetest.Open(t, e.DB.EngineName())
	a, b := newLives(t, fresh, 1).rows(t), map[string]int64{}
	second := newLives(t, storetest.Open(t, e.DB.EngineName()), 2).rows(t)
	for table := range a {
		b[table] = second[table] - a[table]
	}
	return b
}

// TestEraseReachesOthers: a CPF that somebody else watches goes with its owner; the rest of that somebody stays.
func TestEraseReachesOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		watch := cyber.NewMonitoring(
			w.Store.Monitoring,
			w.Store.Partners,
			everywhere{},
			w.Keys.Fingerprint,
			w.Clock.Now,
		)
		owner := cyber.Owner{Partner: w.partner.ID, Mode: partner.Live}
		for kind, value := range map[string]string{"cpf": w.people[0].cpf, "email": "mae@exemplo.com.br"} {
			if _, err := watch.AddAsset(
				ctx,
				cyber.AssetRequest{Owner: owner, User: "mae", Type: kind, Value: value},
			); err != nil {
				t.Fatal(err)
			}
		}
		held, err := w.rights().ExportPerson(ctx, w.people[0].who())
		if err != nil || len(held[0].Others) != 1 || held[0].Others[0] != "mae" {
			t.Fatal(held, err)
		}
		w.erase(t, w.people[0].who())
		left, err := watch.ListAssets(ctx, cyber.AssetScope{Partner: w.partner.ID, User: "mae"})
		if err != nil || len(left) != 1 || left[0].Value != "mae@exemplo.com.br" {
			t.Error(left, err)
		}
	})
}

// TestExtraKindsAreThePersonsOwn: a random Pix key stands in the person's copy with its findings, is rewritten by a
// rotation, and goes with the person.
func TestExtraKindsAreThePersonsOwn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		watch := cyber.NewMonitoring(
			w.Store.Monitoring,
			w.Store.Partners,
			everywhere{},
			w.Keys.Fingerprint,
			w.Clock.Now,
		)
		owner := cyber.Owner{Partner: w.partner.ID, Mode: partner.Live}
		const key = "123e4567-e89b-42d3-a456-426614174000"
		if _, err := watch.AddAsset(
			ctx,
			cyber.AssetRequest{
				Owner: owner,
				User:  w.people[0].user,
				Group: cyber.ExtraKinds,
				Type:  "pix_key",
				Value: key,
			},
		); err != nil {
			t.Fatal(err)
		}
		e.RotateKey(t)
		var progress store.RewriteProgress
		for done := false; !done; {
			var err error
			if done, err = e.Upkeep.RewriteSealed(ctx, &progress, 100); err != nil {
				t.Fatal(err)
			}
		}
		held, err := w.rights().ExportPerson(ctx, w.people[0].who())
		if err != nil || len(held[0].Assets) != 3 || held[0].Assets[2].Value != key || len(held[0].Findings) != 3 {
			t.Fatal(len(held[0].Assets), len(held[0].Findings), err)
		}
		w.erase(t, w.people[0].who())
		if left, err := watch.ListAssets(
			ctx,
			cyber.AssetScope{Partner: w.partner.ID, User: w.people[0].user},
		); err != nil ||
			len(left) != 0 {
			t.Error(left, err)
		}
	})
}

// TestReplayErasures: what an older copy brings back goes again, a stranger's log is refused, and what came later
// stays.
func TestReplayErasures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 2)
		before := w.rows(t)
		out := w.erase(t, w.people[0].who())
		var log bytes.Buffer
		if err := subject.WriteTombstones(&log, out.Tombstones); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), w.people[0].cpf) || strings.Contains(log.String(), string(w.people[0].user)) {
			t.Error("the log names the person")
		}
		e.Clock.Advance(-time.Hour) // as if the rows were from before
		w.live(t, 0)
		e.Clock.Advance(2 * time.Hour)
		w.live(t, 5)
		if found := problems(t, ctx, w.Upkeep); len(found) == 0 || found[0].Check != "erasures" {
			t.Error("somebody who is back is not noticed:", found)
		}
		done, err := w.rights().ReplayLog(ctx, strings.NewReader(log.String()+"\n"))
		if err != nil || done.Rows == 0 {
			t.Fatal(done, err)
		}
		again := done
		again.Lines, again.Scrubbed = 1, true
		difftest.Must(t, "what was erased again", done, again)
		after := w.rows(t)
		if after["subscription"] != before["subscription"] || after["asset"] != before["asset"] {
			t.Error(before, after)
		}
		if found := problems(t, ctx, w.Upkeep); len(found) != 0 {
			t.Error(found)
		}
		if done, err = w.rights().ReplayLog(ctx, &log); err != nil || done.Rows != 0 {
			t.Error("a second replay finds nothing:", done, err)
		}
		forged := out.Tombstones[0]
		forged.ErasedAt += int64(time.Hour)
		log.Reset()
		if err := subject.WriteTombstones(&log, []subject.Tombstone{forged}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.rights().ReplayLog(ctx, &log); !errors.Is(err, subject.ErrForeign) {
			t.Error("a forged line:", err)
		}
	})
}

// sealedOf reads every sealed value and index that stands for a person, as bytes that must be gone later; but for the
// indexes that a tombstone keeps.
func (w *lives) sealedOf(t *testing.T, h human) (marks [][]byte) {
	t.Helper()
	cpf := w.Keys.BlindIndex("cpf", string(w.partner.ID), []byte(h.cpf))
	user := w.Keys.BlindIndex("user", string(w.partner.ID), h.user.Canonical())
	for query, arg := range map[string][]byte{
		`SELECT body FROM subscription
		WHERE cpf = $1`: cpf,
		`SELECT value FROM asset WHERE user_index = $1`: user,
		`SELECT value_index FROM asset WHERE user_index = $1
		AND kind <> 2`: user,
		`SELECT details FROM support_case
		WHERE user_index = $1`: user,
		`SELECT details FROM epp_key WHERE user_index = $1`: user,
		`SELECT body FROM event WHERE person = $1`:          user,
		`SELECT m.note FROM case_move m JOIN support_case c ON c.id = m.case_id
		WHERE c.user_index = $1 AND m.note IS NOT NULL`: user,
		`SELECT a.answer FROM attempt a JOIN event e ON e.partner_id = a.partner_id AND e.seq = a.seq
		WHERE e.person = $1`: user,
	} {
		rows, err := w.DB.ReadPool().QueryContext(context.Background(), query, arg)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ {
			if !rows.Next() {
				if n == 0 {
					t.Fatalf("%s: nothing", query)
				}
				break
			}
			var b []byte
			if err := rows.Scan(&b); err != nil {
				t.Fatal(err)
			}
			marks = append(marks, b[:16], b[len(b)-16:])
		}
		// Not deferred: it would wait for the other queries.
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return marks
}

// TestErasedBytes: not even the ciphertexts of an erased person are in the files afterwards. Before, they are.
func TestErasedBytes(t *testing.T) {
	people := 12
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		people = 30
	}
	w := newLives(t, storetest.Open(t, sqldb.SQLite), 4*people)
	gone := w.people[10 : 10+people]
	var marks [][]byte
	for _, h := range gone {
		marks = append(marks, w.sealedOf(t, h)...)
	}
	hits := func() (n int) {
		for _, name := range []string{w.Address, w.Address + "-wal"} {
			raw, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			for _, m := range marks {
				n += bytes.Count(raw, m)
			}
		}
		return n
	}
	if hits() < len(marks) {
		t.Fatal("the test looks in the wrong place")
	}
	for _, h := range gone {
		w.erase(t, h.who())
	}
	if n := hits(); n != 0 {
		t.Errorf("%d pieces of %d are still in the files", n, len(marks))
	}
	if found := problems(t, context.Background(), w.Upkeep); len(found) != 0 {
		t.Error(found)
	}
}

// TestAccesses: who looked is told by row and by person, also after the erasure.
func TestAccesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 2)
		trail := operator.NewTrail(w.Store.Audit, w.Clock.Now)
		held, err := w.rights().ExportPerson(ctx, w.people[0].who())
		if err != nil {
			t.Fatal(err)
		}
		for action, subjectID := range map[string]string{
			"asset.reveal":        string(held[0].Assets[0].ID),
			"case.reveal":         string(held[0].Cases[0].ID),
			"subscription.reveal": string(w.partner.ID) + "/1",
			"subject.export":      w.rights().Reference(w.people[0].who()),
			"score.history":       w.rights().Reference(subject.Person{User: w.people[0].user, Partner: w.partner.ID}),
			"subscription.find":   w.rights().Reference(subject.Person{CPF: w.people[0].cpf}),
			"partner.show":        string(w.partner.ID),
		} {
			if err := trail.RecordAction(ctx, clerk, action, subjectID, "porque sim"); err != nil {
				t.Fatal(err)
			}
		}
		want := "asset.reveal case.reveal score.history subject.export subscription.find subscription.reveal"
		if got := actions(t, w, w.people[0]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := actions(t, w, w.people[1]); got != "" {
			t.Error("nobody looked at this one:", got)
		}
		w.erase(t, w.people[0].who())
		got := actions(t, w, w.people[0])
		if got != strings.Replace(want, "subject.export", "subject.erased subject.export", 1) {
			t.Error("after the erasure:", got)
		}
	})
}

// keepNoCopy stands for the copy of tombstones outside the database.
func keepNoCopy([]subject.Tombstone) error { return nil }

func actions(t *testing.T, w *lives, h human) string {
	t.Helper()
	list, err := w.rights().ListAccesses(context.Background(), h.who())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var names []string
	for _, a := range list {
		if !seen[a.Action] {
			seen[a.Action] = true
			names = append(names, a.Action)
		}
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

// TestIncident: a report finds everybody once, by breach and by time, shows nothing in clear unless asked, and then
// records whom.
func TestIncident(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 3)
		other := newLives(t, e, 2)
		day := e.Clock.Now()
		for name, of := range map[string]subject.Incident{
			"breach": {Breach: "sandbox"}, "time": {From: day.Add(-time.Hour), To: day.Add(time.Hour)},
		} {
			r, err := w.rights().ReportIncident(ctx, clerk, of, day, false, "")
			if err != nil || len(r.Partners) != 2 || r.List[0].User == "" {
				t.Fatalf("%s: %+v %v", name, r, err)
			}
			want := r
			want.People, want.Findings = 5, 10
			difftest.Check(t, name+", the incident", r, want)
			difftest.Check(t, name+", the people of both partners", r.Partners[0].People+r.Partners[1].People, 5)
			for _, a := range r.List {
				if len(a.Values) > 0 {
					t.Error("values in clear:", a.Values)
				}
			}
			if want := day.AddDate(0, 0, 3); !r.Deadline.Equal(want) { // a Sunday
				t.Error(r.Deadline)
			}
		}
		if r, err := w.rights().ReportIncident(ctx, clerk, subject.Incident{
			Breach:  "sandbox",
			Partner: other.partner.ID,
		}, day, false, ""); err != nil || r.People != 2 {
			t.Error(r, err)
		}
		if r, err := w.rights().ReportIncident(ctx, clerk, subject.Incident{
			From: day.Add(time.Hour),
			To:   day.Add(2 * time.Hour),
		}, day, false, ""); err != nil || r.People != 0 {
			t.Error(r, err)
		}
		incident := subject.Incident{Breach: "sandbox"}
		_, err := w.rights().ReportIncident(ctx, clerk, incident, day, true, "")
		if !errors.Is(err, subject.ErrNoReason) {
			t.Error("revealed for no reason:", err)
		}
		r, err := w.rights().ReportIncident(ctx, clerk, incident, day, true, "aviso as pessoas")
		if err != nil || len(r.List[0].Values) != 2 ||
			!strings.Contains(fmt.Sprint(r.List[0].Values), "@exemplo.com.br") {
			t.Error(r, err)
		}
		if got := actions(t, w, w.people[0]); got != "subject.reveal" {
			t.Error("the reveal is not in the trail:", got)
		}
		if lines := w.count(t, `SELECT count(*) FROM audit`); lines != 5 {
			t.Error(lines, "lines")
		}
	})
}
