package message

import (
	"slices"

	"github.com/vigiahq/vigia/internal/platform/fault"
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
