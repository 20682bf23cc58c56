package console

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// A partner's own people use the same console. The code that confines them to their partner is in this file and in
// own_rules.go, not in the pages: the table of routes says which right each route needs, confineToPartner refuses
// requests that name another partner, and the pages run with rules that reach the data of that partner only.

// tableKey returns the key of the route in tables: method and path.
func (rt route) tableKey() string { return rt.method + " " + rt.path }

// isOpenTo reports whether the operator may use the route.
func (rt route) isOpenTo(who operator.Operator) bool { return isAllowedTo(who, rt.role, rt.portal) }

// isAllowedTo reports whether an operator of the service has a role, or a partner's person a right.
func isAllowedTo(who operator.Operator, role operator.Role, right operator.Right) bool {
	return who.Partner != "" && who.Role.May(right) || who.Partner == "" && who.Role.Covers(role)
}

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
	if s.home, err = c.Rules.Partners.GetPartner(r.Context(), r.who.Partner); err != nil {
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
	cookie := sessionCookie(string(r.scope.sandbox)) //nolint:gosec // sessionCookie gives it all attributes
	if cookie.Name = sandboxCookie; r.scope.at.ID != r.scope.home.ID || r.scope.sandbox == "" {
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

// portalMenu is the table of contents for a partner's people; {id} is the partner's.
var portalMenu = []sectionGroup{
	{"", []section{{"/", "Visão geral", "chart"}}},
	{"Pessoas", []section{
		{"/subscriptions", "Assinaturas", "card"},
		{"/findings", "Ocorrências", "warn"},
		{"/monitoring", "Dados monitorados", "eye"},
		{"/cases", "Casos", "board"},
		{"/devices", "Dispositivos", "phone"},
	}},
	{"Privacidade", []section{
		{"/subjects", "Titulares", "person"},
		{"/incidents", "Incidentes", "siren"},
	}},
	{"Integração", []section{
		{"/partners/{id}", "Chaves e webhooks", "key"},
		{"/deliveries", "Entregas", "send"},
		{"/events", "Eventos", "bell"},
		{"/partners/{id}/requests", "Requisições", "list"},
		{"/partners/{id}/usage", "Uso e limites", "chart"},
	}},
	{
		"Empresa",
		[]section{
			{"/exports", "Exportações", "out"},
			{"/operators", "Equipe", "people"},
			{"/audit", "Auditoria", "list"},
		},
	},
}

// menuForOperator returns the menu, reduced to the pages that the operator may open.
func menuForOperator(r *request) []menuGroup {
	table := menu
	if r.who.Partner != "" {
		table = portalMenu
	}
	var groups []menuGroup
	for _, g := range table {
		group := menuGroup{Label: g.label}
		for _, s := range g.sections {
			if !isMenuAllowed(r.who, s.path) {
				continue
			}
			path := strings.ReplaceAll(s.path, "{id}", string(r.scope.at.ID))
			current := path == r.URL.Path || path != "/" && strings.HasPrefix(r.URL.Path, path+"/")
			group.Items = append(group.Items, menuItem{path, s.label, s.icon, current})
		}
		if len(group.Items) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
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

// portalPage is the first page of a partner's people.
type portalPage struct {
	Partner partner.Partner
	// Keys are those in force; Findings are open, Arrived came to their destinations in the last 24 hours.
	Keys              []keyRow
	Findings, Arrived int64
	API               string // the address of the partner API; empty when it is not known
	Webhooks          []webhookHealth
	Notices           []operator.Entry
	// Sent and Refused are requests of today; Log are the latest.
	Sent, Refused int64
	Log           []partner.LoggedRequest
	Subscriptions int64
	// Looks is how the partner stands with its first looks; a sandbox has none.
	Looks cyber.LookStatus
	// Trying says that the sandbox is looked at.
	Trying bool
}

// webhookHealth is a destination and how it does.
type webhookHealth struct {
	alert.Endpoint
	Health alert.Health
}

// portalRequests is how many requests the first page shows.
const portalRequests = 8

// showPortal shows a partner's people their first page: the state of keys, webhooks and usage.
func showPortal(c *Console, r *request) (answer, error) {
	page, err := c.gatherPortal(r.Context(), r.viewer)
	if err != nil {
		return nil, err
	}
	return view{"portal", "Visão geral", page}, nil
}

func (c *Console) gatherPortal(ctx context.Context, v viewer) (portalPage, error) {
	page := portalPage{
		Partner: v.scope.at,
		API:     c.API.String(),
		Trying:  v.scope.newScopeView().Trying || v.scope.at.Mode == partner.Sandbox,
	}
	id := page.Partner.ID
	keys, err := c.Rules.Partners.ListKeys(ctx, id)
	if err != nil {
		return page, err
	}
	log, err := c.Rules.Meter.LatestRequests(ctx, id, false)
	if err != nil {
		return page, err
	}
	for _, k := range c.newKeyRows(keys, log) {
		if k.State == "live" || k.State == "ending" {
			page.Keys = append(page.Keys, k)
		}
	}
	open, err := c.Rules.Figures.FiguresByPart(ctx, operator.FindingsOpen, 0)
	if err != nil {
		return page, err
	}
	page.Findings = open[string(id)]
	arrived, err := c.Rules.Figures.FiguresByPart(ctx, operator.Arrived, 0)
	if err != nil {
		return page, err
	}
	for _, n := range arrived {
		page.Arrived += n
	}
	page.Webhooks, err = c.gatherWebhookHealth(ctx, id)
	if err != nil {
		return page, err
	}
	today, err := c.Rules.Meter.CountsOfDays(ctx, id, 1)
	if err != nil {
		return page, err
	}
	for _, n := range today {
		page.Sent += n.Sent
		page.Refused += n.Refused
	}
	page.Log = log[:min(len(log), portalRequests)]
	active, err := c.Rules.Subscriptions.ListActive(ctx, id, 1, 1)
	if err != nil {
		return page, err
	}
	page.Subscriptions = active.Total
	if page.Partner.Mode == partner.Live {
		page.Looks, err = c.Rules.FirstLooks.LookStatus(ctx, id, page.Partner.Settings)
		if err != nil {
			return page, err
		}
	}
	page.Notices, err = c.accessNotices(ctx, v.who)
	return page, err
}

// Rights of a partner's people, and the lack of one, which is a decision too.
const (
	closed    = operator.NoRight
	look      = operator.Look
	integrate = operator.Integrate
	attend    = operator.Attend
	respond   = operator.Answer
)
