package console

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

var errBroken = fault.New(fault.Unavailable, "store.broken")

// brokenServices, brokenFigures and brokenJobs are rules whose store cannot be read.
type (
	brokenServices struct{ cyber.ServiceStore }
	brokenFigures  struct{ Figures }
	brokenJobs     struct{ Jobs }
)

func (brokenServices) ListServices(context.Context) ([]cyber.Service, error) { return nil, errBroken }

func (brokenFigures) LastFigures(context.Context) (operator.Figures, error) {
	return operator.Figures{}, errBroken
}

func (brokenJobs) ListJobsAbout(context.Context, string, []string, int) ([]job.Job, error) {
	return nil, errBroken
}

// TestGatherReturnsErrors: what a page shows is gathered without HTTP. A rule that fails is the error of the page, at
// once: nothing is read after it, or the rules that are left out here would panic.
func TestGatherReturnsErrors(t *testing.T) {
	c := &Console{Options: Options{Now: time.Now, Rules: Rules{
		Services: cyber.NewServices(brokenServices{}, time.Now),
		Figures:  brokenFigures{},
		Jobs:     brokenJobs{},
	}}}
	for name, gather := range map[string]func() error{
		"the desk": func() error {
			_, _, err := c.gatherDesk(t.Context(), viewer{}, filter{})
			return err
		},
		"a service": func() error {
			_, err := c.gatherService(t.Context(), "sv_1")
			return err
		},
		"the overview": func() error {
			_, err := c.gatherOverview(t.Context(), operator.Operator{})
			return err
		},
		"a breach": func() error {
			_, err := c.gatherBreach(t.Context(), viewer{}, "loja")
			return err
		},
	} {
		if err := gather(); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
