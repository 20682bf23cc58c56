package console

import (
	"net/url"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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

// keptForm is a form that was sent when the session was over. It goes through the log-in as hidden fields, and is sent
// again when its owner says so.
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
	return view{"login", "Entrar", loginPage{
		Next:     localPath(next),
		NoCookie: strings.Contains(next, "entered=1"),
		Kept:     keptFormOf(r),
	}}, nil
}

// takeTry refuses a request of an address that has tried to log in too often.
func (c *Console) takeTry(r *request) error {
	if c.tries.TakeToken(r.from) > 0 {
		return errTries
	}
	return nil
}

// logInOperator checks address and password, and asks for the second factor.
func logInOperator(c *Console, r *request) (answer, error) {
	if err := c.takeTry(r); err != nil {
		return nil, err
	}
	ctx := r.Context()
	try, err := c.Rules.Operators.TryPassword(ctx, r.trimmedField("email"), r.PostFormValue("password"))
	if err != nil {
		return nil, err
	}
	var out operator.Outcome
	err = c.InTx(ctx, func(in *Rules) (err error) {
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

// enterWith sets the session cookie after a log-in and returns to the page that was asked for before it; a form that
// was carried through the log-in is shown again to be sent.
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

func logOutOperator(c *Console, r *request) (answer, error) {
	if err := c.Rules.Operators.EndSession(r.Context(), r.session); err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "logout", string(r.who.ID), ""); err != nil {
		return nil, err
	}
	r.cookie = endCookie()
	return redirect{"/login", "session.ended"}, nil
}
