// Package message makes what a person reads of an event: e-mail, SMS, WhatsApp and push, in three languages.
//
// A text is this program's, the operator's for everybody, or the operator's for one partner; the most particular one
// counts. It may name nothing but a short list of words, none of which can hold a personal value: the event itself has
// none. Whatever else comes from outside, such as the title of a breach, is cut to a length and made inert, so that no
// value can add a link, a line or markup.
package message

import (
	"slices"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// Channel is how a message reaches its person.
type Channel string

// The channels.
const (
	Email    Channel = "email"
	SMS      Channel = "sms"
	WhatsApp Channel = "whatsapp"
	Push     Channel = "push"
)

// ListChannels lists them.
func ListChannels() []Channel { return []Channel{Email, SMS, WhatsApp, Push} }

// ParseChannel reads the word of a request.
func ParseChannel(s string) (Channel, error) {
	if c := Channel(s); slices.Contains(ListChannels(), c) {
		return c, nil
	}
	return "", ErrChannel.With("channel", fault.OneOf, "email, sms, whatsapp, push")
}

// hasTitle reports whether messages of the channel have a subject or title.
func (c Channel) hasTitle() bool { return c == Email || c == Push }

// Faults of messages.
var (
	ErrChannel = fault.New(fault.Invalid, "message.channel_invalid")
	// ErrNone means that there is no message for such an event.
	ErrNone = fault.New(fault.NotFound, "message.none")
	// ErrInvalid is an operator's mistake in a text.
	ErrInvalid = fault.New(fault.Invalid, "message.invalid")
	// ErrUnchanged means that there is nothing to take back.
	ErrUnchanged = fault.New(fault.NotFound, "message.unchanged")
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

// Message is what is sent.
type Message struct {
	Key
	Subject, Text string
	// HTML is the text of an e-mail once more.
	HTML string
	// Template is what a WhatsApp message is sent by.
	Template *Registered
}

// Registered is a WhatsApp template as it is registered at Meta, and what fills it.
type Registered struct {
	Name, Language, Body string
	Parameters           []string
}
