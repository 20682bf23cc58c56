package console

import (
	"context"
	"html/template"
	"strconv"
	"strings"

	"rsc.io/qr"

	"github.com/vigiahq/vigia/internal/operator"
)

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
