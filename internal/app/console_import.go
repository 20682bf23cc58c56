package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"vigia/internal/alert"
	"vigia/internal/cyber"
	"vigia/internal/job"
	"vigia/internal/leak"
	"vigia/internal/partner"
	"vigia/internal/webhook"
)

// consoleImports begins imports from the console. They run in this process, as jobs that any console shows and cancels.
type consoleImports struct {
	*leak.Breaches
	app   *App
	log   *slog.Logger
	ctx   context.Context //nolint:containedctx // the server's own, which outlives the request that begins an import
	group *errgroup.Group
}

// uploads is where a dump lies for the time of its import; nobody but the service can look into the data folder.
func (i *consoleImports) uploads() string { return filepath.Join(i.app.Config.CorporaPath(), "upload") }

// sweep removes what a killed process left.
func (i *consoleImports) sweep() error {
	if err := os.RemoveAll(i.uploads()); err != nil {
		return fmt.Errorf("uploads: %w", err)
	}
	return nil
}

// Import begins to import the files behind paths.
func (i *consoleImports) Import(ctx context.Context, b cyber.Breach, paths []string) error {
	inputs, err := leak.Inputs(http.DefaultClient, onlyPaths(paths))
	if err != nil {
		return err
	}
	return i.begin(ctx, leak.Spec{Breach: b, Inputs: inputs}, func() {})
}

// onlyPaths leaves addresses out: what a page is told to fetch, the command line fetches.
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
func (i *consoleImports) Upload(ctx context.Context, b cyber.Breach, name string, file io.Reader) (err error) {
	folder := filepath.Join(i.uploads(), rand.Text())
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("keep upload: %w", err)
	}
	remove := func() {
		if err := os.RemoveAll(folder); err != nil {
			i.log.Error("an upload cannot be removed", "cause", err.Error())
		}
	}
	path := filepath.Join(folder, "upload"+filepath.Ext(filepath.Base(name)))
	if err := keepUpload(path, file); err != nil {
		remove()
		return err
	}
	inputs, err := leak.Inputs(http.DefaultClient, []string{path})
	if err != nil {
		remove()
		return err
	}
	return i.begin(ctx, leak.Spec{Breach: b, Inputs: inputs}, remove)
}

func keepUpload(path string, file io.Reader) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep upload: %w", err)
	}
	_, err = io.Copy(out, file)
	if err = errors.Join(err, out.Close()); err != nil {
		return leak.ErrInput.With("file: did not arrive whole").Because(err)
	}
	return nil
}

// begin refuses what can be refused at once and leaves the rest to a goroutine of the server.
func (i *consoleImports) begin(ctx context.Context, spec leak.Spec, after func()) error {
	if r, err := i.ByName(ctx, spec.Breach.Name); err == nil && r.State != leak.Importing {
		after()
		return leak.ErrBreachExists.With("name: taken")
	} else if err != nil && !errors.Is(err, leak.ErrBreachNotFound) {
		after()
		return err
	}
	// The job is there before the page that shows it.
	_, err := i.app.Store.AddJob(ctx, leak.KindImport, spec.Breach.Name, map[string]int{"inputs": len(spec.Inputs)})
	if err != nil {
		after()
		if errors.Is(err, job.ErrExists) {
			return leak.ErrBusy.With("name: it is being imported")
		}
		return err
	}
	i.group.Go(func() error {
		defer after()
		if _, err := i.app.ImportBreach(i.ctx, spec); err != nil && i.ctx.Err() == nil {
			i.log.Error("import failed", "breach", spec.Breach.Name, "cause", err.Error()) // the job's row tells the operator
		}
		return nil
	})
	return nil
}

// Retract takes a breach back. A worker withdraws its findings.
func (i *consoleImports) Retract(ctx context.Context, name string) (leak.Record, error) {
	r, err := i.Breaches.Retract(ctx, name)
	if err != nil {
		return r, err
	}
	if err := i.app.Leaks.Importer.Discard(name); err != nil && !errors.Is(err, leak.ErrBusy) {
		return r, err
	}
	return r, nil
}

// consoleFeeds lists feeds beside the rules that change them.
type consoleFeeds struct{ *leak.Feeds }

// All returns every feed.
func (f consoleFeeds) All(ctx context.Context) ([]leak.Feed, error) { return f.Store.Feeds(ctx) }

// consoleWebhooks joins the rules of endpoints to what may be called from here.
type consoleWebhooks struct {
	*alert.Endpoints
	guard  *webhook.Guard
	client *http.Client
}

// Create makes an endpoint whose address the guard allows.
func (w *consoleWebhooks) Create(ctx context.Context, id partner.ID, url string, types []string) (alert.Endpoint, error) {
	return w.Endpoints.Create(ctx, id, url, types, w.guard)
}

// Test sends once through the guard.
func (w *consoleWebhooks) Test(ctx context.Context, id partner.ID, endpoint alert.EndpointID) (webhook.Outcome, alert.EventID, error) {
	return w.Endpoints.Test(ctx, id, endpoint, w.client)
}
