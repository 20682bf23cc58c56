package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func noneExposed(string) (bool, error) { return false, nil }

func rewriteAll(t *testing.T, e *storetest.Env) {
	t.Helper()
	var p store.RewriteProgress
	for done := false; !done; {
		var err error
		if done, err = e.RewriteSealed(context.Background(), &p, 100); err != nil {
			t.Fatal(err)
		}
	}
}

const goodPassword = "girafa amarela no telhado"

// enrol makes an operator with a password and a session.
func enrol(t *testing.T, reg *operator.Registry, email string, role operator.Role) (operator.Operator, string) {
	t.Helper()
	ctx := context.Background()
	_, link, err := reg.Create(ctx, email, role)
	if err != nil {
		t.Fatal(err)
	}
	o, session, err := reg.Accept(ctx, link, goodPassword, "192.0.2.7")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.Accept(ctx, link, goodPassword, "192.0.2.7"); !errors.Is(err, operator.ErrLink) {
		t.Fatal("a link works twice:", err)
	}
	return o, session
}

func TestOperatorLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store, func(p string) (bool, error) { return strings.HasPrefix(p, "vazada"), nil }, e.Clock.Now, nil)
		_, link, err := reg.Create(ctx, "Ana@Exemplo.com.br", operator.Admin)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.Create(ctx, "ana@exemplo.com.br", operator.Viewer); !errors.Is(err, operator.ErrExists) {
			t.Fatal("two operators with one address:", err)
		}
		for password, want := range map[string]error{
			"curta": operator.ErrPassword, "vazada em mil lugares": operator.ErrPasswordExposed, strings.Repeat("a", 129): operator.ErrPassword,
		} {
			if _, _, err := reg.Accept(ctx, link, password, ""); !errors.Is(err, want) {
				t.Errorf("password %q: %v", password, err)
			}
		}
		o, session, err := reg.Accept(ctx, link, goodPassword, "192.0.2.7")
		if err != nil || o.Role != operator.Admin {
			t.Fatal(o, err)
		}
		if _, who, err := reg.Session(ctx, session); err != nil || who.ID != o.ID {
			t.Fatal(who, err)
		}
		if _, err := reg.Disable(ctx, o.ID); !errors.Is(err, operator.ErrLastAdmin) {
			t.Error("the last admin was locked out:", err)
		}
		if _, err := reg.SetRole(ctx, o.ID, operator.Viewer); !errors.Is(err, operator.ErrLastAdmin) {
			t.Error("the last admin was demoted:", err)
		}
		second, secondSession := enrol(t, reg, "bia@exemplo.com.br", operator.Admin)
		if _, err := reg.SetRole(ctx, second.ID, operator.Viewer); err != nil {
			t.Fatal(err)
		}
		if _, who, err := reg.Session(ctx, secondSession); err != nil || who.Role != operator.Viewer {
			t.Error("a new role acts at once:", who.Role, err)
		}
		if _, err := reg.Disable(ctx, second.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.Session(ctx, secondSession); !errors.Is(err, operator.ErrNoSession) {
			t.Error("a disabled operator still has a session:", err)
		}
		if _, _, err := reg.Login(ctx, "bia@exemplo.com.br", goodPassword, "", ""); !errors.Is(err, operator.ErrRefused) {
			t.Error("a disabled operator logs in:", err)
		}
		_, again, err := reg.Reset(ctx, o.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.Session(ctx, session); !errors.Is(err, operator.ErrNoSession) {
			t.Error("a session outlived a reset:", err)
		}
		e.Clock.Advance(operator.LinkFor)
		if _, err := reg.Invited(ctx, again); !errors.Is(err, operator.ErrLink) {
			t.Error("a link outlived its time:", err)
		}
	})
}

func TestSecondFactor(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store, noneExposed, e.Clock.Now, nil)
		o, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		o, err := reg.BeginTOTP(ctx, o.ID)
		if err != nil || len(o.TOTP) == 0 || o.TOTPOn {
			t.Fatal(o, err)
		}
		if _, err := reg.ConfirmTOTP(ctx, o.ID, "000000"); !errors.Is(err, operator.ErrCode) {
			t.Fatal(err)
		}
		code := operator.CodeAt(o.TOTP, e.Clock.Now())
		if o, err = reg.ConfirmTOTP(ctx, o.ID, code); err != nil || !o.TOTPOn {
			t.Fatal(o, err)
		}
		if _, _, err := reg.Login(ctx, o.Email, goodPassword, code, ""); !errors.Is(err, operator.ErrRefused) {
			t.Error("a code works twice:", err)
		}
		if _, _, err := reg.Login(ctx, o.Email, goodPassword, "", ""); !errors.Is(err, operator.ErrRefused) {
			t.Error("no code is enough:", err)
		}
		e.Clock.Advance(time.Minute)
		if _, _, err := reg.Login(ctx, o.Email, goodPassword, operator.CodeAt(o.TOTP, e.Clock.Now()), ""); err != nil {
			t.Error(err)
		}
	})
}

// TestLock: tries are delayed from the fifth on, ten lock for half an hour, and the right password does not help meanwhile.
func TestLock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store, noneExposed, e.Clock.Now, nil)
		o, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		try := func(password string) error {
			_, _, err := reg.Login(ctx, o.Email, password, "", "")
			return err
		}
		for i := range 5 {
			if err := try("errada errada"); !errors.Is(err, operator.ErrRefused) {
				t.Fatal(i, err)
			}
		}
		if err := try(goodPassword); !errors.Is(err, operator.ErrRefused) {
			t.Error("the fifth wrong try is not delayed:", err)
		}
		e.Clock.Advance(2 * time.Second)
		if err := try(goodPassword); err != nil {
			t.Error("the delay did not end:", err)
		}
		for range 10 {
			_ = try("errada errada") // refused, as above
			e.Clock.Advance(time.Minute)
		}
		if err := try(goodPassword); !errors.Is(err, operator.ErrRefused) {
			t.Error("ten wrong tries do not lock:", err)
		}
		e.Clock.Advance(29 * time.Minute)
		if err := try(goodPassword); err != nil {
			t.Error("the lock did not end:", err)
		}
	})
}

func TestSessionLimits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store, noneExposed, e.Clock.Now, nil)
		o, idle := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		e.Clock.Advance(operator.IdleLimit)
		if _, _, err := reg.Session(ctx, idle); !errors.Is(err, operator.ErrNoSession) {
			t.Error("an idle session lives on:", err)
		}
		_, busy, err := reg.Login(ctx, o.Email, goodPassword, "", "192.0.2.9")
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := reg.Session(ctx, busy)
		if err != nil || !s.Fresh(e.Clock.Now()) || s.From != "192.0.2.9" {
			t.Fatal(s, err)
		}
		for used := time.Duration(0); used < operator.AbsoluteLimit; used += 20 * time.Minute {
			if _, _, err := reg.Session(ctx, busy); err != nil {
				t.Fatal("after", used, err)
			}
			e.Clock.Advance(20 * time.Minute)
		}
		if _, _, err := reg.Session(ctx, busy); !errors.Is(err, operator.ErrNoSession) {
			t.Error("a session has no absolute limit:", err)
		}
		_, one, err := reg.Login(ctx, o.Email, goodPassword, "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, two, err := reg.Login(ctx, o.Email, goodPassword, "", "")
		if err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(operator.ProofLimit)
		s, _, err = reg.Session(ctx, one)
		if err != nil || s.Fresh(e.Clock.Now()) {
			t.Fatal("a proof does not age:", err)
		}
		if _, err := reg.Prove(ctx, &s, "errada errada"); !errors.Is(err, operator.ErrRefused) {
			t.Fatal(err)
		}
		if _, err := reg.Prove(ctx, &s, goodPassword); err != nil {
			t.Fatal(err)
		}
		if s, _, err = reg.Session(ctx, one); err != nil || !s.Fresh(e.Clock.Now()) {
			t.Fatal("a proof was not kept:", err)
		}
		const changed = "elefante roxo na varanda"
		if err := reg.ChangePassword(ctx, s, goodPassword, changed); err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.Session(ctx, two); !errors.Is(err, operator.ErrNoSession) {
			t.Error("another session outlived a change of password:", err)
		}
		if _, _, err := reg.Session(ctx, one); err != nil {
			t.Error("the session that changed the password ended:", err)
		}
		if n, err := reg.LogoutEverywhere(ctx, o.ID); err != nil || n != 1 {
			t.Error(n, err)
		}
		if _, _, err := reg.Session(ctx, one); !errors.Is(err, operator.ErrNoSession) {
			t.Error(err)
		}
	})
}
