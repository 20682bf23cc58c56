package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// partnerPage is the data of a partner's page.
type partnerPage struct {
	partner.Partner
	// Tab is the part that is looked at: empty for keys and webhooks.
	Tab string
	// Keys are all of them, LiveKeys counts those in force.
	Keys     []keyRow
	LiveKeys int
	// Webhooks are those that fail first; Failing counts them.
	Webhooks []webhookHealth
	Failing  int
	// Lacking are the requests that were refused because the key lacks a scope.
	Lacking []lackingScope
	// Givers says who can create the key that such a request needs.
	Givers scopeGivers
	// Subscriptions are those in force, Arrived came to the webhooks in the last 24 hours, Backlog waits for them now;
	// Sent and Refused are requests of today.
	Subscriptions, Arrived, Backlog, Sent, Refused int64
	// Staff are the partner's own people, Plans counts its plans.
	Staff []operator.Operator
	Plans int
	// Looks is how the partner stands with its first looks; a sandbox has none.
	Looks cyber.LookStatus
}

// Tabs of a partner's page, as its address names them.
const (
	tabLimits = "limites"
	tabStaff  = "equipe"
)

// LooksField returns what the form shows for first looks in an hour.
func (p partnerPage) LooksField() string {
	switch p.Settings.FirstLooksPerHour {
	case partner.LooksBySize:
		return ""
	case partner.NoFirstLooks:
		return "0"
	default:
		return strconv.Itoa(p.Settings.FirstLooksPerHour)
	}
}

// partnerPath returns the path of a partner's page.
func partnerPath(id partner.ID) string { return joinPath("partners", id) }

// showPartner shows a partner with its keys, its webhooks and the state of its first looks.
func showPartner(c *Console, r *request) (answer, error) {
	page, err := c.gatherPartner(r.Context(), r.viewer, partnerOf(r))
	if err != nil {
		return nil, err
	}
	page.Tab = partnerTab(r)
	return view{"partner", page.Name, page}, nil
}

// partnerTab returns the part of the page that is asked for, or that the refused form stands in.
func partnerTab(r *request) string {
	tab := r.URL.Query().Get("aba")
	switch {
	case r.who.Role != operator.Admin || r.who.Partner != "":
		return ""
	case r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/revoke"):
		return tabLimits
	case tab == tabLimits || tab == tabStaff:
		return tab
	}
	return ""
}

func (c *Console) gatherPartner(ctx context.Context, v viewer, id partner.ID) (partnerPage, error) {
	p, err := c.Rules.Partners.PartnerByID(ctx, id)
	if err != nil {
		return partnerPage{}, err
	}
	keys, err := c.Rules.Partners.ListKeys(ctx, id)
	if err != nil {
		return partnerPage{}, err
	}
	log, err := c.Rules.Meter.LatestRequests(ctx, p.ID, false)
	if err != nil {
		return partnerPage{}, err
	}
	page := partnerPage{Partner: p, Keys: c.newKeyRows(keys, log), Lacking: groupLackingScopes(log, keys)}
	page.Givers, err = c.gatherScopeGivers(ctx, p.ID)
	if err != nil {
		return page, err
	}
	for _, k := range page.Keys {
		if k.State == "live" || k.State == "ending" {
			page.LiveKeys++
		}
	}
	page.Webhooks, err = c.gatherWebhookHealth(ctx, id)
	if err != nil {
		return page, err
	}
	for _, e := range page.Webhooks {
		if e.IsFailing() {
			page.Failing++
		}
		page.Backlog += e.Health.Backlog
	}
	page.Looks, err = c.Rules.FirstLooks.LookStatus(ctx, id, p.Settings)
	if err != nil {
		return page, err
	}
	if v.scope.at.ID == "" {
		if err := c.addPartnerSize(ctx, &page); err != nil {
			return page, err
		}
	}
	return page, nil
}

// addPartnerSize adds to the page what only those who run the service see: size, traffic, staff and plans.
func (c *Console) addPartnerSize(ctx context.Context, page *partnerPage) error {
	active, err := c.Rules.Subscriptions.ListActive(ctx, page.ID, 1, 1)
	if err != nil {
		return err
	}
	page.Subscriptions = active.Total
	arrived, err := c.Rules.Figures.FiguresByPart(ctx, operator.Arrived, 0)
	if err != nil {
		return err
	}
	for _, e := range page.Webhooks {
		page.Arrived += arrived[string(e.ID)]
	}
	today, err := c.Rules.Meter.CountsOfDays(ctx, page.ID, 1)
	if err != nil {
		return err
	}
	for _, n := range today {
		page.Sent += n.Sent
		page.Refused += n.Refused
	}
	plans, err := c.Rules.Plans.ListPlans(ctx, page.ID)
	if err != nil {
		return err
	}
	page.Plans = len(plans)
	all, err := c.Rules.Operators.ListOperators(ctx)
	if err != nil {
		return err
	}
	for _, o := range all {
		if o.Partner == page.ID {
			page.Staff = append(page.Staff, o)
		}
	}
	return nil
}

// gatherWebhookHealth returns the webhooks of a partner and how they do, those that fail first.
func (c *Console) gatherWebhookHealth(ctx context.Context, id partner.ID) ([]webhookHealth, error) {
	endpoints, err := c.Rules.Webhooks.ListEndpoints(ctx, id)
	if err != nil {
		return nil, err
	}
	var list, inOrder []webhookHealth
	for _, e := range endpoints {
		health, err := c.Rules.History.EndpointHealth(ctx, id, e.ID)
		if err != nil {
			return nil, err
		}
		if e.IsFailing() {
			list = append(list, webhookHealth{e, health})
		} else {
			inOrder = append(inOrder, webhookHealth{e, health})
		}
	}
	return append(list, inOrder...), nil
}

// savePartner changes the name and the settings of a partner.
var savePartner = changeHandler("partner.set", "id", "/partners/{id}", "partner.saved",
	func(r *request, in *Rules, id partner.ID) (string, error) {
		form := newFormReader(r)
		settings := form.readSettings()
		before, err := in.Partners.PartnerByID(r.Context(), id)
		if err != nil {
			return "", err
		}
		form.noteFault(partner.Partner{Mode: before.Mode, Settings: settings}.CheckSize())
		_, err = in.Partners.UpdatePartner(r.Context(), id, func(p *partner.Partner) {
			p.Name, p.Settings = r.trimmedField("name"), settings
		})
		return "", form.joinFaults(err)
	})

// suspendPartner refuses all requests of a partner until it is resumed. Its data stay.
var suspendPartner = changePartner("partner.suspend", "partner.suspended", (*partner.Registry).SuspendPartner)

var resumePartner = changePartner("partner.resume", "partner.resumed", (*partner.Registry).ResumePartner)

// changePartner makes the handler of a change that needs nothing but the partner's id.
func changePartner(
	action, done string,
	change func(*partner.Registry, context.Context, partner.ID) (partner.Partner, error),
) handler {
	return changeHandler(action, "id", "/partners/{id}", done,
		func(r *request, in *Rules, id partner.ID) (string, error) {
			_, err := change(in.Partners, r.Context(), id)
			return "", err
		})
}

// grantLooks grants a partner more first looks, for the time when it brings its customers.
var grantLooks = changeHandler("partner.grant-looks", "id", "/partners/{id}", "partner.looks_granted",
	func(r *request, in *Rules, id partner.ID) (string, error) {
		count, ok := parseWhole(r.trimmedField("count"))
		if !ok {
			return "", cyber.ErrLooksInvalid.With("count", fault.OneTo, cyber.MaxGrant)
		}
		return strconv.Itoa(count), in.FirstLooks.GrantLooks(r.Context(), id, int64(count))
	})
