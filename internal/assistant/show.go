package assistant

import (
	"strings"
	"time"
	"unicode"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/identifier"
)

// The answers of the tools. Each member is copied by name, so that a new field of the API reaches the assistant only by a
// deliberate change here.
type (
	services struct {
		Services []client.Service `json:"services"`
	}
	advice struct {
		Advice []client.Advice `json:"advice"`
	}
	score struct {
		Today   client.Score        `json:"today"`
		History []client.ScorePoint `json:"history"`
	}
	assets struct {
		Values []asset `json:"values"`
	}
	asset struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		Masked string `json:"masked"`
		Status string `json:"status"`
	}
	findings struct {
		Findings []finding `json:"findings"`
	}
	finding struct {
		ID             string    `json:"id"`
		AssetID        string    `json:"assetId"`
		AssetType      string    `json:"assetType"`
		Breach         string    `json:"breach"`
		UntrustedTitle string    `json:"untrustedTitle"`
		BreachDate     string    `json:"breachDate"`
		BreachKind     string    `json:"breachKind"`
		Exposed        []string  `json:"exposed"`
		Basis          string    `json:"basis"`
		UntrustedSites []string  `json:"untrustedSites"`
		OwnSite        bool      `json:"ownSite"`
		Severity       string    `json:"severity"`
		State          string    `json:"state"`
		FoundAt        time.Time `json:"foundAt"`
	}
	covers struct {
		Covers []cover `json:"covers"`
	}
	cover struct {
		Plan       string   `json:"plan"`
		Origin     string   `json:"origin"`
		Limit      float64  `json:"limit"`
		Kinds      []string `json:"kinds"`
		Conditions string   `json:"conditions"`
		Exclusions string   `json:"exclusions"`
	}
	devices struct {
		Devices []device `json:"devices"`
	}
	device struct {
		System     string    `json:"system"`
		KeyEnd     string    `json:"keyEnd"`
		ValidUntil time.Time `json:"validUntil"`
	}
	cases struct {
		Cases []supportCase `json:"cases"`
	}
	supportCase struct {
		ID        string    `json:"id"`
		ServiceID string    `json:"serviceId"`
		Status    string    `json:"status"`
		OpenedAt  time.Time `json:"openedAt"`
		ChangedAt time.Time `json:"changedAt"`
		Rating    int       `json:"rating,omitempty"`
	}
	caseHistory struct {
		Case    supportCase `json:"case"`
		History []caseLine  `json:"history"`
	}
	caseLine struct {
		At     time.Time `json:"at"`
		Type   string    `json:"type"`
		From   string    `json:"from"`
		Status string    `json:"status,omitempty"`
	}
	subscriptions struct {
		Subscriptions []subscribed `json:"subscriptions"`
		Page          int          `json:"page"`
		TotalItems    int          `json:"totalItems"`
		TotalPages    int          `json:"totalPages"`
	}
	subscribed struct {
		PlanID    string    `json:"planId"`
		CPF       string    `json:"cpf"`
		Email     string    `json:"email"`
		Phone     string    `json:"phone"`
		StartDate time.Time `json:"startDate"`
	}
	breaches struct {
		Breaches   []breach `json:"breaches"`
		Page       int64    `json:"page"`
		TotalItems int64    `json:"totalItems"`
		HasMore    bool     `json:"hasMore"`
	}
	breach struct {
		Name           string   `json:"name"`
		UntrustedTitle string   `json:"untrustedTitle"`
		Date           string   `json:"date"`
		Kind           string   `json:"kind"`
		Exposes        []string `json:"exposes"`
		Verified       bool     `json:"verified"`
		Fabricated     bool     `json:"fabricated"`
		SpamList       bool     `json:"spamList"`
	}
	events struct {
		Events  []event `json:"events"`
		Next    string  `json:"next"`
		HasMore bool    `json:"hasMore"`
	}
	event struct {
		ID       string    `json:"id"`
		Type     string    `json:"type"`
		At       time.Time `json:"at"`
		UserHash string    `json:"userHash,omitempty"`
	}
)

// kinds says which mask fits a watched value.
var kinds = map[client.AssetType]identifier.Kind{
	client.Email: identifier.Email, client.CPF: identifier.CPF, client.Phone: identifier.Phone, client.CreditCard: identifier.Card,
	client.Domain: identifier.Domain, client.PixKey: identifier.PixKey, client.CNPJ: identifier.CNPJ,
}

// each maps a list. The result is never nil, so that it is encoded as [] and not as null.
func each[From, To any](all []From, show func(From) To) []To {
	shown := make([]To, 0, len(all))
	for _, one := range all {
		shown = append(shown, show(one))
	}
	return shown
}

// shownAssets returns watched values with the values masked.
func shownAssets(all []client.Asset) assets {
	return assets{each(all, func(a client.Asset) asset {
		return asset{a.ID, string(a.Type), identifier.MaskValue(kinds[a.Type], a.Value), string(a.Status)}
	})}
}

// shownFindings returns findings; titles and site names come from outside and are marked as untrusted.
func shownFindings(all []client.Finding) findings {
	return findings{each(all, func(f client.Finding) finding {
		return finding{
			ID: f.ID, AssetID: f.AssetID, AssetType: string(f.AssetType), Breach: f.Breach.Name, UntrustedTitle: inert(f.Breach.Title),
			BreachDate: f.Breach.Date, BreachKind: f.Breach.Kind, Exposed: f.Exposed, Basis: f.Basis, UntrustedSites: each(f.Sites, inert),
			OwnSite: f.OwnSite, Severity: f.Severity, State: f.State, FoundAt: f.FoundAt,
		}
	})}
}

// shownCovers returns the covers of a person.
func shownCovers(all []client.Cover) covers {
	return covers{each(all, func(c client.Cover) cover {
		return cover{c.Details.Plan, c.Origin, c.Details.Limit, c.Details.Kinds, c.Details.Conditions, c.Details.Exclusions}
	})}
}

// shownDevices returns devices with all but the last four characters of their keys masked.
func shownDevices(all []client.Device) devices {
	return devices{each(all, func(d client.Device) device {
		return device{string(d.System), "***" + d.Key[max(0, len(d.Key)-4):], d.ValidUntil}
	})}
}

// shownCase returns a case without its texts, which may hold personal data.
func shownCase(c client.CaseItem) supportCase {
	return supportCase{c.ID, c.ServiceID, c.Status, c.CreationDate, c.ChangedAt, c.Rating}
}

// shownCases returns cases without their texts.
func shownCases(all []client.CaseItem) cases { return cases{each(all, shownCase)} }

// shownHistory returns the course of a case without the texts of its messages.
func shownHistory(c client.CaseDetail) caseHistory {
	return caseHistory{shownCase(c.CaseItem), each(c.History, func(l client.CaseLine) caseLine {
		return caseLine{l.At, l.Type, l.From, l.Status}
	})}
}

// shownSubscriptions returns subscriptions with the personal values masked.
func shownSubscriptions(p client.SubscriptionPage) subscriptions {
	return subscriptions{each(p.Items, func(s client.Subscription) subscribed {
		b := s.Beneficiary
		return subscribed{s.PlanID, identifier.MaskValue(identifier.CPF, b.CPF), identifier.MaskValue(identifier.Email, b.Email), identifier.MaskValue(identifier.Phone, b.PhoneNumber), s.StartDate}
	}), p.Page, p.TotalItems, p.TotalPages}
}

// shownBreaches returns the facts on breaches; titles come from outside and are made inert.
func shownBreaches(p client.BreachPage) breaches {
	return breaches{each(p.Breaches, func(b client.BreachFacts) breach {
		return breach{b.Name, inert(b.Title), b.Date, b.Kind, b.Exposes, b.Verified, b.Fabricated, b.SpamList}
	}), p.Page, p.TotalItems, p.HasNext}
}

// shownEvents returns events with the person they are about, without the rest of their data.
func shownEvents(p client.EventPage) events {
	return events{each(p.Events, func(e client.Event) event {
		return event{e.ID, e.Type, e.Timestamp, personOfEvent(e.Data)}
	}), p.Next, p.HasMore}
}

// longestText is how much of a stranger's text is shown.
const longestText = 120

// inert returns a stranger's text without what a reader or a renderer could take for more than text: one line of
// letters, digits and a few signs. Marks of direction, invisible characters, markup, quotes and links go.
func inert(text string) string {
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
