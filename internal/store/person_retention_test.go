package store_test

import (
	"context"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

var keepAll = store.Retention{
	Attempts:      14 * day,
	Subscriptions: 100 * day,
	Cases:         50 * day,
	Devices:       200 * day,
	Scores:        300 * day,
	Jobs:          10 * day,
	Audit:         400 * day,
}

// TestRetentionOfClasses: each class goes after its own time, not before, and takes along what would otherwise be left
// alone.
func TestRetentionOfClasses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 3)
		w.note(t, 3)
		if _, err := e.Jobs.EnqueueJob(ctx, "test.kind", "x", nil); err != nil {
			t.Fatal(err)
		}
		jobs, err := e.Jobs.ClaimJobs(ctx, "w", []string{"test.kind"}, 1)
		if err != nil || len(jobs) != 1 {
			t.Fatal(err)
		}
		if err := e.Jobs.FinishJob(ctx, "w", jobs[0], "done", ""); err != nil {
			t.Fatal(err)
		}
		// One person's subscription ends, and another's case is closed.
		registry := subscription.NewRegistry(e.Store.Subscriptions, e.Store.Plans, e.Store.Partners, e.Clock.Now)
		if _, err := registry.MoveSubscriptions(
			ctx,
			w.partner.ID,
			subscription.Selection{Plan: livesPlan, CPF: w.people[0].cpf},
			subscription.End,
		); err != nil {
			t.Fatal(err)
		}
		var closed cyber.CaseID
		if err := e.DB.ReadPool().QueryRowContext(ctx, `SELECT min(id) FROM support_case`).Scan(&closed); err != nil {
			t.Fatal(err)
		}
		_, err = cyber.NewCases(e.Store.Cases, e.Clock.Now).MoveCase(ctx, closed, cyber.CaseCancelled, "op_1", "")
		if err != nil {
			t.Fatal(err)
		}
		// What is not past its time stays.
		e.Clock.Advance(9 * day)
		if removed, err := e.Upkeep.SweepExpired(ctx, keepAll); err != nil || sum(removed) != 0 {
			t.Error("too early:", removed, err)
		}
		total := 9 * day
		for _, step := range []struct {
			at    time.Duration
			class string
			rows  int64
		}{
			{11 * day, "jobs", 1},
			{15 * day, "attempts", w.count(t, `SELECT (SELECT count(*) FROM attempt) + (SELECT count(*) FROM delivery
				WHERE tried IS NOT NULL)`)},
			{51 * day, "cases", 1},
			{101 * day, "subscriptions", 1},
			{301 * day, "scores", 3},
			{401 * day, "audit lines", 2},
			{600 * day, "devices", 3},
		} {
			e.Clock.Advance(step.at - total)
			total = step.at
			removed, err := e.Upkeep.SweepExpired(ctx, keepAll)
			if err != nil || removed[step.class] != step.rows || sum(removed) != step.rows {
				t.Errorf("after %v: %v, want %d %s (%v)", step.at, removed, step.rows, step.class, err)
			}
			if found := problems(t, ctx, w.Upkeep); len(found) != 0 {
				t.Error(step.class, found)
			}
		}
		if n := w.count(t, `SELECT count(*) FROM person`); n != 3 {
			t.Error("people who have something else left:", n)
		}
		if removed, err := e.Upkeep.SweepExpired(ctx, store.Retention{}); err != nil || sum(removed) != 0 {
			t.Error("zero keeps for ever:", removed, err)
		}
	})
}

// TestSweptPerson: who had nothing but a subscription is forgotten with it.
func TestSweptPerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		enrolAll(t, e, w.partner.ID, person(77, livesPlan, "", 0))
		registry := subscription.NewRegistry(e.Store.Subscriptions, e.Store.Plans, e.Store.Partners, e.Clock.Now)
		for _, cpf := range []string{w.people[0].cpf, person(77, livesPlan, "", 0).Beneficiary.CPF} {
			if _, err := registry.MoveSubscriptions(
				ctx,
				w.partner.ID,
				subscription.Selection{Plan: livesPlan, CPF: cpf},
				subscription.End,
			); err != nil {
				t.Fatal(err)
			}
		}
		e.Clock.Advance(101 * day)
		if removed, err := e.Upkeep.SweepExpired(
			ctx,
			store.Retention{Subscriptions: 100 * day},
		); err != nil ||
			removed["subscriptions"] != 2 {
			t.Error(removed, err)
		}
		if n := w.count(t, `SELECT count(*) FROM person`); n != 1 {
			t.Error("people left:", n)
		}
	})
}

// TestSweptPersonHasNothingElse: whatever else a person has keeps them, each thing by itself.
func TestSweptPersonHasNothingElse(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		id, now := w.partner.ID, e.Clock.Now
		owner := cyber.Owner{Partner: id, Mode: partner.Live}
		belongings := map[string]func(user partner.UserHash, cpf string) error{
			"nothing": func(partner.UserHash, string) error { return nil },
			"asset": func(user partner.UserHash, cpf string) error {
				monitoring := cyber.NewMonitoring(e.Store.Monitoring, e.Store.Partners, everywhere{}, e.Keys.Fingerprint, now)
				_, err := monitoring.AddAsset(ctx, cyber.AssetRequest{Owner: owner, User: user, Type: "cpf", Value: cpf})
				return err
			},
			"device": func(user partner.UserHash, _ string) error {
				endpoints := cyber.NewEndpoints(e.Store.Devices, now, nil)
				_, err := endpoints.IssueKey(ctx, id, phone(string(user), "Celular"))
				return err
			},
			"case": func(user partner.UserHash, _ string) error {
				cases := cyber.NewCases(e.Store.Cases, now)
				_, err := cases.OpenCase(ctx, id, cyber.CaseRequest{Service: "sv_ajuda_phishing", User: user})
				return err
			},
			"answer": func(user partner.UserHash, _ string) error {
				return e.Advice.KeepAnswer(ctx, id, user, "q", "sim")
			},
			"score": func(user partner.UserHash, _ string) error {
				return e.Advice.KeepScore(
					ctx,
					id,
					user,
					cyber.ScoreDay{Day: partner.DayNumber(now()), Breach: 50, Assessment: 40},
				)
			},
		}
		n := 0
		for name, give := range belongings {
			n++
			someone := person(n, livesPlan, "", 0)
			someone.Beneficiary.CPF = cpfOf(n)
			enrolAll(t, e, id, someone)
			_, digest := partner.PersonDigests(someone.Beneficiary.CPF, w.salt)
			if err := give(partner.UserHash(hex.EncodeToString(digest[1:])), someone.Beneficiary.CPF); err != nil {
				t.Fatal(name, err)
			}
			selection := subscription.Selection{Plan: livesPlan, CPF: someone.Beneficiary.CPF}
			registry := subscription.NewRegistry(e.Store.Subscriptions, e.Store.Plans, e.Store.Partners, now)
			if _, err := registry.MoveSubscriptions(ctx, id, selection, subscription.End); err != nil {
				t.Fatal(name, err)
			}
			people := w.count(t, `SELECT count(*) FROM person`)
			e.Clock.Advance(101 * day)
			removed, err := e.Upkeep.SweepExpired(ctx, store.Retention{Subscriptions: 100 * day})
			if err != nil || removed["subscriptions"] != 1 {
				t.Error(name, removed, err)
			}
			kept := w.count(t, `SELECT count(*) FROM person`) == people
			if kept != (name != "nothing") {
				t.Errorf("a person with %s beside an ended subscription: kept %t", name, kept)
			}
		}
	})
}

func sum(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// TestSweepAudit: the trail is still a chain after its beginning was dropped, and nobody else can drop more.
func TestSweepAudit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		trail := operator.NewTrail(e.Store.Audit, e.Clock.Now)
		for range 10 {
			if err := trail.RecordAction(ctx, clerk, "partner.show", "pt_1", ""); err != nil {
				t.Fatal(err)
			}
			e.Clock.Advance(day)
		}
		head, err := trail.VerifyTrail(ctx, operator.Head{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := e.Audit.SweepAudit(ctx, 4*day+time.Hour); err != nil || n != 6 {
			t.Fatal(n, err)
		}
		if after, err := trail.VerifyTrail(ctx, head, nil); err != nil || after.Seq != 10 {
			t.Error(after, err)
		}
		_, err = trail.VerifyTrail(ctx, operator.Head{Seq: 3, MAC: []byte("x")}, nil)
		if !errors.Is(err, operator.ErrTrailBroken) {
			t.Error("a head from before the beginning proves nothing:", err)
		}
		w := &lives{Env: e}
		if found := w.damaged(t, `DELETE FROM audit WHERE seq = 7`); len(found) != 1 {
			t.Error("a further line was dropped unnoticed:", found)
		}
		if found := w.damaged(t, `UPDATE audit_base SET seq = 7, mac = (SELECT mac FROM audit
			WHERE seq = 7)`); len(found) != 1 {
			t.Error("the beginning was moved unnoticed:", found)
		}
		if n, err := e.Audit.SweepAudit(ctx, time.Nanosecond); err != nil || n != 3 {
			t.Error("the last line stays:", n, err)
		}
		if err := trail.RecordAction(ctx, clerk, "partner.show", "pt_1", ""); err != nil {
			t.Error(err)
		}
		if after, err := trail.VerifyTrail(ctx, operator.Head{}, nil); err != nil || after.Seq != 11 {
			t.Error(after, err)
		}
	})
}

// TestSweptNames: how a person was named is forgotten a day after the last that was kept of them, and not before.
func TestSweptNames(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		w := newLives(t, e, 1)
		id := w.partner.ID
		names := func() int64 { return w.count(t, `SELECT count(*) FROM person_name`) }
		before := names()
		monitoring := cyber.NewMonitoring(
			e.Store.Monitoring,
			e.Store.Partners,
			cyber.Unasked{},
			e.Keys.Fingerprint,
			e.Clock.Now,
		)
		if _, err := monitoring.AddAsset(
			ctx,
			cyber.AssetRequest{
				Owner: cyber.Owner{Partner: id, Mode: partner.Live},
				User:  "zoe",
				Type:  "email",
				Value: "zoe@exemplo.com.br",
			},
		); err != nil {
			t.Fatal(err)
		}
		sweep := func(want int64) {
			t.Helper()
			if _, err := e.Upkeep.SweepExpired(ctx, store.Retention{}); err != nil || names() != want {
				t.Errorf("%d names, want %d: %v", names(), want, err)
			}
		}
		e.Clock.Advance(2 * day)
		sweep(before + 1)
		assets, err := monitoring.ListAssets(ctx, cyber.AssetScope{Partner: id, User: "zoe"})
		if err != nil {
			t.Fatal(err)
		}
		if err := monitoring.DeleteAsset(
			ctx,
			cyber.AssetScope{Partner: id, User: "zoe", Group: cyber.ContractShows},
			assets[0].ID,
		); err != nil {
			t.Fatal(err)
		}
		sweep(before + 1)
		e.Clock.Advance(day)
		sweep(before)
	})
}

// TestSweepAuditStopsAtAYoungLine: the clock was ahead for a while and set back. The lines behind one that is young
// enough stay, however old they say they are.
func TestSweepAuditStopsAtAYoungLine(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		trail := operator.NewTrail(e.Store.Audit, e.Clock.Now)
		for _, later := range []time.Duration{0, 100 * day, -100 * day, 0} {
			e.Clock.Advance(later)
			if err := trail.RecordAction(ctx, clerk, "partner.show", "pt_1", ""); err != nil {
				t.Fatal(err)
			}
		}
		e.Clock.Advance(50 * day)
		if n, err := e.Audit.SweepAudit(ctx, 40*day); err != nil || n != 1 {
			t.Errorf("%d lines went, want the one before the young one (%v)", n, err)
		}
		if head, err := trail.VerifyTrail(ctx, operator.Head{}, nil); err != nil || head.Seq != 4 {
			t.Error(head, err)
		}
	})
}
