package person

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
)

// A page shows so many leaks, the gravest first: more is not read on a phone, and has to be paid for.
const mostLeaks = 10

// leaksPage is what leaked and what did not.
type leaksPage struct {
	Values []valueView
	// Leaks are those of this page, open ones first; Before and After are the numbers of its neighbours.
	Leaks         []leakView
	Before, After int
	// Reasons are what a person can say of a leak that is dealt with.
	Reasons []choice
	// Open counts the leaks that something is still to be done about, on whichever page.
	Open int
	// Looks says for which of the values past breaches were looked into.
	Looks cyber.PersonLooks
}

// choice is an option of a select field.
type choice struct{ Value, Label string }

// showLeaks shows one page of the leaks that hold the person's values.
func showLeaks(p *Pages, r *request) (answer, error) {
	page, err := p.gatherLeaks(r.Context(), r.visitor)
	if err != nil {
		return nil, err
	}
	number, _ := strconv.Atoi(r.URL.Query().Get("page")) // anything else is the first page
	total := len(page.Leaks)
	number = min(max(1, number), max(1, (total+mostLeaks-1)/mostLeaks))
	from, to := (number-1)*mostLeaks, min(number*mostLeaks, total)
	if page.Before = number - 1; to < total {
		page.After = number + 1
	}
	page.Leaks = page.Leaks[from:to]
	return view{"leaks", "leaks.title", page}, nil
}

// gatherLeaks returns the person's leaks, grouped by breach.
func (p *Pages) gatherLeaks(ctx context.Context, v visitor) (leaksPage, error) {
	var page leaksPage
	scope := cyber.AssetScope{Partner: v.who.ID, User: v.session.User}
	assets, err := p.Rules.Monitoring.ListAssets(ctx, scope)
	if err != nil {
		return page, err
	}
	page.Looks, err = p.Rules.FirstLooks.EstimateLooks(ctx, v.who.ID, v.who.Settings, cyber.CountLooks(assets))
	if err != nil {
		return page, err
	}
	values := map[cyber.AssetID]valueView{}
	for _, a := range assets {
		value := valueView{
			Icon:   kindIcons[a.Kind],
			Kind:   v.sentence("kind." + a.Kind.String()),
			Masked: identifier.MaskForOwner(a.Kind, a.Value),
			Status: a.Status,

			Unlooked: a.IsUnlooked(),
			AddedAt:  a.AddedAt,
		}
		values[a.ID] = value
		page.Values = append(page.Values, value)
	}
	plans, err := p.Rules.Monitoring.ListPlans(ctx, v.who.ID, v.session.User)
	if err != nil {
		return page, err
	}
	byBreach := map[string][]cyber.Plan{}
	for _, plan := range plans {
		name := plan.Finding.Breach.Name
		byBreach[name] = append(byBreach[name], plan)
	}
	for _, group := range byBreach {
		page.Leaks = append(page.Leaks, newLeakView(v, group, values))
	}
	slices.SortFunc(page.Leaks, func(a, b leakView) int {
		switch {
		case a.Open && !b.Open:
			return -1
		case !a.Open && b.Open:
			return 1
		}
		return cmp.Or(
			severityRank(b.Severity)-severityRank(a.Severity),
			b.Found.Compare(a.Found),
			cmp.Compare(a.ID, b.ID),
		)
	})
	for _, l := range page.Leaks {
		if l.Open {
			page.Open++
		}
	}
	for _, reason := range []cyber.Resolution{
		cyber.ResolvedPasswordChanged,
		cyber.ResolvedAccountClosed,
		cyber.ResolvedCardReplaced,
		cyber.ResolvedNotMe,
		cyber.ResolvedOther,
	} {
		page.Reasons = append(page.Reasons, choice{string(reason), v.sentence("resolution." + string(reason))})
	}
	return page, nil
}
