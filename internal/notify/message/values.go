package message

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// names are what an event's body only has the ids of: the company that the person knows, the breach, the plan.
type names struct{ partner, breach, plan string }

// eventBody is what of an event's body a message may speak of.
type eventBody struct {
	Timestamp string `json:"timestamp"`
	Data      struct {
		UserHash        string  `json:"userHash"`
		Findings        []found `json:"findings"`
		AssetType       string  `json:"assetType"`
		Status          string  `json:"status"`
		CaseID          string  `json:"caseId"`
		Appointment     string  `json:"appointment"`
		Rating          int     `json:"rating"`
		OperatingSystem string  `json:"operatingSystem"`
		ValidUntil      string  `json:"validUntil"`
		Reason          string  `json:"reason"`
		PlanID          string  `json:"planId"`
	} `json:"data"`
}

// found is one finding of a leak.
type found struct {
	AssetType string `json:"assetType"`
	Breach    string `json:"breach"`
	Severity  string `json:"severity"`
}

// parseEventBody decodes an event; ErrNone when there is no message for it.
func parseEventBody(e alert.Kept) (body eventBody, err error) {
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return body, fmt.Errorf("read event: %w", err)
	}
	if body.Data.UserHash == "" || e.Type == alert.WebhookTest {
		return body, ErrNone
	}
	return body, nil
}

// worstFinding returns the finding that a message names; nothing of an event without any.
func (b eventBody) worstFinding() (worst found) {
	order := []string{"low", "medium", "high", "critical"}
	for _, one := range b.Data.Findings {
		if worst.Breach == "" || slices.Index(order, one.Severity) > slices.Index(order, worst.Severity) {
			worst = one
		}
	}
	return worst
}

// brasilia is the clock that people in Brazil go by: see docs/vocabulary.md.
var brasilia = time.FixedZone("BRT", -3*60*60)

// wordValues returns the words of an event, cleaned and cut.
func (b eventBody) wordValues(at time.Time, l partner.Language, n names) map[Word]string {
	d, worst, say := b.Data, b.worstFinding(), phrases[l]
	values := map[Word]string{
		Partner:  n.partner,
		Breach:   n.breach,
		Plan:     n.plan,
		Date:     inBrasilia(b.Timestamp, at, say.date),
		Count:    strconv.Itoa(len(d.Findings)),
		Kind:     say.ofCode(d.AssetType + worst.AssetType),
		Severity: say.ofCode(worst.Severity),
		Status:   say.ofCode(d.Status),
		Case:     lastCharacters(d.CaseID, longest[Case]),
		Hour:     inBrasilia(d.Appointment, at, say.date+" 15:04"),
		Rating:   strconv.Itoa(d.Rating),
		System:   say.ofCode(d.OperatingSystem),
		Validity: inBrasilia(d.ValidUntil, at, say.date),
		Reason:   say.ofCode(d.Reason),
	}
	for w, v := range values {
		values[w] = truncateText(makeInert(v), longest[w])
	}
	return values
}

// inBrasilia writes a time of an event's body in the clock of Brasília; one that cannot be read is the event's own.
func inBrasilia(text string, instead time.Time, layout string) string {
	at, err := time.Parse(alert.TimeFormat, text)
	if err != nil {
		at = instead
	}
	return at.In(brasilia).Format(layout)
}

func lastCharacters(text string, n int) string { return text[max(0, len(text)-n):] }

// makeInert takes from a value of the outside what could act where the message is read: lines, directions of writing,
// marks of markup and of our own words, addresses.
func makeInert(value string) string {
	value = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r),
			unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs),
			strings.ContainsRune("<>{}[]*_~`|\\", r):
			return -1
		case r == '@':
			return ' '
		}
		return r
	}, value)
	return strings.Join(strings.Fields(address.ReplaceAllString(value, " ")), " ")
}

// address is the beginning of a link that programs make clickable by themselves.
var address = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*)?:/+|www\.`)

// truncateText shortens a value to a number of characters.
func truncateText(value string, most int) string {
	if runes := []rune(value); len(runes) > most {
		return strings.TrimSpace(string(runes[:most]))
	}
	return value
}
