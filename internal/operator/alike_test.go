package operator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// counted counts how often the operators are locked and read for a try.
type counted struct {
	operator.Store
	updates int
}

func (c *counted) UpdateOperator(ctx context.Context, id operator.ID, end operator.EndSessions,
	change func(*operator.Operator, []operator.Operator) error,
) (operator.Operator, error) {
	c.updates++
	return c.Store.UpdateOperator(ctx, id, end, change)
}

// TestConsoleAnswersAlike: whoever is named, a refusal costs one hash and one look at all operators under their lock,
// and tells nothing: known, unknown, no address at all, without a password, locked and disabled.
func TestConsoleAnswersAlike(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	store := &counted{Store: e.Store.Operators}
	reg := operator.NewRegistry(store, noneExposed, e.Clock.Now)
	enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	locked, _ := enrol(t, reg, "bia@exemplo.com.br", operator.Viewer)
	gone, _ := enrol(t, reg, "caio@exemplo.com.br", operator.Viewer)
	if _, err := reg.DisableOperator(ctx, gone.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.CreateOperator(ctx, "dora@exemplo.com.br", operator.Viewer); err != nil {
		t.Fatal(err)
	}
	_, err := e.Store.Operators.UpdateOperator(
		ctx,
		locked.ID,
		operator.KeepSessions,
		func(o *operator.Operator, _ []operator.Operator) error {
			o.Failures, o.LockedUntil = 10, e.Clock.Now().Add(time.Hour)
			return nil
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	hashes := 0
	reg.CountHashes(&hashes)
	for _, email := range []string{
		"ana@exemplo.com.br", "ninguem@exemplo.com.br", "no address", locked.Email, gone.Email, "dora@exemplo.com.br",
	} {
		hashes, store.updates = 0, 0
		_, token, err := reg.Login(ctx, email, "errada errada errada", "123456", "")
		if !errors.Is(err, operator.ErrRefused) || token != "" || hashes != 1 || store.updates != 1 {
			t.Errorf("%s: %v, %d hashes, %d locked reads", email, err, hashes, store.updates)
		}
	}
}

// TestLockStartsAnew: after a lock has ended one wrong try does not lock again for as long, and tries that meet a lock
// are told from those that count.
func TestLockStartsAnew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		o, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		wrong := func() operator.Outcome {
			try, err := reg.TryPassword(ctx, o.Email, "errada errada errada")
			if err != nil {
				t.Fatal(err)
			}
			out, err := reg.DecideLogin(ctx, try, "", "")
			if err != nil || out.Token != "" {
				t.Fatal(out, err)
			}
			return out
		}
		for i := range 10 {
			if !wrong().Counted {
				t.Fatal("not counted", i)
			}
			e.Clock.Advance(time.Minute)
		}
		for range 5 {
			if wrong().Counted {
				t.Error("a try on a locked account counts")
			}
		}
		e.Clock.Advance(30 * time.Minute)
		if out := wrong(); !out.Counted || out.Operator.Failures != 1 {
			t.Error("the count goes on after the lock:", out.Operator.Failures)
		}
		if _, _, err := reg.Login(ctx, o.Email, goodPassword, "", ""); err != nil {
			t.Error("one wrong try after a lock locks again:", err)
		}
	})
}

// TestTokensChange: the token from before a second factor, a proof or another password opens nothing afterwards.
func TestTokensChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		_, token := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		s, _, err := reg.ResumeSession(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		next := func(what, now string, err error) {
			t.Helper()
			if err != nil || now == "" || now == token {
				t.Fatal(what, err)
			}
			if _, _, err := reg.ResumeSession(ctx, token); !errors.Is(err, operator.ErrNoSession) {
				t.Error("the token from before opens a session after", what, err)
			}
			if s, _, err = reg.ResumeSession(ctx, now); err != nil {
				t.Fatal("the new token opens none after", what, err)
			}
			token = now
		}
		now, err := reg.RenewToken(ctx, &s) // as the second factor does
		next("a second factor", now, err)
		now, err = reg.ProvePassword(ctx, &s, goodPassword)
		next("a proof", now, err)
		now, err = reg.ChangePassword(ctx, s, goodPassword, "elefante roxo na varanda")
		next("another password", now, err)
		if list, err := reg.ListSessions(ctx, s.Operator); err != nil || len(list) != 1 || list[0].From != "192.0.2.7" {
			t.Error(list, err)
		}
	})
}

// TestRecoveryCodes: each works once in the place of the app, with the password only; new ones end the old, and so does
// a reset.
func TestRecoveryCodes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		o, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		if _, err := reg.RecoveryCodes(ctx, o.ID); !errors.Is(err, operator.ErrInvalid) {
			t.Error("codes without a second factor:", err)
		}
		o, err := reg.BeginTOTP(ctx, o.ID)
		if err == nil {
			o, err = reg.ConfirmTOTP(ctx, o.ID, operator.AuthenticatorCode(o.TOTP, e.Clock.Now()))
		}
		if err != nil {
			t.Fatal(err)
		}
		first, err := reg.RecoveryCodes(ctx, o.ID)
		if err != nil || len(first) != 10 || first[0] == first[1] {
			t.Fatal(first, err)
		}
		enter := func(password, code string) error {
			_, _, err := reg.Login(ctx, o.Email, password, code, "")
			return err
		}
		if err := enter("errada errada errada", first[0]); !errors.Is(err, operator.ErrRefused) {
			t.Error("a code without the password:", err)
		}
		if err := enter(goodPassword, first[0]); err != nil {
			t.Error("a wrong password used the code up, or it does not work:", err)
		}
		if err := enter(goodPassword, first[0]); !errors.Is(err, operator.ErrRefused) {
			t.Error("a code works twice:", err)
		}
		if err := enter(goodPassword, ""); !errors.Is(err, operator.ErrRefused) {
			t.Error("no code at all:", err)
		}
		second, err := reg.RecoveryCodes(ctx, o.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := enter(goodPassword, first[1]); !errors.Is(err, operator.ErrRefused) {
			t.Error("an old code works beside new ones:", err)
		}
		if err := enter(goodPassword, second[1]); err != nil {
			t.Error(err)
		}
		kept, _, err := reg.ResetAccess(ctx, o.ID)
		if err != nil || len(kept.Recovery) != 0 {
			t.Error("codes outlive a reset:", kept.Recovery, err)
		}
	})
}
