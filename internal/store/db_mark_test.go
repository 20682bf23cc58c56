package store_test

import (
	"context"
	"crypto/sha256"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// intruder is a world with somebody who writes to the database and does not hold the key file.
type intruder struct {
	*storetest.Env
	ctx       context.Context
	keys      *partner.Registry
	people    *operator.Registry
	victim    partner.Partner
	key       partner.Key // a read-only key of another partner, which the intruder holds
	secret    string
	operator  operator.Operator // a viewer with a second factor, whose password the intruder knows
	session   string
	admin     operator.Operator
	foreigner partner.Partner
}

const intruderPassword = "girafa amarela no telhado"

func newIntruder(t *testing.T, e *storetest.Env) *intruder {
	t.Helper()
	w := &intruder{Env: e, ctx: context.Background()}
	w.keys = partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	w.people = operator.NewRegistry(e.Store.Operators, func(string) (bool, error) { return false, nil }, e.Clock.Now)
	w.victim, _ = e.NewPartner(t, partner.Live)
	w.foreigner, _ = e.NewPartner(t, partner.Live)
	var err error
	w.key, w.secret, err = w.keys.CreateKey(
		w.ctx,
		w.foreigner.ID,
		"",
		[]partner.Scope{partner.ScopeCyberRead},
		time.Time{},
	)
	w.must(t, err)
	enrol := func(email string, role operator.Role) (operator.Operator, string) {
		_, link, err := w.people.CreateOperator(w.ctx, email, role)
		w.must(t, err)
		o, session, err := w.people.AcceptInvitation(w.ctx, link, intruderPassword, "192.0.2.7")
		w.must(t, err)
		return o, session
	}
	w.admin, _ = enrol("ana@exemplo.com.br", operator.Admin)
	w.operator, w.session = enrol("bia@exemplo.com.br", operator.Viewer)
	o, err := w.people.BeginTOTP(w.ctx, w.operator.ID)
	w.must(t, err)
	w.operator, err = w.people.ConfirmTOTP(w.ctx, o.ID, operator.AuthenticatorCode(o.TOTP, e.Clock.Now()))
	w.must(t, err)
	return w
}

func (w *intruder) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write runs a statement as the intruder would.
func (w *intruder) write(t *testing.T, statement string, args ...any) {
	t.Helper()
	w.must(t, storetest.Write(w.ctx, w.Env, statement, args...))
}

// enters tells whether the intruder's key is one of a partner with a scope.
func (w *intruder) enters(id partner.ID, need partner.Scope) bool {
	c, err := partner.NewKeyGate(w.Store.Partners, w.Clock.Now).Authenticate(w.ctx, w.secret, need)
	return err == nil && c.Partner == id
}

// intrusions are what a red team did, each with what it gained.
var intrusions = []struct {
	name string
	try  func(t *testing.T, w *intruder) (gained bool)
	// where is the row that the check names.
	where string
}{
	{"a key written into the table", func(t *testing.T, w *intruder) bool {
		digest := sha256.Sum256([]byte(w.secret))
		w.write(t, `DELETE FROM api_key WHERE id = $1`, string(w.key.ID))
		w.write(
			t,
			`INSERT INTO api_key (id, partner_id, label, preview, lookup, digest, scopes, created_at, expires_at,
			revoked_at, made_by, line, mac)
			SELECT 'key_mine', CAST($1 AS INTEGER), '', '', CAST($2 AS BYTEA), CAST($3 AS BYTEA), 'cyber', 1, 0, 0,
			'', 'key_mine', mac FROM api_key LIMIT 1`,
			w.victim.ID.Number(),
			digest[:8],
			digest[:],
		)
		return w.enters(w.victim.ID, partner.ScopeCyber)
	}, "api_key key_mine"},
	{"a key moved to another partner", func(t *testing.T, w *intruder) bool {
		w.write(t, `UPDATE api_key SET partner_id = $1 WHERE id = $2`, w.victim.ID.Number(), string(w.key.ID))
		return w.enters(w.victim.ID, partner.ScopeCyberRead)
	}, "api_key "},
	{"a key with more scopes", func(t *testing.T, w *intruder) bool {
		w.write(t, `UPDATE api_key SET scopes = 'cyber,credentials' WHERE id = $1`, string(w.key.ID))
		return w.enters(w.foreigner.ID, partner.ScopeCredentials)
	}, "api_key "},
	{"a revoked key", func(t *testing.T, w *intruder) bool {
		_, err := w.keys.RevokeKey(w.ctx, w.foreigner.ID, w.key.ID)
		w.must(t, err)
		w.write(t, `UPDATE api_key SET revoked_at = 0`)
		return w.enters(w.foreigner.ID, partner.ScopeCyberRead)
	}, "api_key "},
	{"a suspended partner", func(t *testing.T, w *intruder) bool {
		_, err := w.keys.SuspendPartner(w.ctx, w.foreigner.ID)
		w.must(t, err)
		w.write(t, `UPDATE partner SET suspended = FALSE`)
		return w.enters(w.foreigner.ID, partner.ScopeCyberRead)
	}, "partner "},
	{"a limit taken off", func(t *testing.T, w *intruder) bool {
		w.write(t, `UPDATE partner SET rate_per_second = 1000000, mask_cards = FALSE`)
		return w.enters(w.foreigner.ID, partner.ScopeCyberRead)
	}, "partner "},
	{"an invite written into the row of an admin", func(t *testing.T, w *intruder) bool {
		digest := sha256.Sum256([]byte("mine"))
		w.write(
			t,
			`UPDATE operator SET invite = $1, invite_until = $2 WHERE id = $3`,
			digest[:],
			int64(1)<<60,
			string(w.admin.ID),
		)
		_, session, err := w.people.AcceptInvitation(w.ctx, "mine", intruderPassword, "192.0.2.7")
		return err == nil && session != ""
	}, "operator "},
	{"another role", func(t *testing.T, w *intruder) bool {
		w.write(t, `UPDATE operator SET role = 'admin'`)
		_, o, err := w.people.ResumeSession(w.ctx, w.session)
		return err == nil && o.Role == operator.Admin
	}, "operator "},
	{"the second factor off", func(t *testing.T, w *intruder) bool {
		w.write(t, `UPDATE operator SET totp_on = FALSE`)
		_, _, err := login(w.people, w.ctx, "bia@exemplo.com.br", intruderPassword, "", "192.0.2.7")
		return err == nil
	}, "operator "},
	{"a code used twice", func(t *testing.T, w *intruder) bool {
		w.write(t, `UPDATE operator SET totp_step = 0`)
		_, _, err := login(
			w.people,
			w.ctx,
			"bia@exemplo.com.br",
			intruderPassword,
			operator.AuthenticatorCode(w.operator.TOTP, w.Clock.Now()),
			"192.0.2.7",
		)
		return err == nil
	}, "operator "},
	{"a disabled operator", func(t *testing.T, w *intruder) bool {
		_, err := w.people.ChangeRole(w.ctx, w.operator.ID, operator.Support)
		w.must(t, err)
		_, err = w.people.DisableOperator(w.ctx, w.operator.ID)
		w.must(t, err)
		w.write(t, `UPDATE operator SET disabled = FALSE`)
		_, _, err = login(
			w.people,
			w.ctx,
			"bia@exemplo.com.br",
			intruderPassword,
			operator.AuthenticatorCode(w.operator.TOTP, w.later()),
			"192.0.2.7",
		)
		return err == nil
	}, "operator "},
	{"a session moved to an admin", func(t *testing.T, w *intruder) bool {
		w.write(t, `UPDATE operator_session SET operator_id = $1`, string(w.admin.ID))
		_, o, err := w.people.ResumeSession(w.ctx, w.session)
		return err == nil && o.ID == w.admin.ID
	}, "operator_session "},
	{"a session that does not end", func(t *testing.T, w *intruder) bool {
		w.later()
		w.Clock.Advance(operator.AbsoluteLimit)
		now := w.Clock.Now().UnixMicro()
		w.write(
			t,
			`UPDATE operator_session SET created_at = `+strconv.FormatInt(
				now,
				10,
			)+`, seen_at = `+strconv.FormatInt(
				now,
				10,
			),
		)
		_, _, err := w.people.ResumeSession(w.ctx, w.session)
		return err == nil
	}, "operator_session "},
}

// later moves the clock past the code that was used.
func (w *intruder) later() time.Time {
	w.Clock.Advance(time.Minute)
	return w.Clock.Now()
}

// TestWriterIsNoAdministrator: who can write to the database and does not hold the key file gains nothing by it, and
// the check names the row.
func TestWriterIsNoAdministrator(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newIntruder(t, e)
		for _, in := range intrusions {
			t.Run(in.name, func(t *testing.T) {
				defer keepTables(t, e, "partner", "api_key", "operator", "operator_session")()
				if in.try(t, w) {
					t.Error("it opened the door")
				}
				for _, p := range problems(t, w.ctx, w.Upkeep) {
					if p.Check == "grants" && strings.HasPrefix(p.Where, in.where) {
						return
					}
				}
				t.Error("the check does not see it")
			})
		}
	})
}

// login tries and decides in one go.
func login(
	people *operator.Registry,
	ctx context.Context,
	email, password, code, from string,
) (operator.Operator, string, error) { // as the method that it stands for
	try, err := people.TryPassword(ctx, email, password)
	if err != nil {
		return operator.Operator{}, "", err
	}
	out, err := people.DecideLogin(ctx, try, code, from)
	if err == nil && out.Token == "" {
		err = operator.ErrRefused
	}
	return out.Operator, out.Token, err
}
