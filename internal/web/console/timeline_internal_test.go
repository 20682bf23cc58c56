package console

import (
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
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

// TestTimelineTellsHowFindingsEnd: what was resolved is told as resolved, and what was taken back as retracted.
func TestTimelineTellsHowFindingsEnd(t *testing.T) {
	for resolution, told := range map[cyber.Resolution]string{
		cyber.ResolvedPasswordChanged: "Ocorrência resolvida em",
		cyber.ResolvedRetracted:       "Ocorrência retratada em",
	} {
		ended := cyber.Finding{Resolution: resolution, ResolvedAt: time.Unix(1, 0)}
		moments := findingMoments(personPage{Findings: []personFinding{{Finding: ended}}})
		if len(moments) != 2 || moments[1].Text != told {
			t.Errorf("%s: %+v", resolution, moments)
		}
	}
	if moments := findingMoments(personPage{Findings: []personFinding{{}}}); len(moments) != 1 {
		t.Errorf("an open finding has ended: %+v", moments)
	}
}
