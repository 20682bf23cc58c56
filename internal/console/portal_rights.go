package console

import (
	"context"
	"maps"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// Rights of a partner's people, and the lack of one, which is a decision too.
const (
	closed    = operator.NoRight
	look      = operator.Look
	integrate = operator.Integrate
	attend    = operator.Attend
)

// portalRights decides for every route that needs a session who of a partner's people may use it. A route that is missing is
// closed to them, and TestPortalDecidesEveryRoute asks for the decision.
var portalRights = map[string]operator.Right{
	"GET unknown": look, // the page that says that there is no such page

	"GET /second-factor":  look,
	"GET /secret":         look,
	"POST /second-factor": look,

	"POST /logout": look,

	"GET /prove":  look,
	"POST /prove": look,

	"GET /account":                            look,
	"POST /account/password":                  look,
	"POST /account/logout":                    look,
	"POST /account/recovery":                  look,
	"POST /account/passkeys/begin":            look,
	"POST /account/passkeys":                  look,
	"POST /account/passkeys/{passkey}/remove": look,
	"POST /account/noticed":                   look,

	"GET /{$}": look,

	"GET /partners":                           closed,
	"GET /partners/new":                       closed,
	"POST /partners/new":                      closed,
	"GET /partners/{id}":                      look,
	"POST /partners/{id}/settings":            closed,
	"POST /partners/{id}/suspend":             closed,
	"POST /partners/{id}/resume":              closed,
	"POST /partners/{id}/first-looks/grant":   closed,
	"POST /partners/{id}/first-looks/release": closed,
	"GET /partners/{id}/keys/new":             integrate,
	"POST /partners/{id}/keys/new":            integrate,
	"GET /partners/{id}/keys/{key}/roll":      integrate,
	"POST /partners/{id}/keys/{key}/roll":     integrate,
	"POST /partners/{id}/keys/{key}/revoke":   integrate,
	"GET /partners/{id}/theme":                look,
	"POST /partners/{id}/theme":               integrate,
	"GET /partners/{id}/usage":                look,
	"GET /partners/{id}/requests":             look,
	"GET /partners/{id}/invite":               integrate,
	"POST /partners/{id}/invite":              integrate,

	"POST /sandbox": look,

	"GET /services":                                   closed,
	"POST /services":                                  closed,
	"GET /services/{id}":                              closed,
	"POST /services/{id}":                             closed,
	"POST /services/{id}/retire":                      closed,
	"POST /services/{id}/target":                      closed,
	"POST /services/{id}/questions":                   closed,
	"POST /services/{id}/questions/{question}/remove": closed,
	"POST /services/{id}/slots":                       closed,
	"POST /services/{id}/slots/{slot}/remove":         closed,

	"GET /webhooks/{partner}/new":                 integrate,
	"POST /webhooks/{partner}/new":                integrate,
	"GET /webhooks/{partner}/{endpoint}":          look,
	"POST /webhooks/{partner}/{endpoint}/test":    integrate,
	"GET /webhooks/{partner}/{endpoint}/rotate":   integrate,
	"POST /webhooks/{partner}/{endpoint}/rotate":  integrate,
	"POST /webhooks/{partner}/{endpoint}/enable":  integrate,
	"POST /webhooks/{partner}/{endpoint}/disable": integrate,
	"POST /webhooks/{partner}/{endpoint}/delete":  integrate,

	// Which of the lists, and what of many lines at once, is said by each list: see listing.portal and bulkAction.portal.
	"POST /lists/{list}/person":                look,
	"POST /lists/{list}/export":                look,
	"POST /lists/{list}/filters":               look,
	"POST /lists/{list}/filters/{filter}/drop": look,
	"POST /lists/{list}/bulk":                  look,
	"POST /lists/{list}/bulk/run":              look,
	"GET /exports":                             look,
	"GET /exports/{id}":                        look,

	"GET /plans":                        closed,
	"GET /plans/{partner}/new":          closed,
	"POST /plans/{partner}/new":         closed,
	"GET /plans/{partner}/edit/{plan}":  closed,
	"POST /plans/{partner}/edit/{plan}": closed,

	"GET /subscriptions":                          look,
	"POST /subscriptions/find":                    look,
	"GET /subscriptions/import":                   closed,
	"POST /subscriptions/import":                  closed,
	"POST /subscriptions/import/{file}":           closed,
	"GET /subscriptions/move":                     closed,
	"POST /subscriptions/move/holder":             closed,
	"POST /subscriptions/move/table":              closed,
	"GET /subscriptions/{partner}/{seq}":          look,
	"POST /subscriptions/{partner}/{seq}/reveal":  attend,
	"POST /subscriptions/{partner}/{seq}/end":     closed,
	"POST /subscriptions/{partner}/{seq}/suspend": closed,
	"POST /subscriptions/{partner}/{seq}/resume":  closed,

	"GET /search":  look,
	"POST /search": look,

	"GET /people/{partner}/{ref}":         look,
	"POST /people/{partner}/{ref}/reveal": attend,
	"POST /people/{partner}/{ref}/values": closed,
	"POST /people/{partner}/{ref}/case":   attend,

	"GET /monitoring":                           look,
	"POST /monitoring/find":                     look,
	"POST /monitoring/values":                   closed,
	"POST /monitoring/{partner}/{asset}/reveal": attend,

	"GET /findings":                                   look,
	"GET /findings/{partner}/{finding}":               look,
	"POST /findings/{partner}/{finding}/steps/{step}": attend,
	"POST /findings/{partner}/{finding}/recheck":      attend,
	"POST /findings/{partner}/{finding}/resolve":      attend,

	"GET /breaches":                      closed,
	"GET /breaches/new":                  closed,
	"POST /breaches/new":                 closed,
	"POST /breaches/upload":              closed,
	"GET /breaches/{name}":               closed,
	"POST /breaches/{name}/edit":         closed,
	"GET /breaches/{name}/renew":         closed,
	"POST /breaches/{name}/renew":        closed,
	"POST /breaches/{name}/renew/upload": closed,
	"POST /breaches/{name}/verify":       closed,
	"POST /breaches/{name}/retract":      closed,

	"GET /feeds":                closed,
	"GET /feeds/new":            closed,
	"POST /feeds/new":           closed,
	"POST /feeds/{name}/run":    closed,
	"POST /feeds/{name}/pause":  closed,
	"POST /feeds/{name}/resume": closed,

	"GET /passwords":           closed,
	"POST /passwords/import":   closed,
	"POST /passwords/upload":   closed,
	"POST /passwords/download": closed,
	"POST /passwords/verify":   closed,

	"GET /cases":               look,
	"GET /cases/{id}":          look,
	"POST /cases/{id}/move":    closed,
	"POST /cases/{id}/assign":  closed,
	"POST /cases/{id}/take":    closed,
	"POST /cases/{id}/end":     closed,
	"POST /cases/{id}/undo":    closed,
	"POST /cases/{id}/write":   attend,
	"POST /cases/{id}/writing": attend,
	"POST /cases/{id}/reveal":  attend,
	"POST /cases/assign":       closed,
	"GET /answers":             closed,
	"POST /answers":            closed,
	"POST /answers/delete":     closed,

	"GET /devices":                         look,
	"POST /devices/find":                   attend,
	"POST /devices/pools/{system}/source":  closed,
	"POST /devices/pools/{system}/load":    closed,
	"POST /devices/pools/{system}/install": closed,
	"GET /devices/{id}":                    look,
	"POST /devices/{id}/reveal":            attend,
	"POST /devices/{id}/revoke":            attend,
	"POST /devices/{id}/replace":           attend,

	"GET /messages":                                 closed,
	"GET /messages/{event}/{channel}/{lang}":        closed,
	"POST /messages/{event}/{channel}/{lang}":       closed,
	"POST /messages/{event}/{channel}/{lang}/reset": closed,

	"GET /content":              closed,
	"GET /content/new":          closed,
	"POST /content/new":         closed,
	"POST /content/yaml":        closed,
	"GET /content/export":       closed,
	"GET /content/{id}":         closed,
	"POST /content/{id}":        closed,
	"POST /content/{id}/yaml":   closed,
	"POST /content/{id}/reset":  closed,
	"POST /content/{id}/retire": closed,
	"POST /content/{id}/offer":  closed,

	"GET /events":                           look,
	"GET /events/report":                    look,
	"GET /events/types":                     look,
	"POST /events/replay":                   integrate,
	"GET /events/{partner}/{event}":         look,
	"POST /events/{partner}/{event}/replay": integrate,

	"GET /deliveries":         look,
	"POST /deliveries/replay": integrate,

	"GET /jobs":              closed,
	"GET /jobs/{id}/events":  closed,
	"POST /jobs/{id}/cancel": closed,

	"GET /subjects":          closed,
	"POST /subjects/find":    closed,
	"POST /subjects/access":  closed,
	"POST /subjects/export":  closed,
	"GET /subjects/erase":    closed,
	"POST /subjects/erase":   closed,
	"GET /subjects/erasures": closed,

	"GET /incidents":           closed,
	"POST /incidents":          closed,
	"POST /incidents/download": closed,

	"GET /keys":         closed,
	"POST /keys/count":  closed,
	"POST /keys/rotate": closed,

	"GET /audit":         integrate,
	"POST /audit/verify": closed,

	"GET /operators":               integrate,
	"GET /operators/new":           closed,
	"POST /operators/new":          closed,
	"GET /operators/{id}":          integrate,
	"POST /operators/{id}/role":    integrate,
	"POST /operators/{id}/disable": integrate,
	"POST /operators/{id}/enable":  integrate,
	"POST /operators/{id}/logout":  integrate,
	"POST /operators/{id}/reset":   integrate,
}

// onlyPartner returns the rules for a partner's people. A rule that is not set here is left out on purpose: a page that uses
// it fails instead of showing data of other partners. Rules that are passed on unchanged either take the partner as an
// argument, which comes from a path or a form that confine has checked, or touch no personal data.
func (r Rules) onlyPartner(s scope) Rules {
	id := s.at.ID
	return Rules{
		Operators: r.Operators.ForPartner(s.home.ID, s.role), Audit: r.Audit.ForPartner(s.home.ID, r.Operators), Partners: r.Partners.ForPartner(id, s.role.May(operator.Approve)),
		Figures: ownFigures{of: r.Figures, webhooks: r.Webhooks, id: id}, Webhooks: ownWebhooks{r.Webhooks, id}, Events: ownEvents{r.Events, id},
		History: r.History.ForPartner(id), Cases: r.Cases.ForPartner(id), Endpoints: r.Endpoints.Only(id), Saved: r.Saved,
		Search: r.Search.ForPartner(id), Subjects: ownSubjects{of: r.Subjects, id: id}, Review: ownReview{of: r.Review, id: id},
		Services: r.Services, Meter: r.Meter, Plans: r.Plans, Subscriptions: r.Subscriptions, FindSubscriptions: r.FindSubscriptions,
		Monitoring: r.Monitoring, FirstLooks: r.FirstLooks, Cover: r.Cover, ProblemText: r.ProblemText,
	}
}

// ownWebhooks are one partner's.
type ownWebhooks struct {
	Webhooks
	id partner.ID
}

// FindEndpoint returns an endpoint of the one partner.
func (w ownWebhooks) FindEndpoint(ctx context.Context, endpoint alert.EndpointID) (alert.Endpoint, error) {
	e, err := w.Webhooks.FindEndpoint(ctx, endpoint)
	if err == nil && e.Partner != w.id {
		return alert.Endpoint{}, alert.ErrEndpointNotFound
	}
	return e, err
}

// ownSubjects are one partner's people. Of the embedded interface there is nothing: what stands not below is not theirs.
type ownSubjects struct {
	Subjects
	of Subjects
	id partner.ID
}

// Reference names a person.
func (s ownSubjects) Reference(p subject.Person) string { return s.of.Reference(p) }

// FindReferred returns a person of the one partner.
func (s ownSubjects) FindReferred(ctx context.Context, id partner.ID, ref string) (subject.Person, error) {
	if id != s.id {
		return subject.Person{}, subject.ErrNobody
	}
	return s.of.FindReferred(ctx, id, ref)
}

// DescribePerson returns what the page about a person shows to the one partner.
func (s ownSubjects) DescribePerson(ctx context.Context, who partner.Partner, p subject.Person) (subject.Held, []subject.Access, error) {
	if who.ID != s.id || p.Partner != s.id {
		return subject.Held{}, nil, subject.ErrNobody
	}
	return s.of.DescribePerson(ctx, who, p)
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
	if id != e.id {
		return alert.Kept{}, alert.ErrEventNotFound
	}
	return e.of.GetEvent(ctx, id, event)
}

// DeliveryList lists deliveries of the one partner, whatever was asked for.
func (e ownEvents) DeliveryList(ctx context.Context, f alert.DeliveryFilter) ([]alert.Listed, alert.DeliveryMark, error) {
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
func (v ownReview) DeviceList(ctx context.Context, id partner.ID, f cyber.DeviceFilter) ([]cyber.Device, cyber.Mark, error) {
	if id != v.id {
		return nil, cyber.Mark{}, partner.ErrNotFound
	}
	return v.of.DeviceList(ctx, id, f)
}

// GetAsset returns a watched value of the one partner.
func (v ownReview) GetAsset(ctx context.Context, id partner.ID, asset cyber.AssetID) (cyber.Asset, error) {
	if id != v.id {
		return cyber.Asset{}, cyber.ErrAssetNotFound
	}
	return v.of.GetAsset(ctx, id, asset)
}

// FindingByID returns a finding of the one partner.
func (v ownReview) FindingByID(ctx context.Context, id partner.ID, finding cyber.FindingID) (cyber.Found, error) {
	if id != v.id {
		return cyber.Found{}, cyber.ErrFindingNotFound
	}
	return v.of.FindingByID(ctx, id, finding)
}

// movesForPartner returns the history of a case as the partner's people read it, without internal notes.
func (c *Console) movesForPartner(r *request, moves []cyber.CaseMove) ([]cyber.CaseMove, error) {
	people, err := c.Rules.Operators.Operators(r.Context())
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, o := range people {
		own[o.Email] = true
	}
	var list []cyber.CaseMove
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
	return list, nil
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
func (f ownFigures) FiguresByDay(ctx context.Context, part string, days int, names ...operator.Figure) (map[operator.Figure][]operator.DayCount, error) {
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
