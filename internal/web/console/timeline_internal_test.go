package console

import (
	"testing"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/subject"
)

// TestEventsHaveNames: a line about a person never shows the code of an event.
func TestEventsHaveNames(t *testing.T) {
	for _, kind := range alert.Types {
		page := personPage{}
		page.Events = append(page.Events, subject.Event{Type: string(kind)})
		moments := alertMoments(page)
		if len(moments) != 1 || moments[0].Name == string(kind) || moments[0].Name == "" {
			t.Errorf("%s: %+v", kind, moments)
		}
	}
}
