package console

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// lackingScope are requests to one route that were refused because their key lacks a scope.
type lackingScope struct {
	Operation, KeyLabel, Scope string
	Count                      int64
	Last                       time.Time
}

// groupLackingScopes returns the refusals of a log that lack a scope, those with the most refusals first.
func groupLackingScopes(log []partner.LoggedRequest, keys []partner.Key) []lackingScope {
	labels := map[partner.KeyID]string{}
	for _, k := range keys {
		labels[k.ID] = cmp.Or(k.Label, k.Preview+"…")
	}
	type refusal struct {
		operation, scope string
		key              partner.KeyID
	}
	at := map[refusal]int{}
	var list []lackingScope
	for _, l := range log {
		scope, lacks := strings.CutPrefix(l.Fault, partner.ErrScopeMissing.Code+": ")
		if !lacks {
			continue
		}
		of := refusal{l.Operation, scope, l.Key}
		i, known := at[of]
		if !known {
			i = len(list)
			at[of] = i
			list = append(list, lackingScope{
				Operation: l.Operation, KeyLabel: labels[l.Key], Scope: scope, Last: l.At, // the newest comes first
			})
		}
		list[i].Count++
	}
	slices.SortStableFunc(list, func(a, b lackingScope) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

// scopeGivers says who gives which scope, so that whoever lacks one is told whom to ask.
type scopeGivers struct {
	partner.ScopeGivers
	// Admins are the e-mails of the partner's administrators, where one is to be asked.
	Admins []string
}

// gatherScopeGivers returns who can create a partner's keys with which scope.
func (c *Console) gatherScopeGivers(ctx context.Context, id partner.ID) (scopeGivers, error) {
	givers, err := c.Rules.Partners.ListScopeGivers(ctx, id)
	if err != nil || len(givers.PartnerAdmin) == 0 {
		return scopeGivers{ScopeGivers: givers}, err
	}
	colleagues, err := c.Rules.Operators.ListOperators(ctx)
	if err != nil {
		return scopeGivers{}, err
	}
	var admins []string
	for _, o := range colleagues {
		if o.Role.May(operator.Approve) && !o.Disabled {
			admins = append(admins, o.Email)
		}
	}
	return scopeGivers{givers, admins}, nil
}

// GiverOf returns who can create a key for a refused request: "self", "admin" or "operator". A request that needs one
// of several scopes names them with "or" between.
func (g scopeGivers) GiverOf(needed string) string {
	giver := "operator"
	for name := range strings.SplitSeq(needed, " or ") {
		if slices.Contains(g.Self, partner.Scope(name)) {
			return "self"
		}
		if slices.Contains(g.PartnerAdmin, partner.Scope(name)) {
			giver = "admin"
		}
	}
	return giver
}
