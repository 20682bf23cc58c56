// Package message makes what a person reads of an event: e-mail, SMS, WhatsApp and push, in three languages.
//
// A text is this program's, the operator's for everybody, or the operator's for one partner; the most particular one
// counts. It may name nothing but a short list of words, none of which can hold a personal value: the event itself has
// none. Whatever else comes from outside, such as the title of a breach, is cut to a length and made inert, so that no
// value can add a link, a line or markup.
package message

import "github.com/vigiahq/vigia/internal/platform/fault"

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
