package operator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func noneExposed(string) (bool, error) { return false, nil }

const goodPassword = "girafa amarela no telhado"

// enrol makes an operator with a password and a session.
func enrol(t *testing.T, reg *operator.Registry, email string, role operator.Role) (operator.Operator, string) {
	t.Helper()
	ctx := context.Background()
	_, link, err := reg.CreateOperator(ctx, email, role)
	if err != nil {
		t.Fatal(err)
	}
	o, session, err := reg.AcceptInvitation(ctx, link, goodPassword, "192.0.2.7")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.AcceptInvitation(ctx, link, goodPassword, "192.0.2.7"); !errors.Is(err, operator.ErrLink) {
		t.Fatal("a link works twice:", err)
	}
	return o, session
}

func TestOperatorLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(
			e.Store.Operators,
			func(p string) (bool, error) { return strings.HasPrefix(p, "vazada"), nil },
			e.Clock.Now,
		)
		_, link, err := reg.CreateOperator(ctx, "Ana@Exemplo.com.br", operator.Admin)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.CreateOperator(ctx, "ana@exemplo.com.br", operator.Viewer); !errors.Is(err, operator.ErrExists) {
			t.Fatal("two operators with one address:", err)
		}
		for password, want := range map[string]error{
			"curta": operator.ErrPassword, "vazada em mil lugares": operator.ErrPasswordExposed, strings.Repeat("a", 129): operator.ErrPassword,
		} {
			if _, _, err := reg.AcceptInvitation(ctx, link, password, ""); !errors.Is(err, want) {
				t.Errorf("password %q: %v", password, err)
			}
		}
		o, session, err := reg.AcceptInvitation(ctx, link, goodPassword, "192.0.2.7")
		if err != nil || o.Role != operator.Admin {
			t.Fatal(o, err)
		}
		if _, who, err := reg.ResumeSession(ctx, session); err != nil || who.ID != o.ID {
			t.Fatal(who, err)
		}
		if _, err := reg.DisableOperator(ctx, o.ID); !errors.Is(err, operator.ErrLastAdmin) {
			t.Error("the last admin was locked out:", err)
		}
		if _, err := reg.ChangeRole(ctx, o.ID, operator.Viewer); !errors.Is(err, operator.ErrLastAdmin) {
			t.Error("the last admin was demoted:", err)
		}
		second, secondSession := enrol(t, reg, "bia@exemplo.com.br", operator.Admin)
		if _, err := reg.ChangeRole(ctx, second.ID, operator.Viewer); err != nil {
			t.Fatal(err)
		}
		if _, who, err := reg.ResumeSession(ctx, secondSession); err != nil || who.Role != operator.Viewer {
			t.Error("a new role acts at once:", who.Role, err)
		}
		if _, err := reg.DisableOperator(ctx, second.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.ResumeSession(ctx, secondSession); !errors.Is(err, operator.ErrNoSession) {
			t.Error("a disabled operator still has a session:", err)
		}
		if _, _, err := reg.Login(ctx, "bia@exemplo.com.br", goodPassword, "", ""); !errors.Is(err, operator.ErrRefused) {
			t.Error("a disabled operator logs in:", err)
		}
		_, again, err := reg.ResetAccess(ctx, o.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.ResumeSession(ctx, session); !errors.Is(err, operator.ErrNoSession) {
			t.Error("a session outlived a reset:", err)
		}
		e.Clock.Advance(operator.LinkFor)
		if _, err := reg.FindInvited(ctx, again); !errors.Is(err, operator.ErrLink) {
			t.Error("a link outlived its time:", err)
		}
	})
}

// wrongCode is none of those that a random secret gives around a time.
func wrongCode(secret []byte, now time.Time) string {
	var right []string
	for _, near := range []time.Duration{-30 * time.Second, 0, 30 * time.Second} {
		right = append(right, operator.AuthenticatorCode(secret, now.Add(near)))
	}
	for code := 0; ; code++ {
		if text := fmt.Sprintf("%06d", code); !slices.Contains(right, text) {
			return text
		}
	}
}

func TestSecondFactor(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		o, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		o, err := reg.BeginTOTP(ctx, o.ID)
		if err != nil || len(o.TOTP) == 0 || o.TOTPOn {
			t.Fatal(o, err)
		}
		if _, err := reg.ConfirmTOTP(ctx, o.ID, wrongCode(o.TOTP, e.Clock.Now())); !errors.Is(err, operator.ErrCode) {
			t.Fatal(err)
		}
		code := operator.AuthenticatorCode(o.TOTP, e.Clock.Now())
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
		if _, _, err := reg.Login(
			ctx,
			o.Email,
			goodPassword,
			operator.AuthenticatorCode(o.TOTP, e.Clock.Now()),
			"",
		); err != nil {
			t.Error(err)
		}
	})
}

// TestLock: tries are delayed from the fifth on, ten lock for half an hour, and the right password does not help
// meanwhile.
func TestLock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
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
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		o, idle := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		e.Clock.Advance(operator.IdleLimit)
		if _, _, err := reg.ResumeSession(ctx, idle); !errors.Is(err, operator.ErrNoSession) {
			t.Error("an idle session lives on:", err)
		}
		_, busy, err := reg.Login(ctx, o.Email, goodPassword, "", "192.0.2.9")
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := reg.ResumeSession(ctx, busy)
		if err != nil || !s.IsFresh(e.Clock.Now()) || s.From != "192.0.2.9" {
			t.Fatal(s, err)
		}
		for used := time.Duration(0); used < operator.AbsoluteLimit; used += 20 * time.Minute {
			if _, _, err := reg.ResumeSession(ctx, busy); err != nil {
				t.Fatal("after", used, err)
			}
			e.Clock.Advance(20 * time.Minute)
		}
		if _, _, err := reg.ResumeSession(ctx, busy); !errors.Is(err, operator.ErrNoSession) {
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
		s, _, err = reg.ResumeSession(ctx, one)
		if err != nil || s.IsFresh(e.Clock.Now()) {
			t.Fatal("a proof does not age:", err)
		}
		if _, err := reg.ProvePassword(ctx, &s, "errada errada"); !errors.Is(err, operator.ErrRefused) {
			t.Fatal(err)
		}
		one, err = reg.ProvePassword(ctx, &s, goodPassword)
		if err != nil {
			t.Fatal(err)
		}
		if s, _, err = reg.ResumeSession(ctx, one); err != nil || !s.IsFresh(e.Clock.Now()) {
			t.Fatal("a proof was not kept:", err)
		}
		const changed = "elefante roxo na varanda"
		if one, err = reg.ChangePassword(ctx, s, goodPassword, changed); err != nil {
			t.Fatal(err)
		}
		if _, _, err := reg.ResumeSession(ctx, two); !errors.Is(err, operator.ErrNoSession) {
			t.Error("another session outlived a change of password:", err)
		}
		if _, _, err := reg.ResumeSession(ctx, one); err != nil {
			t.Error("the session that changed the password ended:", err)
		}
		if n, err := reg.DeleteSessions(ctx, o.ID); err != nil || n != 1 {
			t.Error(n, err)
		}
		if _, _, err := reg.ResumeSession(ctx, one); !errors.Is(err, operator.ErrNoSession) {
			t.Error(err)
		}
	})
}

// TestCreateRefuses: an address that is none, and a role that there is not.
func TestCreateRefuses(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	for email, role := range map[string]operator.Role{"ana": operator.Admin, "ana@exemplo.com.br": "root"} {
		if _, _, err := reg.CreateOperator(ctx, email, role); !errors.Is(err, operator.ErrInvalid) {
			t.Errorf("%s as %s: %v", email, role, err)
		}
	}
	o, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	if _, err := reg.ChangeRole(ctx, o.ID, "root"); !errors.Is(err, operator.ErrInvalid) {
		t.Error(err)
	}
	if found, err := reg.FindByEmail(ctx, "ANA@Exemplo.com.br"); err != nil || found.ID != o.ID {
		t.Error(found, err)
	}
	for _, email := range []string{"ana", "bia@exemplo.com.br"} {
		if _, err := reg.FindByEmail(ctx, email); !errors.Is(err, operator.ErrNotFound) {
			t.Errorf("%s: %v", email, err)
		}
		if _, _, err := reg.Login(ctx, email, goodPassword, "", ""); !errors.Is(err, operator.ErrRefused) {
			t.Errorf("%s logs in: %v", email, err)
		}
	}
	if list, err := reg.ListOperators(ctx); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	if got, err := reg.OperatorByID(ctx, o.ID); err != nil || got.Email != "ana@exemplo.com.br" {
		t.Error(got, err)
	}
}

// TestAdminsRemain: a disabled admin does not count as another one, and enabling lets in again.
func TestAdminsRemain(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	first, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	second, _ := enrol(t, reg, "bia@exemplo.com.br", operator.Admin)
	viewer, _ := enrol(t, reg, "caio@exemplo.com.br", operator.Viewer)
	if _, err := reg.DisableOperator(ctx, viewer.ID); err != nil {
		t.Error("a viewer is nobody's last admin:", err)
	}
	if _, err := reg.DisableOperator(ctx, second.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := reg.DisableOperator(ctx, first.ID); !errors.Is(err, operator.ErrLastAdmin) {
		t.Error("nobody is left who may log in:", err)
	}
	if _, err := reg.ChangeRole(ctx, first.ID, operator.Admin); err != nil {
		t.Error("an admin stays one:", err)
	}
	if _, err := reg.EnableOperator(ctx, second.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.Login(ctx, second.Email, goodPassword, "", ""); err != nil {
		t.Error("enabled again:", err)
	}
	if _, err := reg.ChangeRole(ctx, first.ID, operator.Support); err != nil {
		t.Error("there is another admin:", err)
	}
}

// TestLinks: a link of a disabled operator, one that was replaced and one that is too old lead nowhere, and a taken one
// works once.
func TestLinks(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	o, first, err := reg.CreateOperator(ctx, "bia@exemplo.com.br", operator.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := reg.FindInvited(ctx, first); err != nil || got.ID != o.ID {
		t.Error(got, err)
	}
	_, second, err := reg.ResetAccess(ctx, o.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]string{"replaced": first, "made up": "x"} {
		if _, err := reg.FindInvited(ctx, link); !errors.Is(err, operator.ErrLink) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e.Clock.Advance(operator.LinkFor - 1)
	if _, err := reg.FindInvited(ctx, second); err != nil {
		t.Error("a link ends too early:", err)
	}
	if _, err := reg.DisableOperator(ctx, o.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.AcceptInvitation(ctx, second, goodPassword, ""); !errors.Is(err, operator.ErrLink) {
		t.Error("a disabled operator's link works:", err)
	}
}

// TestFactorStays: a second factor that is on is not replaced, and a code is taken once.
func TestFactorStays(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	o, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	if _, err := reg.ConfirmTOTP(ctx, o.ID, operator.AuthenticatorCode(nil, e.Clock.Now())); !errors.Is(err, operator.ErrCode) {
		t.Error("a factor without a secret was turned on:", err)
	}
	begun, err := reg.BeginTOTP(ctx, o.ID)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := reg.BeginTOTP(ctx, o.ID); err != nil || string(again.TOTP) != string(begun.TOTP) {
		t.Error("a secret that waits was replaced:", err)
	}
	if _, err := reg.ConfirmTOTP(ctx, o.ID, operator.AuthenticatorCode(begun.TOTP, e.Clock.Now())); err != nil {
		t.Fatal(err)
	}
	if on, err := reg.ConfirmTOTP(ctx, o.ID, "000000"); err != nil || !on.TOTPOn {
		t.Error("what is on stays on:", err)
	}
	e.Clock.Advance(time.Minute)
	code := operator.AuthenticatorCode(begun.TOTP, e.Clock.Now())
	if _, _, err := reg.Login(ctx, o.Email, goodPassword, code, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.Login(ctx, o.Email, goodPassword, code, ""); !errors.Is(err, operator.ErrRefused) {
		t.Error("a code works twice:", err)
	}
}

// TestProofIsCounted: wrong proofs lock like wrong log-ins, a lock and a disabling refuse the right one, a right one
// forgives.
func TestProofIsCounted(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	o, token := enrol(t, reg, "bia@exemplo.com.br", operator.Viewer)
	s, _, err := reg.ResumeSession(ctx, token)
	if err != nil {
		t.Fatal(err)
	}
	prove := func(password string) error { _, err := reg.ProvePassword(ctx, &s, password); return err }
	wrong := func(times int) {
		t.Helper()
		for range times {
			if err := prove("errada errada"); !errors.Is(err, operator.ErrRefused) {
				t.Fatal(err)
			}
		}
	}
	wrong(4)
	if err := prove(goodPassword); err != nil {
		t.Fatal(err)
	}
	wrong(4)
	if err := prove(goodPassword); err != nil {
		t.Error("what came before a right proof was not forgiven:", err)
	}
	wrong(5)
	if err := prove(goodPassword); !errors.Is(err, operator.ErrRefused) {
		t.Error("five wrong proofs cost nothing:", err)
	}
	e.Clock.Advance(2 * time.Second)
	if err := prove(goodPassword); err != nil {
		t.Error("the delay did not end:", err)
	}
	if _, err := reg.ChangePassword(ctx, s, "errada errada", "elefante roxo na varanda"); !errors.Is(err, operator.ErrRefused) {
		t.Error("a password was changed without the present one:", err)
	}
	if _, err := reg.ChangePassword(ctx, s, goodPassword, "curta"); !errors.Is(err, operator.ErrPassword) {
		t.Error(err)
	}
	if _, err := reg.DisableOperator(ctx, o.ID); err != nil {
		t.Fatal(err)
	}
	if err := prove(goodPassword); !errors.Is(err, operator.ErrRefused) {
		t.Error("a disabled operator proves:", err)
	}
}

// TestSessionsListed: open ones only, and sweeping forgets the others.
func TestSessionsListed(t *testing.T) {
	ctx := context.Background()
	e := storetest.Open(t, "sqlite")
	reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
	o, old := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
	e.Clock.Advance(operator.IdleLimit)
	_, token, err := reg.Login(ctx, o.Email, goodPassword, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if open, err := reg.ListSessions(ctx, o.ID); err != nil || len(open) != 1 {
		t.Error(open, err)
	}
	if n, err := reg.SweepSessions(ctx); err != nil || n != 1 {
		t.Error("swept", n, err)
	}
	if _, _, err := reg.ResumeSession(ctx, old); !errors.Is(err, operator.ErrNoSession) {
		t.Error(err)
	}
	s, _, err := reg.ResumeSession(ctx, token)
	if err != nil {
		t.Fatal(err)
	}
	began := s.SeenAt // the last use is kept to the minute
	e.Clock.Advance(59 * time.Second)
	if s, _, err = reg.ResumeSession(ctx, token); err != nil || !s.SeenAt.Equal(began) {
		t.Error("written too often:", s.SeenAt, err)
	}
	e.Clock.Advance(time.Second)
	if s, _, err = reg.ResumeSession(ctx, token); err != nil || !s.SeenAt.Equal(began.Add(time.Minute)) {
		t.Error("the last use was not kept:", s.SeenAt, err)
	}
	if err := reg.EndSession(ctx, s); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.ResumeSession(ctx, token); !errors.Is(err, operator.ErrNoSession) {
		t.Error(err)
	}
}

// TestLinkNeverSkipsTheSecondFactor: a link beside a second factor that is on opens nothing, however it came to be
// there: a reset, which gives links, takes the factor away first.
func TestLinkNeverSkipsTheSecondFactor(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		reg := operator.NewRegistry(e.Store.Operators, noneExposed, e.Clock.Now)
		o, _ := enrol(t, reg, "ana@exemplo.com.br", operator.Admin)
		set := func(on bool) {
			t.Helper()
			_, err := e.Store.Operators.UpdateOperator(ctx, o.ID, operator.KeepSessions, func(o *operator.Operator, _ []operator.Operator) error {
				o.Invite, o.InviteUntil, o.TOTP, o.TOTPOn = e.Store.Operators.TokenDigest("link"), e.Clock.Now().Add(time.Hour), []byte("secret"), on
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		set(true)
		if _, err := reg.FindInvited(ctx, "link"); !errors.Is(err, operator.ErrLink) {
			t.Error("the page of the link is shown:", err)
		}
		if _, session, err := reg.AcceptInvitation(
			ctx,
			"link",
			goodPassword,
			"",
		); !errors.Is(err, operator.ErrLink) ||
			session != "" {
			t.Error("a link went around the second factor:", err)
		}
		set(false)
		if _, _, err := reg.AcceptInvitation(ctx, "link", goodPassword, ""); err != nil {
			t.Error("without a second factor:", err)
		}
	})
}
