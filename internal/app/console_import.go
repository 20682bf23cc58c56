package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/webhook"
)

// consoleImports begins imports from the console.
type consoleImports struct {
	*leak.Breaches
	*consoleWork
}

// Import begins to import the files behind paths.
func (i *consoleImports) Import(ctx context.Context, b cyber.Breach, noPairs bool, paths []string) error {
	inputs, err := intake.ListInputs(ctx, http.DefaultClient, onlyPaths(paths))
	if err != nil {
		return err
	}
	return i.beginImport(ctx, intake.Spec{Breach: b, Inputs: inputs, NoPairs: noPairs}, func() {})
}

// onlyPaths returns the paths without URLs: the console must not make the server fetch addresses; the command line may.
func onlyPaths(paths []string) []string {
	kept := make([]string, 0, len(paths))
	for _, p := range paths {
		if filepath.IsAbs(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// Upload keeps a file for the time of its import and begins it.
func (i *consoleImports) Upload(ctx context.Context, b cyber.Breach, noPairs bool, name string, file io.Reader) error {
	path, remove, err := i.keepUpload(name, file)
	if err != nil {
		return err
	}
	inputs, err := intake.ListInputs(ctx, http.DefaultClient, []string{path})
	if err != nil {
		remove()
		return err
	}
	return i.beginImport(ctx, intake.Spec{Breach: b, Inputs: inputs, NoPairs: noPairs}, remove)
}

// Renew begins to renew a breach by the files behind paths.
func (i *consoleImports) Renew(ctx context.Context, way intake.Way, breach string, noPairs bool, paths []string) error {
	inputs, err := intake.ListInputs(ctx, http.DefaultClient, onlyPaths(paths))
	if err != nil {
		return err
	}
	return i.beginRenewal(ctx, way, intake.Spec{Breach: cyber.Breach{Name: breach}, Inputs: inputs, NoPairs: noPairs}, func() {})
}

// RenewUpload keeps a file for the time of the renewal and begins it.
func (i *consoleImports) RenewUpload(ctx context.Context, way intake.Way, breach string, noPairs bool, name string, file io.Reader) error {
	path, remove, err := i.keepUpload(name, file)
	if err != nil {
		return err
	}
	inputs, err := intake.ListInputs(ctx, http.DefaultClient, []string{path})
	if err != nil {
		remove()
		return err
	}
	return i.beginRenewal(ctx, way, intake.Spec{Breach: cyber.Breach{Name: breach}, Inputs: inputs, NoPairs: noPairs}, remove)
}

// beginRenewal does with a renewal what beginImport does with an import. Its match is a job that a worker takes.
func (i *consoleImports) beginRenewal(ctx context.Context, way intake.Way, spec intake.Spec, after func()) error {
	if err := i.app.Leaks.Importer.Renewable(ctx, spec); err != nil {
		after()
		return err
	}
	return i.behindAJob(ctx, intake.KindRenew, spec, after, func() error {
		_, err := i.app.RenewBreach(i.ctx, way, spec)
		return err
	})
}

// Verify begins to read a breach's segment from the first byte to the last.
func (i *consoleImports) Verify(ctx context.Context, name string) error {
	r, err := i.FindBreach(ctx, name)
	if err == nil && r.State != leak.Published {
		err = leak.ErrBreachNotFound.With("name", fault.NoSegment)
	}
	if err != nil {
		return err
	}
	return i.beginWork(ctx, leak.KindVerify, name, intake.ErrBusy.With("name", fault.BeingVerified), func(ctx context.Context, _ func(any)) (any, error) {
		keys, err := i.app.Leaks.VerifySegment(ctx, name)
		return leak.Verified{Keys: keys}, err
	}, func() {})
}

// beginImport refuses what can be refused at once and leaves the rest to a goroutine of the server. The import takes
// its job itself, so that the command line can go on with it.
func (i *consoleImports) beginImport(ctx context.Context, spec intake.Spec, after func()) error {
	if r, err := i.FindBreach(ctx, spec.Breach.Name); err == nil && r.State != leak.Importing {
		after()
		return leak.ErrBreachExists.With("name", fault.Taken)
	} else if err != nil && !errors.Is(err, leak.ErrBreachNotFound) {
		after()
		return err
	}
	return i.behindAJob(ctx, intake.KindImport, spec, after, func() error {
		_, err := i.app.ImportBreach(i.ctx, spec)
		return err
	})
}

// Retract takes a breach back. A worker withdraws its findings.
func (i *consoleImports) Retract(ctx context.Context, name string) (leak.Record, error) {
	return i.app.Leaks.Retract(ctx, name)
}

// consoleSubjects erases people and keeps the tombstones in this machine's log.
type consoleSubjects struct {
	*subject.Rights
	app *App
}

// Erase erases a person, also when the browser does not wait for it: half an erasure would be worse than a lost answer.
func (s consoleSubjects) Erase(ctx context.Context, who operator.Actor, p subject.Person, reason string) (subject.Outcome, error) {
	return s.app.EraseSubject(context.WithoutCancel(ctx), who, p, reason)
}

// consoleKeys are the keys that seal personal data, in the key file of this machine.
type consoleKeys struct{ app *App }

// State names the key that seals and all that open.
func (k consoleKeys) State() (primary uint32, all []uint32, file string) {
	return k.app.Keys.PrimaryID(), k.app.Keys.IDs(), k.app.Keys.Path()
}

// Count counts what the newest key has sealed and what older ones have; it reads every sealed value.
func (k consoleKeys) Count(ctx context.Context) (current, old int64, err error) {
	return k.app.Store.Upkeep.SealedUnder(ctx)
}

// Rotate makes a new key and has workers rewrite what older ones sealed.
func (k consoleKeys) Rotate(ctx context.Context) error { return k.app.RotateKeys(ctx) }

// consoleFeeds lists feeds beside the rules that change them.
type consoleFeeds struct{ *feed.Feeds }

// All returns every feed.
func (f consoleFeeds) All(ctx context.Context) ([]feed.Feed, error) { return f.Store.ListFeeds(ctx) }

// consoleWebhooks joins the rules of endpoints to what may be called from here.
type consoleWebhooks struct {
	*alert.Endpoints
	guard  *webhook.Guard
	client *http.Client
}

// Create makes an endpoint whose address the guard allows.
func (w *consoleWebhooks) Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error) {
	return w.Endpoints.CreateEndpoint(ctx, id, url, types, w.guard)
}

// Test sends a sample of a type once through the guard.
func (w *consoleWebhooks) Test(ctx context.Context, id partner.ID, endpoint alert.EndpointID, t alert.Type) (webhook.Outcome, alert.EventID, error) {
	return w.Endpoints.SendTestEvent(ctx, id, endpoint, t, w.client)
}

// behindAJob leaves work to a goroutine of the server. The job is there before the page that shows it.
func (i *consoleImports) behindAJob(ctx context.Context, kind string, spec intake.Spec, after func(), work func() error) error {
	_, err := i.app.Store.Jobs.AddJob(ctx, kind, spec.Breach.Name, map[string]int{"inputs": len(spec.Inputs)})
	if err != nil {
		after()
		if errors.Is(err, job.ErrExists) {
			return intake.ErrBusy.With("name", fault.BeingImported)
		}
		return err
	}
	i.group.Go(func() error {
		defer after()
		if err := work(); err != nil && i.ctx.Err() == nil {
			i.log.Error("a job of the console failed", "kind", kind, "breach", spec.Breach.Name, "cause", err.Error()) // the job's row tells the operator
		}
		return nil
	})
	return nil
}
