package cyber

import (
	"context"
	"errors"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ReadyAnswer is an answer that operators keep ready for many persons.
type ReadyAnswer struct{ Title, Text string }

// SaveReadyAnswer keeps an answer in the place of the one that has its title.
func (c *Cases) SaveReadyAnswer(ctx context.Context, a ReadyAnswer) error {
	a.Title, a.Text = strings.TrimSpace(a.Title), strings.TrimSpace(a.Text)
	err := errors.Join(
		fault.When(!partner.IsPrintableLine(a.Title, 1, 100), ErrCaseInvalid.With("title", fault.PlainLength, 100)),
		checkParagraphs("text", a.Text, maxNote),
	)
	if err != nil {
		return err
	}
	return c.store.SaveReadyAnswer(ctx, a)
}
