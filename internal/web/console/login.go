package console

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"rsc.io/qr"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// cookieName carries the prefix by which a browser refuses the cookie unless it is Secure, for this host only and for
// every path. Browsers take localhost and 127.0.0.1 as secure, so that the demo works without a certificate.
const cookieName = "__Host-vigia"

// sessionCookie returns the cookie of a session: for this host only, over TLS, out of reach of scripts and other
// sites.
func sessionCookie(token string) *http.Cookie {
	return &http.Cookie{
		Name:     cookieName,
		Value:    token,
		Path:     "/",
		Secure:   true,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}

// endCookie returns a cookie that removes the session from the browser.
func endCookie() *http.Cookie {
	c := sessionCookie("") //nolint:gosec // it has all three attributes: see there
	c.MaxAge = -1
	return c
}

var (
	errMismatch = fault.New(fault.Invalid, "password.mismatch")
	errTries    = fault.New(fault.RateLimited, "login.tries")
)

// loginPage is the data of the log-in form.
type loginPage struct {
	Next string
	// NoCookie says that the browser did not keep the cookie of a log-in that had succeeded.
	NoCookie bool
	// Ended says that a session was over, and Kept is the form that it was over for.
	Ended bool
	Kept  *keptForm
}

// keptForm is a form that was sent when the session was over. It goes through the log-in as hidden fields, and is sent again
// when its owner says so.
type keptForm struct {
	Path   string
	Fields url.Values
}

// keptPrefix begins the names of the fields of a kept form.
const keptPrefix = "kept."

// keptFormOf reads a kept form from the log-in that brings it; nil when there is none.
func keptFormOf(r *request) *keptForm {
	path := localPath(r.PostFormValue("kept_path"))
	if path == "/" {
		return nil
	}
	kept := &keptForm{Path: path, Fields: url.Values{}}
	for name, values := range r.PostForm {
		if field, ok := strings.CutPrefix(name, keptPrefix); ok {
			kept.Fields[field] = values
		}
	}
	return kept
}

// showLogin shows the log-in form. After a log-in without effect it says that the browser keeps no cookies.
func showLogin(_ *Console, r *request) (answer, error) {
	next := r.FormValue("next")
	return view{"login", "Entrar", loginPage{Next: localPath(next), NoCookie: strings.Contains(next, "entered=1"), Kept: keptFormOf(r)}}, nil
}

// takeTry refuses a request of an address that has tried to log in too often.
func (c *Console) takeTry(r *request) {
	if c.tries.TakeToken(r.from) > 0 {
		r.keepFailure(errTries)
	}
}

// logInOperator checks address and password, and asks for the second factor.
func logInOperator(c *Console, r *request) (answer, error) {
	c.takeTry(r)
	ctx := r.Context()
	try := callRuleWith2(r, c.Rules.Operators.TryPassword, r.trimmedField("email"), r.PostFormValue("password"))
	if r.failure != nil {
		return nil, r.failure
	}
	var out operator.Outcome
	err := c.InTx(ctx, func(in *Rules) (err error) {
		if out, err = in.Operators.DecideLogin(ctx, try, parseCode(r), r.from); err != nil {
			return err
		}
		who := operator.Actor{Name: string(out.Operator.ID), From: r.from}
		switch {
		case out.Token != "":
			if out.Recovered {
				if err := in.Audit.RecordAction(ctx, who, "account.recovered", who.Name, ""); err != nil {
					return err
				}
			}
			return in.Audit.RecordAction(ctx, who, "login", who.Name, "")
		case out.Counted:
			return in.Audit.RecordAction(ctx, who, "login.refused", who.Name, "")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out.Token == "" {
		return nil, operator.ErrRefused
	}
	return enterWith(r, out.Operator, out.Token), nil
}

// enterWith sets the session cookie after a log-in and returns to the page that was asked for before it; a form that was
// carried through the log-in is shown again to be sent.
func enterWith(r *request, who operator.Operator, token string) answer {
	r.who, r.cookie = who, sessionCookie(token)
	next := localPath(r.PostFormValue("next"))
	if kept := keptFormOf(r); kept != nil {
		return view{"resume", "Enviar o que estava escrito", loginPage{Next: next, Kept: kept}}
	}
	if next == "/" {
		next = "/?entered=1"
	}
	return redirect{to: next}
}

// parseCode returns the six digits or the recovery code without the spaces that were typed.
func parseCode(r *request) string { return strings.ReplaceAll(r.trimmedField("code"), " ", "") }

// linkPage is the data of the page behind a one-time link.
type linkPage struct {
	Token, Email string
	Min          int
}

// showInvitation shows the page behind an invitation's link.
func showInvitation(c *Console, r *request) (answer, error) {
	token := r.PathValue("token")
	return view{"link", "Escolha a sua senha", linkPage{token, callRuleWith(r, c.Rules.Operators.FindInvited, token).Email, operator.MinPassword}}, nil
}

// acceptInvitation sets the password of an invited operator.
func acceptInvitation(c *Console, r *request) (answer, error) {
	c.takeTry(r)
	password := r.PostFormValue("password")
	if password != r.PostFormValue("again") {
		r.keepFailure(errMismatch)
	}
	o, token := callRulePair2(r, func(ctx context.Context, link, password string) (operator.Operator, string, error) {
		return c.Rules.Operators.AcceptInvitation(ctx, link, password, r.from)
	}, r.PathValue("token"), password)
	r.who = o
	c.recordAction(r, "link.used", string(o.ID), "")
	r.cookie = sessionCookie(token)
	return redirect{to: "/second-factor"}, nil
}

// factorPage is the data of the page that sets the second factor up.
type factorPage struct {
	Secret string
	QR     template.HTML
	// Optional offers to go on without.
	Optional bool
}

// showSecondFactor shows the secret of a new second factor, as text and QR code. An operator who has one is sent away.
func showSecondFactor(c *Console, r *request) (answer, error) {
	if r.who.TOTPOn {
		return redirect{to: "/"}, nil
	}
	o := callRuleWith(r, c.Rules.Operators.BeginTOTP, r.who.ID)
	picture := parseValue(r, qrPicture, o.TOTPAddress())
	return view{"second-factor", "Segundo fator", factorPage{groupInFours(o.TOTPSecretText()), picture, c.SecondFactorOptional}}, nil
}

// groupInFours writes a secret in groups of four, as people read it.
func groupInFours(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// qrPicture draws a QR code as one SVG path, so that the page needs neither image nor script.
func qrPicture(text string) (template.HTML, error) {
	q, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", err
	}
	var path strings.Builder
	for y := range q.Size {
		for x := range q.Size {
			if q.Black(x, y) {
				path.WriteString("M" + strconv.Itoa(x+4) + " " + strconv.Itoa(y+4) + "h1v1h-1z")
			}
		}
	}
	size := strconv.Itoa(q.Size + 8)
	return template.HTML(`<svg class="qr" role="img" aria-label="Código QR para o aplicativo autenticador" viewBox="0 0 ` + size + ` ` + size + //nolint:gosec // digits only
		`" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path fill="#000" d="` + path.String() + `"/></svg>`), nil
}

// confirmSecondFactor turns the second factor on when its code is right, and shows the recovery codes once.
func confirmSecondFactor(c *Console, r *request) (answer, error) {
	if r.who.TOTPOn { // nothing to confirm, and no recovery codes for the asking
		return redirect{to: "/"}, nil
	}
	c.takeTry(r)
	var codes []string
	var token string
	c.changeWithAudit(r, "account.second_factor", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		if _, err = in.Operators.ConfirmTOTP(ctx, r.who.ID, parseCode(r)); err == nil {
			codes, err = in.Operators.RecoveryCodes(ctx, r.who.ID)
		}
		if err == nil {
			token, err = in.Operators.RenewToken(ctx, &r.session)
		}
		return string(r.who.ID), "", err
	})
	r.cookie = sessionCookie(token)
	return recoveryPage(r, "Segundo fator ativado", codes, "/")
}

// recoveryPage shows new recovery codes, once.
func recoveryPage(r *request, heading string, codes []string, back string) (answer, error) {
	return showSecretsNext(r, secretPage{
		Heading: heading,
		Text:    "Guarde estes códigos longe do aparelho. Cada um substitui o aplicativo autenticador uma vez, se ele se perder.",
		Secrets: []shownSecret{
			{
				"Códigos de recuperação",
				strings.Join(codes, "  "),
				"Eles não serão mostrados de novo; os anteriores deixaram de valer.",
			},
		},
		Back:      back,
		BackLabel: "Guardei os códigos, continuar",
	})
}

// renewRecovery replaces the recovery codes and shows the new ones once.
func renewRecovery(c *Console, r *request) (answer, error) {
	var codes []string
	c.changeWithAudit(r, "account.recovery_codes", func(ctx context.Context, in *Rules) (_, _ string, err error) {
		codes, err = in.Operators.RecoveryCodes(ctx, r.who.ID)
		return string(r.who.ID), "", err
	})
	return recoveryPage(r, "Códigos novos", codes, "/account")
}

// logOutOperator ends the session.
func logOutOperator(c *Console, r *request) (answer, error) {
	if err := c.Rules.Operators.EndSession(r.Context(), r.session); err != nil {
		return nil, err
	}
	c.recordAction(r, "logout", string(r.who.ID), "")
	r.cookie = endCookie()
	return redirect{"/login", "session.ended"}, nil
}

// showProof asks for the password again before something sensitive.
func showProof(_ *Console, r *request) (answer, error) {
	return view{"prove", "Confirme que é você", localPath(r.FormValue("next"))}, nil
}

// proveAgain asks for the second factor again before something grave.
func proveAgain(c *Console, r *request) (answer, error) {
	c.takeTry(r)
	r.cookie = sessionCookie(callRuleWith2(r, c.Rules.Operators.ProvePassword, &r.session, r.PostFormValue("password")))
	return redirect{to: localPath(r.PostFormValue("next"))}, nil
}

// accountPage is the data of one's own page.
type accountPage struct {
	Sessions []operator.Session
	Current  string
	Min      int
	Passkeys []operator.Passkey
}

// showAccount shows the operator's own sessions and passkeys.
func showAccount(c *Console, r *request) (answer, error) {
	return view{"account", "Minha conta", accountPage{
		callRuleWith(r, c.Rules.Operators.ListSessions, r.who.ID), string(r.session.Digest), operator.MinPassword, callRuleWith(r, c.Rules.Operators.ListPasskeys, r.who.ID),
	}}, nil
}

// changePassword replaces the operator's password and ends their other sessions.
func changePassword(c *Console, r *request) (answer, error) {
	next := r.PostFormValue("password")
	if next != r.PostFormValue("again") {
		return nil, errMismatch
	}
	c.recordAction(r, "account.password", string(r.who.ID), "")
	r.cookie = sessionCookie(
		callRuleWith3(r, c.Rules.Operators.ChangePassword, r.session, r.PostFormValue("present"), next),
	)
	return redirect{"/account", "account.password"}, nil
}

// logoutEverywhere ends all sessions of the operator, this one included.
func logoutEverywhere(c *Console, r *request) (answer, error) {
	c.recordAction(r, "logout.everywhere", string(r.who.ID), "")
	callRuleWith(r, c.Rules.Operators.DeleteSessions, r.who.ID)
	r.cookie = endCookie()
	return redirect{"/login", "session.ended"}, nil
}

// document is what the script of a page asks for.
type document struct{ body any }

func (document) isAnswer() {}

// ceremony is what an authenticator is asked, and the token under which its answer is expected.
type ceremony struct {
	Options any    `json:"options"`
	Token   string `json:"token"`
}

// beginPasskeyLogin starts a log-in by passkey. It is limited like other tries to log in.
func beginPasskeyLogin(c *Console, r *request) (answer, error) {
	c.takeTry(r)
	options, token := callRulePair(r, c.Rules.Operators.BeginPasskeyLogin, c.publicOrigin(r.Request))
	return document{ceremony{options, token}}, nil
}

// passkeyLogin finishes a log-in by passkey and records it in the audit trail in the same transaction.
func passkeyLogin(c *Console, r *request) (answer, error) {
	if c.takeTry(r); r.failure != nil {
		return nil, r.failure
	}
	var o operator.Operator
	var token string
	err := c.InTx(r.Context(), func(in *Rules) (err error) {
		o, token, err = in.Operators.PasskeyLogin(
			r.Context(),
			c.publicOrigin(r.Request),
			r.PostFormValue("token"),
			[]byte(r.PostFormValue("response")),
			r.from,
		)
		if err != nil {
			return err
		}
		return in.Audit.RecordAction(
			r.Context(),
			operator.Actor{Name: string(o.ID), From: r.from},
			"login",
			string(o.ID),
			"passkey",
		)
	})
	if err != nil {
		return nil, err
	}
	return enterWith(r, o, token), nil
}

// beginPasskey starts the registration of a passkey for the operator.
func beginPasskey(c *Console, r *request) (answer, error) {
	options, token, err := c.Rules.Operators.BeginPasskey(r.Context(), r.who.ID, c.publicOrigin(r.Request))
	return document{ceremony{options, token}}, err
}

// addPasskey finishes the registration of a passkey under the name that the operator gave it.
func addPasskey(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(r, "account.passkey_added", redirect{"/account", "account.passkey"}, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(r.who.ID), r.trimmedField("name"), in.Operators.AddPasskey(ctx, r.who.ID, c.publicOrigin(r.Request), r.PostFormValue("token"), r.trimmedField("name"),
			[]byte(r.PostFormValue("response")))
	})
}

// removePasskey removes one of the operator's own passkeys.
func removePasskey(c *Console, r *request) (answer, error) {
	return c.changeAndRedirect(
		r,
		"account.passkey_removed",
		redirect{"/account", "account.passkey_removed"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			return string(r.who.ID), "", in.Operators.RemovePasskey(ctx, r.who.ID, r.PathValue("passkey"))
		},
	)
}
