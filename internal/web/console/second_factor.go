package console

import (
	"context"
	"html/template"
	"strconv"
	"strings"

	"rsc.io/qr"
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
	o, err := c.Rules.Operators.BeginTOTP(r.Context(), r.who.ID)
	if err != nil {
		return nil, err
	}
	picture, err := qrPicture(o.TOTPAddress())
	if err != nil {
		return nil, err
	}
	page := factorPage{groupInFours(o.TOTPSecretText()), picture, c.SecondFactorOptional}
	return view{"second-factor", "Segundo fator", page}, nil
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
	//nolint:gosec // our own constants and digits
	return template.HTML(`<svg class="qr" role="img" aria-label="Código QR para o aplicativo autenticador"` +
		` viewBox="0 0 ` + size + ` ` + size + `" shape-rendering="crispEdges">` +
		`<rect width="100%" height="100%" fill="#fff"/><path fill="#000" d="` + path.String() + `"/></svg>`), nil
}

// confirmSecondFactor turns the second factor on when its code is right, and shows the recovery codes once.
func confirmSecondFactor(c *Console, r *request) (answer, error) {
	if r.who.TOTPOn { // nothing to confirm, and no recovery codes for the asking
		return redirect{to: "/"}, nil
	}
	if err := c.takeTry(r); err != nil {
		return nil, err
	}
	var codes []string
	var token string
	err := c.changeWithAudit(r, "account.second_factor", func(ctx context.Context, in *Rules) (string, string, error) {
		if _, err := in.Operators.ConfirmTOTP(ctx, r.who.ID, parseCode(r)); err != nil {
			return "", "", err
		}
		var err error
		codes, err = in.Operators.RecoveryCodes(ctx, r.who.ID)
		if err != nil {
			return "", "", err
		}
		token, err = in.Operators.RenewToken(ctx, &r.session)
		return string(r.who.ID), "", err
	})
	if err != nil {
		return nil, err
	}
	r.cookie = sessionCookie(token)
	return recoveryPage(r, "Segundo fator ativado", codes, "/")
}

// recoveryPage shows new recovery codes, once.
func recoveryPage(r *request, heading string, codes []string, back string) (answer, error) {
	return showSecretsNext(r, secretPage{
		Heading: heading,
		Text: "Guarde estes códigos longe do aparelho. " +
			"Cada um substitui o aplicativo autenticador uma vez, se ele se perder.",
		Secrets: []shownSecret{{
			Label: "Códigos de recuperação",
			Value: strings.Join(codes, "  "),
			Help:  "Eles não serão mostrados de novo; os anteriores deixaram de valer.",
		}},
		Back:      back,
		BackLabel: "Guardei os códigos, continuar",
		Once:      true,
	})
}

// renewRecovery replaces the recovery codes and shows the new ones once.
func renewRecovery(c *Console, r *request) (answer, error) {
	var codes []string
	err := c.changeWithAudit(r, "account.recovery_codes", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		codes, err = in.Operators.RecoveryCodes(ctx, r.who.ID)
		return string(r.who.ID), "", err
	})
	if err != nil {
		return nil, err
	}
	return recoveryPage(r, "Códigos novos", codes, "/account")
}

// showProof asks for the password again before something sensitive.
func showProof(_ *Console, r *request) (answer, error) {
	return view{"prove", "Confirme que é você", localPath(r.FormValue("next"))}, nil
}

// proveAgain checks the password that was asked for again before something grave.
func proveAgain(c *Console, r *request) (answer, error) {
	if err := c.takeTry(r); err != nil {
		return nil, err
	}
	token, err := c.Rules.Operators.ProvePassword(r.Context(), &r.session, r.PostFormValue("password"))
	if err != nil {
		return nil, err
	}
	r.cookie = sessionCookie(token)
	return redirect{to: localPath(r.PostFormValue("next"))}, nil
}
