package app

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/web/console"
)

// consoleImports begins imports from the console.
type consoleImports struct {
	*leak.Breaches
	*consoleWork
}

// Import begins to import files.
func (i *consoleImports) Import(ctx context.Context, b cyber.Breach, noPairs bool, from console.Input) error {
	inputs, remove, err := i.listInputs(ctx, from)
	if err != nil {
		return err
	}
	return i.beginImport(ctx, intake.Spec{Breach: b, Inputs: inputs, NoPairs: noPairs}, remove)
}

// listInputs returns the inputs of an import; remove takes an upload away again, and was called if there are none.
func (i *consoleImports) listInputs(ctx context.Context, from console.Input) ([]intake.Input, func(), error) {
	paths, remove, err := i.pathsOf(from)
	if err != nil {
		return nil, nil, err
	}
	inputs, err := intake.ListInputs(ctx, http.DefaultClient, paths)
	if err != nil {
		remove()
	}
	return inputs, remove, err
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

// Renew begins to renew a breach by files.
func (i *consoleImports) Renew(
	ctx context.Context, breach string, noPairs bool, from console.Input,
) error {
	inputs, remove, err := i.listInputs(ctx, from)
	if err != nil {
		return err
	}
	return i.beginRenewal(
		ctx, intake.Spec{Breach: cyber.Breach{Name: breach}, Inputs: inputs, NoPairs: noPairs}, remove,
	)
}

// beginRenewal does with a renewal what beginImport does with an import. Its match is a job that a worker takes.
func (i *consoleImports) beginRenewal(ctx context.Context, spec intake.Spec, after func()) error {
	if err := i.app.Leaks.Importer.Renewable(ctx, spec); err != nil {
		after()
		return err
	}
	return i.behindAJob(ctx, intake.KindRenew, spec, after, func() error {
		_, err := i.app.Leaks.Foreground.AppendToBreach(i.ctx, spec)
		return err
	})
}

// Explain tells what a published breach says of one value, and what was known of it before.
func (i *consoleImports) Explain(
	ctx context.Context, name string, kind identifier.Kind, value string,
) (leak.Explanation, error) {
	fingerprint, err := i.app.Leaks.Importer.FingerprintOf(kind, value)
	if err != nil {
		return leak.Explanation{}, err
	}
	return i.app.Leaks.Library.ExplainFingerprint(ctx, name, fingerprint)
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
	return i.beginWork(
		ctx,
		leak.KindVerify,
		name,
		intake.ErrBusy.With("name", fault.BeingVerified),
		func(ctx context.Context, _ func(any)) (any, error) {
			keys, err := i.app.Leaks.Library.VerifyBreach(ctx, name)
			return leak.Verified{Keys: keys}, err
		},
		func() {},
	)
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
		_, err := i.app.Leaks.Foreground.ImportBreach(i.ctx, spec)
		return err
	})
}

// Retract takes a breach back. A worker withdraws its findings.
func (i *consoleImports) Retract(ctx context.Context, name string) (leak.Record, error) {
	return i.app.Leaks.Foreground.DiscardBreach(ctx, name)
}

// behindAJob leaves work to a goroutine of the server. The job is there before the page that shows it.
func (i *consoleImports) behindAJob(
	ctx context.Context, kind string, spec intake.Spec, after func(), work func() error,
) error {
	_, err := i.app.Store.Jobs.EnqueueJob(ctx, kind, spec.Breach.Name, map[string]int{"inputs": len(spec.Inputs)})
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
			i.log.Error(
				"a job of the console failed",
				"kind", kind,
				"breach", spec.Breach.Name,
				"cause", err.Error(),
			) // the job's row tells the operator
		}
		return nil
	})
	return nil
}
