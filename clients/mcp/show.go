package mcp

import (
	"strings"
	"unicode"

	"github.com/vigiahq/vigia/client"
)

// tellUnlooked returns what an assistant is told beside an answer that rests on values which wait for their first look:
// without it a person would be told that all is well.
func tellUnlooked(values int) unlooked {
	if values == 0 {
		return unlooked{}
	}
	return unlooked{values, "So many values of this person were not looked for in past breaches yet. Nothing can be " +
		"said of them: status monitorado, an empty list and a low score do not mean that they are safe."}
}

// Lists below are made with make, so that an empty one is encoded as [] and not as null.

// shownAsset returns a watched value with the value masked.
func shownAsset(id, kind, value string, status client.AssetStatus) asset {
	return asset{ID: id, Type: kind, Masked: maskValue(kind, value), Status: string(status)}
}

// shownAssets returns the watched values of a person.
func shownAssets(contract []client.MonitoredAsset, extra []client.ExtraAsset) assets {
	list := make([]asset, 0, len(contract)+len(extra))
	for _, a := range contract {
		list = append(list, shownAsset(a.ID, string(a.Type), a.Value, a.Status))
	}
	for _, a := range extra {
		list = append(list, shownAsset(a.ID, string(a.Type), a.Value, a.Status))
	}
	return assets{Values: list}
}

// shownFindings returns findings; titles and site names come from outside and are marked as untrusted.
func shownFindings(all []client.Finding) findings {
	list := make([]finding, len(all))
	for i, f := range all {
		sites := make([]string, len(f.Sites))
		for j, site := range f.Sites {
			sites[j] = neutralizeText(site)
		}
		list[i] = finding{
			ID:             f.ID,
			AssetID:        f.AssetID,
			AssetType:      string(f.AssetType),
			Breach:         f.Breach.Name,
			UntrustedTitle: neutralizeText(f.Breach.Title),
			BreachDate:     f.Breach.Date,
			BreachKind:     f.Breach.Kind,
			Exposed:        f.Exposed,
			Basis:          string(f.Basis),
			UntrustedSites: sites,
			OwnSite:        f.OwnSite,
			Severity:       string(f.Severity),
			State:          f.State,
			FoundAt:        f.FoundAt,
		}
	}
	return findings{Findings: list}
}

// shownCovers returns the covers of a person.
func shownCovers(all client.CoverList) covers {
	list := make([]cover, len(all.Coberturas))
	for i, c := range all.Coberturas {
		d := c.DetalhesCobertura
		list[i] = cover{d.Plano, c.Origem, d.LimiteCobertura, d.TipoCobertura, d.Condicoes, d.Exclusoes}
	}
	return covers{list}
}

// shownDevices returns devices with all but the last four characters of their keys masked.
func shownDevices(all []client.ProtectedDevice) devices {
	list := make([]device, len(all))
	for i, d := range all {
		list[i] = device{string(d.OperatingSystem), "***" + d.EppKey[max(0, len(d.EppKey)-4):], d.ValidUntil}
	}
	return devices{list}
}

// shownCase returns a case without its texts, which may hold personal data.
func shownCase(c client.CaseItem) supportCase {
	return supportCase{c.ID, c.ServiceID, string(c.Status), c.CreationDate, c.ChangedAt, c.Rating}
}

// shownCases returns cases without their texts.
func shownCases(all []client.CaseItem) cases {
	list := make([]supportCase, len(all))
	for i, c := range all {
		list[i] = shownCase(c)
	}
	return cases{list}
}

// shownHistory returns the course of a case without the texts of its messages.
func shownHistory(c client.CaseDetail) caseHistory {
	one := supportCase{c.ID, c.ServiceID, string(c.Status), c.CreationDate, c.ChangedAt, c.Rating}
	lines := make([]caseLine, len(c.History))
	for i, l := range c.History {
		lines[i] = caseLine{l.At, l.Type, l.From, string(l.Status)}
	}
	return caseHistory{one, lines}
}

// shownSubscription returns a subscription with the personal values masked.
func shownSubscription(s client.ListedSubscription) subscribed {
	b := s.Beneficiary
	return subscribed{
		PlanID:    s.PlanID,
		CPF:       maskValue("cpf", b.CPF),
		Email:     maskValue("email", b.Email),
		Phone:     maskValue("phone", b.PhoneNumber),
		StartDate: s.StartDate,
	}
}

// shownSubscriptions returns subscriptions with the personal values masked.
func shownSubscriptions(p client.SubscriptionPage) subscriptions {
	list := make([]subscribed, len(p.Data))
	for i, s := range p.Data {
		list[i] = shownSubscription(s)
	}
	return subscriptions{
		list,
		p.Pagination.Page,
		p.Pagination.TotalItems,
		p.Pagination.TotalPages,
	}
}

// shownBreaches returns the facts on breaches; titles come from outside and are made inert.
func shownBreaches(p client.BreachPage) breaches {
	list := make([]breach, len(p.Breaches))
	for i, b := range p.Breaches {
		title := neutralizeText(b.Title)
		list[i] = breach{b.Name, title, b.Date, b.Kind, b.Exposes, b.Verified, b.Fabricated, b.SpamList}
	}
	return breaches{list, p.Page, p.TotalItems, p.HasNext}
}

// shownEvents returns events with the person they are about, without the rest of their data.
func shownEvents(p client.EventPage) events {
	list := make([]event, len(p.Events))
	for i, e := range p.Events {
		list[i] = event{e.ID, string(e.Body.Type), e.Body.Timestamp, personOfEvent(e.Body)}
	}
	return events{list}
}

// longestText is how much of a stranger's text is shown.
const longestText = 120

// neutralizeText returns a stranger's text without what a reader or a renderer could take for more than text: one line
// of letters, digits and a few signs. Marks of direction, invisible characters, markup, quotes and links go.
func neutralizeText(text string) string {
	kept := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune(".,-_+&()", r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, " "))
	kept = strings.Join(strings.Fields(kept), " ")
	if runes := []rune(kept); len(runes) > longestText {
		kept = string(runes[:longestText]) + "..."
	}
	return kept
}
