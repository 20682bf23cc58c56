package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func record(t *testing.T, trail *operator.Trail, n int) {
	t.Helper()
	for i := range n {
		who := operator.Actor{Name: fmt.Sprintf("op_%d", i%3), From: "192.0.2.7"}
		if err := trail.RecordAction(
			context.Background(),
			who,
			"asset.reveal",
			fmt.Sprintf("as_%d", i),
			"motivo: chamado 42",
		); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAuditTrail: a thousand reads leave a thousand lines, and whatever is edited, dropped, moved or added is found.
func TestAuditTrail(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		trail := operator.NewTrail(e.Store.Audit, e.Clock.Now)
		const lines = 1000
		record(t, trail, lines)
		head, err := trail.VerifyTrail(ctx, operator.Head{}, nil)
		if err != nil || head.Seq != lines {
			t.Fatalf("%d lines, %v", head.Seq, err)
		}
		e.RotateKey(t)
		rewriteAll(t, e)
		if _, err := trail.VerifyTrail(ctx, head, nil); err != nil {
			t.Fatal("after a rotation of keys:", err)
		}
		pick := func() int64 { return 2 + rand.Int64N(lines-3) }
		n := pick()
		for name, statements := range map[string][]string{
			"another actor":   {fmt.Sprintf(`UPDATE audit SET actor = 'op_x' WHERE seq = %d`, n)},
			"another action":  {fmt.Sprintf(`UPDATE audit SET action = 'partner.show' WHERE seq = %d`, n)},
			"another subject": {fmt.Sprintf(`UPDATE audit SET subject = 'as_x' WHERE seq = %d`, n)},
			"another time":    {fmt.Sprintf(`UPDATE audit SET at = at + 1 WHERE seq = %d`, n)},
			"another detail": {fmt.Sprintf(`UPDATE audit SET detail = (SELECT detail FROM audit b WHERE b.seq = %d)
				WHERE seq = %d`,
				n+1,
				n,
			)},
			"a line dropped":    {fmt.Sprintf(`DELETE FROM audit WHERE seq = %d`, n)},
			"the first dropped": {`DELETE FROM audit WHERE seq = 1`},
			"the last dropped":  {fmt.Sprintf(`DELETE FROM audit WHERE seq = %d`, lines)},
			"all dropped":       {`DELETE FROM audit`},
			"all and the head":  {`DELETE FROM audit`, `DELETE FROM audit_head`},
			"dropped and closed": {fmt.Sprintf(`DELETE FROM audit WHERE seq = %d`,
				n,
			), fmt.Sprintf(`UPDATE audit SET seq = -seq WHERE seq > %d`,
				n,
			), `UPDATE audit SET seq = -seq - 1 WHERE seq < 0`},
			"two lines swapped": {
				fmt.Sprintf(`UPDATE audit SET seq = -%d WHERE seq = %d`,
					n,
					n,
				), fmt.Sprintf(`UPDATE audit SET seq = %d WHERE seq = %d`,
					n,
					n+1,
				),
				fmt.Sprintf(`UPDATE audit SET seq = %d WHERE seq = -%d`, n+1, n),
			},
			"cut off with the head moved back": {
				fmt.Sprintf(`DELETE FROM audit WHERE seq = %d`, lines),
				fmt.Sprintf(`UPDATE audit_head SET seq = %d, mac = (SELECT mac FROM audit WHERE seq = %d)`,
					lines-1,
					lines-1,
				),
			},
			"a line added": {fmt.Sprintf(`INSERT INTO audit (seq, at, actor, action, subject, detail, mac)
				SELECT %d, at, actor, action, subject, detail, mac FROM audit WHERE seq = 1`,
				lines+1,
			)},
		} {
			t.Run(name, func(t *testing.T) { tampered(t, e, head, statements) })
		}
		if _, err := trail.VerifyTrail(ctx, head, nil); err != nil {
			t.Fatal("every tampering was undone:", err)
		}
	})
}

var errUndo = errors.New("undo")

// tampered runs statements in a transaction, verifies inside it and rolls back.
func tampered(t *testing.T, e *storetest.Env, head operator.Head, statements []string) {
	t.Helper()
	ctx := context.Background()
	err := e.InTransaction(ctx, func(tx store.Tx) error {
		for _, s := range statements {
			if err := tx.ExecForTest(ctx, s); err != nil {
				t.Fatal(err)
			}
		}
		_, err := operator.NewTrail(tx.Audit, e.Clock.Now).VerifyTrail(ctx, head, nil)
		if !errors.Is(err, operator.ErrTrailBroken) {
			t.Errorf("not found: %v", err)
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		t.Fatal(err)
	}
}

// TestAuditAtOnce: many at once still make one chain without gaps.
func TestAuditAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		trail := operator.NewTrail(e.Store.Audit, e.Clock.Now)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { record(t, trail, 10) })
		}
		wg.Wait()
		if head, err := trail.VerifyTrail(context.Background(), operator.Head{}, nil); err != nil || head.Seq != 80 {
			t.Fatalf("%d lines, %v", head.Seq, err)
		}
	})
}

// TestTxIsOneStep: a change that fails leaves no line, and a line comes with its change.
func TestTxIsOneStep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		trail := operator.NewTrail(e.Store.Audit, e.Clock.Now)
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		who := operator.Actor{Name: "op_a", From: "192.0.2.7"}
		create := func(then error) error {
			return e.InTransaction(ctx, func(tx store.Tx) error {
				o, _, err := reg.WithStore(tx.Operators).CreateOperator(ctx, "ana@exemplo.com.br", operator.Viewer)
				trail := operator.NewTrail(tx.Audit, e.Clock.Now)
				err = errors.Join(err, trail.RecordAction(ctx, who, "operator.create", string(o.ID), "viewer"))
				return errors.Join(err, then)
			})
		}
		if err := create(errUndo); !errors.Is(err, errUndo) {
			t.Fatal(err)
		}
		if all, err := reg.ListOperators(ctx); err != nil || len(all) != 0 {
			t.Fatal("the change outlived its failure:", all, err)
		}
		if err := create(nil); err != nil {
			t.Fatal(err)
		}
		all, err := reg.ListOperators(ctx)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		lines, err := trail.ListEntries(ctx, operator.Filter{Limit: 10})
		if err != nil || len(lines) != 1 {
			t.Fatal(lines, err)
		}
		want := lines[0]
		want.Subject, want.From, want.Detail = string(all[0].ID), "192.0.2.7", "viewer"
		difftest.Must(t, "the line", lines[0], want)
	})
}

func TestAuditFilter(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		trail := operator.NewTrail(e.Store.Audit, e.Clock.Now)
		record(t, trail, 9)
		e.Clock.Advance(time.Hour)
		if err := trail.RecordAction(
			ctx,
			operator.Actor{Name: "cli:root", From: "host"},
			"partner.create",
			"pt_1",
			"",
		); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			filter operator.Filter
			first  int64
			count  int
		}{
			"all":     {operator.Filter{Limit: 100}, 10, 10},
			"actor":   {operator.Filter{Actor: "op_1", Limit: 100}, 8, 3},
			"action":  {operator.Filter{Action: "partner.create", Limit: 100}, 10, 1},
			"subject": {operator.Filter{Subject: "as_4", Limit: 100}, 5, 1},
			"page":    {operator.Filter{Before: 7, Limit: 2}, 6, 2},
			"since":   {operator.Filter{From: e.Clock.Now(), Limit: 100}, 10, 1},
			"until":   {operator.Filter{To: e.Clock.Now(), Limit: 100}, 9, 9},
			"between": {operator.Filter{From: e.Clock.Now().Add(-2 * time.Hour), To: e.Clock.Now(), Action: "partner.create", Limit: 100}, 0, 0},
			"oldest":  {operator.Filter{OldestFirst: true, Limit: 3}, 1, 3},
			"on":      {operator.Filter{OldestFirst: true, Before: 3, Limit: 3}, 4, 3},
		} {
			got, err := trail.ListEntries(ctx, c.filter)
			if err != nil || len(got) != c.count || c.count > 0 && got[0].Seq != c.first {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	})
}

func noneExposed(string) (bool, error) { return false, nil }

func rewriteAll(t *testing.T, e *storetest.Env) {
	t.Helper()
	var p store.RewriteProgress
	for done := false; !done; {
		var err error
		if done, err = e.Upkeep.RewriteSealed(context.Background(), &p, 100); err != nil {
			t.Fatal(err)
		}
	}
}
