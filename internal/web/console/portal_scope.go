package console

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// scope is the part of the service that a session sees; its zero value is all of it.
type scope struct {
	// home is the partner whose person it is, at the one that is looked at.
	home, at partner.Partner
	// sandbox is the home partner's; empty when it has none.
	sandbox partner.ID
	// role is that of who looks.
	role operator.Role
}

// errSuspended keeps the people of a suspended partner out, like its keys.
var errSuspended = fault.New(fault.Forbidden, "partner.suspended")

// loadScope returns the partner that the session is confined to; the zero scope for operators of the service.
func (c *Console) loadScope(r *request) (s scope, err error) {
	if r.who.Partner == "" {
		return s, nil
	}
	s.role = r.who.Role
	if s.home, err = c.Rules.Partners.PartnerByID(r.Context(), r.who.Partner); err != nil {
		return s, err
	}
	s.at = s.home
	if s.home.Suspended && !r.route.early {
		return s, errSuspended
	}
	trial, err := c.Rules.Partners.FindSandbox(r.Context(), s.home.ID)
	if errors.Is(err, partner.ErrNotFound) {
		return s, nil
	}
	s.sandbox = trial.ID
	if chosen, cerr := r.Cookie(sandboxCookie); cerr == nil && chosen.Value == string(trial.ID) {
		s.at = trial
	}
	return s, err
}

// sandboxCookie remembers that the operator switched to the sandbox. It grants no access: only the sandbox of the
// operator's own partner is ever shown.
const sandboxCookie = "__Host-vigia-sandbox"

// switchSandbox goes to the partner's sandbox, or back.
func switchSandbox(_ *Console, r *request) (answer, error) {
	cookie := newCookie(sandboxCookie, string(r.scope.sandbox)) //nolint:gosec // it has all attributes: see there
	if r.scope.at.ID != r.scope.home.ID || r.scope.sandbox == "" {
		cookie.Value, cookie.MaxAge = "", -1
	}
	r.cookie = cookie
	return redirect{to: "/"}, nil
}

// confineToPartner refuses a request that names another partner, as it would one that there is not, and names the own
// one where none is named. The form has been read.
func (r *request) confineToPartner() error {
	if r.who.Partner == "" {
		return nil
	}
	if r.route.upload {
		return errForbidden // its form is read later
	}
	own := string(r.scope.at.ID)
	named := []string{r.URL.Query().Get("partner"), r.PostForm.Get("partner")}
	if named = append(named, r.PathValue("partner")); strings.HasPrefix(r.route.path, "/partners/{id}") {
		named = append(named, r.PathValue("id"))
	}
	for _, id := range named {
		if id != "" && id != own {
			return partner.ErrNotFound
		}
	}
	q := r.URL.Query()
	q.Set("partner", own)
	r.URL.RawQuery = q.Encode()
	if r.Method == http.MethodPost {
		r.PostForm.Set("partner", own)
		r.Form.Set("partner", own)
	}
	return nil
}

// withScope returns the console confined to the scope of a session.
func (c *Console) withScope(s scope) *Console {
	if s.home.ID == "" {
		return c
	}
	own := *c
	own.confined = true
	own.Rules = c.Rules.onlyPartner(s)
	own.InTx = func(ctx context.Context, fn func(in *Rules) error) error {
		return c.InTx(ctx, func(in *Rules) error {
			inside := in.onlyPartner(s)
			return fn(&inside)
		})
	}
	return &own
}

// scopeView is the scope as pages show it.
type scopeView struct {
	ID   partner.ID
	Name string
	// Switch offers the sandbox, Trying says that it is what is looked at.
	Switch, Trying bool
	// IsTest says that no real people are looked at, whether by a switch or because the partner has no other side.
	IsTest bool
}

func (s scope) newScopeView() scopeView {
	return scopeView{
		ID:     s.at.ID,
		Name:   s.at.Name,
		Switch: s.sandbox != "",
		Trying: s.at.ID != s.home.ID,
		IsTest: s.at.Mode == partner.Sandbox,
	}
}
