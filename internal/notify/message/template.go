package message

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Key names a text.
type Key struct {
	Event    alert.Type
	Channel  Channel
	Language partner.Language
}

// CheckKey refuses a text that there cannot be.
func (k Key) CheckKey() error {
	if !slices.Contains(ListEventTypes(), k.Event) {
		return ErrInvalid.With("event", fault.NoMessageTells)
	}
	if _, err := ParseChannel(string(k.Channel)); err != nil {
		return err
	}
	if k.Language == "" {
		return partner.ErrLanguage.With("lang", fault.OneOf, "pt-BR, es, en")
	}
	_, err := partner.ParseLanguage(string(k.Language))
	return err
}

// ListEventTypes returns the types of events that people are told of: all but the test of an endpoint.
func ListEventTypes() []alert.Type {
	return slices.DeleteFunc(slices.Clone(alert.Types), func(t alert.Type) bool { return t == alert.WebhookTest })
}

// ListKeys returns all texts there are.
func ListKeys() (list []Key) {
	for _, event := range ListEventTypes() {
		for _, channel := range ListChannels() {
			for _, language := range partner.ListLanguages() {
				list = append(list, Key{event, channel, language})
			}
		}
	}
	return list
}

// Template is a text before its words are filled in.
type Template struct {
	Key
	// Subject is that of an e-mail and the title of a push; the other channels have none.
	Subject, Text string
	// Origin is whose text it is.
	Origin Origin
}

// Origin is who wrote a text.
type Origin string

// The origins.
const (
	BuiltIn    Origin = "built-in"
	ByOperator Origin = "operator"
	ForPartner Origin = "partner"
)

// The most that a channel takes, with every word at its longest: characters, of an SMS seven-bit ones.
const (
	maxSMS      = 160
	maxPush     = 240
	maxTitle    = 65
	maxSubject  = 150
	maxWhatsApp = 1024
	maxEmail    = 10_000
)

// braced is what stands in braces in a text, right or wrong.
var braced = regexp.MustCompile(`\{[^{}]*\}?|\}`)

// CheckTemplate refuses a text that names what it may not, has no text, or could become longer than its channel takes.
func (t Template) CheckTemplate() error {
	if err := t.Key.CheckKey(); err != nil {
		return err
	}
	hasSubject := strings.TrimSpace(t.Subject) != ""
	err := errors.Join(
		fault.When(t.Channel.hasTitle() && !hasSubject, ErrInvalid.With("subject", fault.SubjectNeeded)),
		fault.When(!t.Channel.hasTitle() && hasSubject, ErrInvalid.With("subject", fault.SubjectNotTaken)),
		fault.When(
			strings.TrimSpace(t.Text) == "" || !utf8.ValidString(t.Text) || !utf8.ValidString(t.Subject) ||
				strings.ContainsAny(t.Subject, "\r\n"),
			ErrInvalid.With("text", fault.TextBroken),
		),
	)
	if err != nil {
		return err
	}
	for _, found := range braced.FindAllString(t.Subject+"\n"+t.Text, -1) {
		if !slices.ContainsFunc(ListWords(t.Event), func(w Word) bool { return found == "{"+string(w)+"}" }) {
			return ErrInvalid.With("text", fault.WordsInBraces, joinWords(t.Event))
		}
	}
	return t.checkLength()
}

// checkLength holds a text, its words at their longest, against what its channel takes.
func (t Template) checkLength() error {
	full := map[Word]string{}
	for _, w := range ListWords(t.Event) {
		full[w] = strings.Repeat("x", longest[w])
	}
	subject, text := utf8.RuneCountInString(fillWords(t.Subject, full)), utf8.RuneCountInString(fillWords(t.Text, full))
	switch {
	case t.Channel == SMS && countSeptets(foldToGSM(fillWords(t.Text, full))) > maxSMS:
		return ErrInvalid.With("text", fault.SMSLength, maxSMS)
	case t.Channel == Push && (text > maxPush || subject > maxTitle):
		return ErrInvalid.With("text", fault.PushLength, maxTitle, maxPush)
	case t.Channel == WhatsApp && text > maxWhatsApp:
		return ErrInvalid.With("text", fault.WhatsAppLength, maxWhatsApp)
	case t.Channel == Email && (text > maxEmail || subject > maxSubject):
		return ErrInvalid.With("text", fault.EmailLength, maxSubject, maxEmail)
	}
	if t.Channel != WhatsApp {
		return nil
	}
	trimmed := strings.TrimSpace(t.Text)
	if strings.HasPrefix(trimmed, "{") || strings.HasSuffix(trimmed, "}") {
		return ErrInvalid.With("text", fault.WhatsAppEnds)
	}
	return nil
}
