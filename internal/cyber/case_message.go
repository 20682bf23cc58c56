package cyber

import (
	"context"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Message is what a person writes.
type Message struct {
	Text string
	// Attachment is nil when nothing comes with it.
	Attachment *Attachment
}

// checkMessage refuses a message that is empty, too long or has too many attachments.
func (m Message) checkMessage() error {
	if err := checkParagraphs("text", m.Text, maxNote); err != nil {
		return err
	}
	if m.Attachment == nil {
		return nil
	}
	if !partner.IsPrintableLine(m.Attachment.Name, 1, maxAttachmentName) {
		return ErrCaseInvalid.With("attachment.name", fault.PlainLength, maxAttachmentName)
	}
	return checkParagraphs("attachment.text", m.Attachment.Text, maxAttachment)
}

// AddMessage adds what the person writes. A case that waited for them goes on, and one that was resolved is open again.
func (c *Cases) AddMessage(ctx context.Context, key CaseKey, m Message) (Case, error) {
	m.Text = strings.TrimSpace(m.Text)
	if err := m.checkMessage(); err != nil {
		return Case{}, err
	}
	return c.store.UpdateCase(ctx, key, func(cs *Case) (change CaseChange, err error) {
		now := c.now()
		next := cs.Status
		switch cs.Status {
		case CaseWaiting:
			next = CaseInProgress
		case CaseResolved:
			next = CaseOpen
		case CaseClosed, CaseCancelled:
			return change, ErrCaseEnded.With("id", fault.CaseClosed)
		case CaseOpen, CaseInProgress:
		}
		change.Lines = append(change.Lines, cs.historyLine(MoveMessage, "", m.Text, now))
		if m.Attachment != nil {
			change.Lines = append(change.Lines, cs.historyLine(MoveAttachment, "", m.Attachment.historyNote(), now))
		}
		if next == cs.Status {
			return change, nil
		}
		move, err := cs.moveToStatus(next, "", "", now)
		if err != nil {
			return CaseChange{}, err
		}
		change.Lines = append(change.Lines, move)
		return change, nil
	})
}

// Attachment is a text that a person adds to a message: a mail header, a log, a copied page.
type Attachment struct{ Name, Text string }

// historyNote returns how the history keeps an attachment: its name in the first line.
func (a Attachment) historyNote() string { return a.Name + "\n" + a.Text }

// ParseAttachment reads the line of an attachment.
func (m CaseMove) ParseAttachment() Attachment {
	name, text, _ := strings.Cut(m.Note, "\n")
	return Attachment{name, text}
}
