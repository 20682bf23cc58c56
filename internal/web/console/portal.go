package console

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// A partner's own people use the same console. The code that confines them to their partner is in this file, not
// in the pages: the table of routes says which right each route needs, confine refuses requests that name
// another partner, and the pages run with rules that reach the data of that partner only.

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

// confineToPartner refuses a request that names another partner, as it would one that there is not, and names the own one where
// none is named. The form has been read.
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
}

// newScopeView returns the scope as pages show it.
func (s scope) newScopeView() scopeView {
	return scopeView{s.at.ID, s.at.Name, s.sandbox != "", s.at.ID != s.home.ID}
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
	// Sent and Refused are requests of today; Failed are the latest that were refused.
	Sent, Refused int64
	Failed        []partner.LoggedRequest
	Subscriptions int64
	// Trying says that the sandbox is looked at.
	Trying bool
}

// webhookHealth is a destination and how it does.
type webhookHealth struct {
	alert.Endpoint
	Health alert.Health
}

// portalFailures is how many refused requests the first page names.
const portalFailures = 5

// showPortal shows a partner's people their first page: the state of keys, webhooks and usage.
func showPortal(c *Console, r *request) (answer, error) {
	page := portalPage{
		Partner: r.scope.at,
		API:     c.API.String(),
		Trying:  r.scope.newScopeView().Trying || r.scope.at.Mode == partner.Sandbox,
	}
	id := page.Partner.ID
	keys := callRuleWith(r, c.Rules.Partners.ListKeys, id)
	log := callRuleWith2(r, c.Rules.Meter.LatestRequests, id, false)
	page.Keys = slices.DeleteFunc(
		c.newKeyRows(keys, log),
		func(k keyRow) bool { return k.State != "live" && k.State != "ending" },
	)
	page.Findings = callRuleWith2(r, c.Rules.Figures.FiguresByPart, operator.FindingsOpen, 0)[string(id)]
	for _, n := range callRuleWith2(r, c.Rules.Figures.FiguresByPart, operator.Arrived, 0) {
		page.Arrived += n
	}
	for _, e := range callRuleWith(r, c.Rules.Webhooks.ListEndpoints, id) {
		page.Webhooks = append(
			page.Webhooks,
			webhookHealth{e, callRuleWith2(r, c.Rules.History.EndpointHealth, id, e.ID)},
		)
	}
	for _, n := range callRuleWith2(r, c.Rules.Meter.CountsOfDays, id, 1) {
		page.Sent, page.Refused = page.Sent+n.Sent, page.Refused+n.Refused
	}
	for _, l := range log {
		if l.Status >= http.StatusBadRequest && len(page.Failed) < portalFailures {
			page.Failed = append(page.Failed, l)
		}
	}
	page.Subscriptions = callRuleWith3(r, c.Rules.Subscriptions.ListActive, id, 1, 1).Total
	page.Notices = c.accessNotices(r)
	return view{"portal", "Visão geral", page}, nil
}

// usagePage is what a partner may ask for, and how much of it is used.
type usagePage struct {
	Partner     partner.Partner
	Rate, Burst int
	// Looks is how the partner stands with its first looks; a sandbox has none.
	Looks          cyber.LookStatus
	Active, Events int64
}

// requestsPage is the log of a partner's latest requests.
type requestsPage struct {
	Partner    partner.Partner
	FailedOnly bool
	Lines      []partner.LoggedRequest
}

// showRequests shows the latest API requests of a partner, all of them or the failed ones only.
func showRequests(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.PathValue("id")))
	page := requestsPage{Partner: p, FailedOnly: r.URL.Query().Get("failed") == "1"}
	page.Lines = callRuleWith2(r, c.Rules.Meter.LatestRequests, p.ID, page.FailedOnly)
	return view{"requests", "Requisições", page}, nil
}

// showUsage shows a partner's limits and how much of them is used: rate, active subscriptions, first looks and events.
func showUsage(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.PathValue("id")))
	page := usagePage{
		Partner: p,
		Active:  callRuleWith3(r, c.Rules.Subscriptions.ListActive, p.ID, 1, 1).Total,
		Looks:   callRuleWith2(r, c.Rules.FirstLooks.LookStatus, p.ID, p.Settings),
	}
	page.Rate, page.Burst = p.Settings.RateLimit()
	newest, _ := callRulePair2(r, c.Rules.Events.ListEvents, p.ID, alert.EventFilter{Limit: 1})
	for _, e := range newest {
		page.Events = e.Seq
	}
	return view{"usage", "Uso e limites", page}, nil
}

// Rights of a partner's people, and the lack of one, which is a decision too.
const (
	closed    = operator.NoRight
	look      = operator.Look
	integrate = operator.Integrate
	attend    = operator.Attend
)

// onlyPartner returns the rules for a partner's people. A rule that is not set here is left out on purpose: a page that uses
// it fails instead of showing data of other partners. Rules that are passed on unchanged either take the partner as an
// argument, which comes from a path or a form that confine has checked, or touch no personal data.
func (r Rules) onlyPartner(s scope) Rules {
	id := s.at.ID
	return Rules{
		Operators: r.Operators.ForPartner(
			s.home.ID,
			s.role,
		),
		Audit:    r.Audit.ForPartner(s.home.ID, r.Operators),
		Partners: r.Partners.ForPartner(id, s.role.May(operator.Approve)),
		Figures: ownFigures{
			of:       r.Figures,
			webhooks: r.Webhooks,
			id:       id,
		},
		Webhooks:          ownWebhooks{inner: r.Webhooks, id: id},
		Events:            ownEvents{of: r.Events, id: id},
		History:           r.History.ForPartner(id),
		Cases:             r.Cases.ForPartner(id),
		Endpoints:         r.Endpoints.Only(id),
		Saved:             r.Saved,
		Search:            r.Search.ForPartner(id),
		Subjects:          ownSubjects{inner: r.Subjects, id: id},
		Review:            ownReview{of: r.Review, id: id},
		Services:          r.Services,
		Meter:             r.Meter,
		Plans:             r.Plans,
		Subscriptions:     r.Subscriptions,
		FindSubscriptions: r.FindSubscriptions,
		Monitoring:        r.Monitoring,
		FirstLooks:        r.FirstLooks,
		Cover:             r.Cover,
		ProblemText:       r.ProblemText,
	}
}

// ifOwn asks a rule about the one partner, and refuses a question about another.
func ifOwn[T any](own bool, refusal error, ask func() (T, error)) (value T, err error) {
	if !own {
		return value, refusal
	}
	return ask()
}

// ownWebhooks are one partner's. Every method is written out, so that one that is added to the interface is decided on
// before it compiles; so it is with the types below.
type ownWebhooks struct {
	inner Webhooks
	id    partner.ID
}

var (
	_ Webhooks = ownWebhooks{}
	_ Subjects = ownSubjects{}
	_ Events   = ownEvents{}
	_ Review   = ownReview{}
	_ Figures  = ownFigures{}
)

// checkOwn refuses every partner but the one.
func (w ownWebhooks) checkOwn(id partner.ID) error {
	if id != w.id {
		return alert.ErrEndpointNotFound
	}
	return nil
}

// FindEndpoint returns an endpoint of the one partner.
func (w ownWebhooks) FindEndpoint(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error) {
	e, err := w.inner.FindEndpoint(ctx, endpoint)
	if err == nil && e.Partner != w.id {
		return alert.Endpoint{}, alert.ErrEndpointNotFound
	}
	return e, err
}

// ListEndpoints lists those of the one partner.
func (w ownWebhooks) ListEndpoints(ctx context.Context, id partner.ID) ([]alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return nil, err
	}
	return w.inner.ListEndpoints(ctx, id)
}

// Create makes one of the one partner.
func (w ownWebhooks) Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.Create(ctx, id, url, types)
}

// Test sends an event to one of the one partner.
func (w ownWebhooks) Test(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, t alert.Type,
) (webhook.Outcome, alert.EventID, error) {
	if err := w.checkOwn(id); err != nil {
		return webhook.Outcome{}, "", err
	}
	return w.inner.Test(ctx, id, endpoint, t)
}

// RotateKeys changes the secret of one of the one partner.
func (w ownWebhooks) RotateKeys(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, overlap time.Duration,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.RotateKeys(ctx, id, endpoint, overlap)
}

// EnableEndpoint enables one of the one partner.
func (w ownWebhooks) EnableEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.EnableEndpoint(ctx, id, endpoint)
}

// DisableEndpoint disables one of the one partner.
func (w ownWebhooks) DisableEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID,
) (alert.Endpoint, error) {
	if err := w.checkOwn(id); err != nil {
		return alert.Endpoint{}, err
	}
	return w.inner.DisableEndpoint(ctx, id, endpoint)
}

// FollowEndpoint watches one of the one partner.
func (w ownWebhooks) FollowEndpoint(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, to alert.EndpointState,
) error {
	if err := w.checkOwn(id); err != nil {
		return err
	}
	return w.inner.FollowEndpoint(ctx, id, endpoint, to)
}

// DeleteEndpoint deletes one of the one partner.
func (w ownWebhooks) DeleteEndpoint(ctx context.Context, id partner.ID, endpoint alert.EndpointID) error {
	if err := w.checkOwn(id); err != nil {
		return err
	}
	return w.inner.DeleteEndpoint(ctx, id, endpoint)
}

// ownSubjects are one partner's people.
type ownSubjects struct {
	inner Subjects
	id    partner.ID
}

// Reference names a person.
func (s ownSubjects) Reference(p subject.Person) string { return s.inner.Reference(p) }

// FindReferred returns a person of the one partner.
func (s ownSubjects) FindReferred(ctx context.Context, id partner.ID, ref string) (subject.Person, error) {
	return ifOwn(
		id == s.id,
		subject.ErrNobody,
		func() (subject.Person, error) { return s.inner.FindReferred(ctx, id, ref) },
	)
}

// DescribePerson returns what the page about a person shows to the one partner.
func (s ownSubjects) DescribePerson(
	ctx context.Context,
	who partner.Partner,
	p subject.Person,
) (subject.Held, []subject.Access, error) {
	if who.ID != s.id || p.Partner != s.id {
		return subject.Held{}, nil, subject.ErrNobody
	}
	return s.inner.DescribePerson(ctx, who, p)
}

// What is below is the operator's: a person's rights, and reports over partners.

// ExportPerson exports nothing.
func (ownSubjects) ExportPerson(context.Context, subject.Person) ([]subject.Held, error) {
	return nil, subject.ErrNobody
}

// ListAccesses returns nothing.
func (ownSubjects) ListAccesses(context.Context, subject.Person) ([]subject.Access, error) {
	return nil, subject.ErrNobody
}

// Erase erases nothing.
func (ownSubjects) Erase(context.Context, operator.Actor, subject.Person, string) (subject.Outcome, error) {
	return subject.Outcome{}, subject.ErrNobody
}

// WriteErasureLog writes nothing.
func (ownSubjects) WriteErasureLog(context.Context, io.Writer) (int, error) {
	return 0, subject.ErrNobody
}

// ReportIncident reports nothing.
func (ownSubjects) ReportIncident(
	context.Context, operator.Actor, subject.Incident, time.Time, bool, string,
) (subject.Report, error) {
	return subject.Report{}, subject.ErrNobody
}

// ownEvents are one partner's events and deliveries.
type ownEvents struct {
	of Events
	id partner.ID
}

// ListEvents lists events of the one partner.
func (e ownEvents) ListEvents(ctx context.Context, id partner.ID, f alert.EventFilter) ([]alert.Kept, int64, error) {
	if id != e.id {
		return nil, 0, partner.ErrNotFound
	}
	return e.of.ListEvents(ctx, id, f)
}

// GetEvent returns an event of the one partner.
func (e ownEvents) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	return ifOwn(
		id == e.id,
		alert.ErrEventNotFound,
		func() (alert.Kept, error) { return e.of.GetEvent(ctx, id, event) },
	)
}

// DeliveryList lists deliveries of the one partner, whatever was asked for.
func (e ownEvents) DeliveryList(
	ctx context.Context,
	f alert.DeliveryFilter,
) ([]alert.Listed, alert.DeliveryMark, error) {
	f.Partner = e.id
	return e.of.DeliveryList(ctx, f)
}

// ownReview lists findings, watched values and devices of one partner.
type ownReview struct {
	of Review
	id partner.ID
}

// FindingList lists findings of the one partner, whatever was asked for.
func (v ownReview) FindingList(ctx context.Context, f cyber.FindingFilter) ([]cyber.Found, cyber.Mark, error) {
	f.Partner = v.id
	return v.of.FindingList(ctx, f)
}

// ListAssets lists watched values of the one partner, whatever was asked for.
func (v ownReview) ListAssets(ctx context.Context, f cyber.AssetFilter) ([]cyber.Asset, cyber.Mark, error) {
	f.Partner = v.id
	return v.of.ListAssets(ctx, f)
}

// DeviceList lists devices of the one partner.
func (v ownReview) DeviceList(
	ctx context.Context,
	id partner.ID,
	f cyber.DeviceFilter,
) ([]cyber.Device, cyber.Mark, error) {
	if id != v.id {
		return nil, cyber.Mark{}, partner.ErrNotFound
	}
	return v.of.DeviceList(ctx, id, f)
}

// GetAsset returns a watched value of the one partner.
func (v ownReview) GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error) {
	return ifOwn(
		id == v.id,
		cyber.ErrAssetNotFound,
		func() (cyber.Asset, error) { return v.of.GetAsset(ctx, id, asset) },
	)
}

// FindingByID returns a finding of the one partner.
func (v ownReview) FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error) {
	return ifOwn(
		id == v.id,
		cyber.ErrFindingNotFound,
		func() (cyber.Found, error) { return v.of.FindingByID(ctx, id, finding) },
	)
}

// movesForPartner returns the history of a case as the partner's people read it, without internal notes.
func (c *Console) movesForPartner(r *request, moves []cyber.CaseMove) (list []cyber.CaseMove) {
	own := map[string]bool{}
	for _, o := range callRule(r, c.Rules.Operators.ListOperators) {
		own[o.Email] = true
	}
	for _, m := range moves {
		switch {
		case own[m.Actor] || m.Actor == "": // a colleague's, or the person's own
		case m.Kind == cyber.MoveNote:
			continue
		case m.Kind == cyber.MoveStatus:
			m.Actor, m.Note = theService, "" // what was noted with a move is the operator's
		default:
			m.Actor = theService
		}
		list = append(list, m)
	}
	return list
}

// ownFigures are those of one partner and of its endpoints.
type ownFigures struct {
	of       Figures
	webhooks Webhooks
	id       partner.ID
}

// LastFigures are the whole service's.
func (ownFigures) LastFigures(context.Context) (operator.Figures, error) {
	return operator.Figures{}, partner.ErrNotFound
}

// ownParts returns the parts of the figures that are the one partner's.
func (f ownFigures) ownParts(ctx context.Context) (map[string]bool, error) {
	list, err := f.webhooks.ListEndpoints(ctx, f.id)
	parts := map[string]bool{string(f.id): true}
	for _, e := range list {
		parts[string(e.ID)] = true
	}
	return parts, err
}

// FiguresByDay returns counts of the one partner or of an endpoint of its own.
func (f ownFigures) FiguresByDay(
	ctx context.Context,
	part string,
	days int,
	names ...operator.Figure,
) (map[operator.Figure][]operator.DayCount, error) {
	mine, err := f.ownParts(ctx)
	if err == nil && !mine[part] {
		err = partner.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return f.of.FiguresByDay(ctx, part, days, names...)
}

// FiguresByPart returns a count of each part that is the one partner's.
func (f ownFigures) FiguresByPart(ctx context.Context, name operator.Figure, days int) (map[string]int64, error) {
	mine, err := f.ownParts(ctx)
	if err != nil {
		return nil, err
	}
	all, err := f.of.FiguresByPart(ctx, name, days)
	maps.DeleteFunc(all, func(part string, _ int64) bool { return !mine[part] })
	return all, err
}
