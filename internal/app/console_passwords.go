package app

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // the corpus of breached passwords is listed under it
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/web/console"
)

// consolePasswords changes the corpora of this machine from the console.
type consolePasswords struct {
	*password.Library
	app *App
	*consoleWork
	client *http.Client
}

// Import begins to replace a corpus by files.
func (p *consolePasswords) Import(ctx context.Context, a password.Algorithm, source string, from console.Input) error {
	paths, remove, err := p.pathsOf(from)
	if err != nil {
		return err
	}
	inputs, err := password.ListInputs(paths...)
	if err == nil && len(inputs) == 0 {
		err = password.ErrInput.With("paths", fault.ServerPaths)
	}
	if err != nil {
		remove()
		return err
	}
	return p.importFrom(
		ctx, a, cmp.Or(source, strings.Join(from.Paths, ", "), filepath.Base(from.Name)), inputs, remove,
	)
}

// importFrom starts a job that imports a password corpus; after is called when the inputs are no longer needed.
func (p *consolePasswords) importFrom(
	ctx context.Context, a password.Algorithm, source string, inputs []password.Input, after func(),
) error {
	return p.beginFill(
		ctx,
		password.KindImport,
		a,
		after,
		func(ctx context.Context, tell func(password.Progress)) error {
			_, err := p.app.ImportPasswords(
				ctx, password.Import{Algorithm: a, Inputs: inputs, Source: source, Progress: tell},
			)
			return err
		},
	)
}

// beginFill starts a job that fills a corpus and keeps how far it came.
func (p *consolePasswords) beginFill(
	ctx context.Context, kind string, a password.Algorithm, after func(),
	fill func(context.Context, func(password.Progress)) error,
) error {
	return p.beginWork(ctx, kind, a.String(), password.ErrBusy, func(ctx context.Context, tell func(any)) (any, error) {
		var at password.Progress
		err := fill(ctx, func(now password.Progress) {
			at = now
			tell(now)
		})
		return at, err
	}, after)
}

// Download begins to fetch a corpus from the public range service; another address is for the command line.
func (p *consolePasswords) Download(ctx context.Context, a password.Algorithm) error {
	return p.beginFill(
		ctx,
		password.KindDownload,
		a,
		func() {},
		func(ctx context.Context, tell func(password.Progress)) error {
			_, err := p.app.DownloadPasswords(ctx, password.Download{Algorithm: a, Client: p.client, Progress: tell})
			return err
		},
	)
}

// Verify begins to read every byte of the corpora.
func (p *consolePasswords) Verify(ctx context.Context) error {
	return p.beginWork(
		ctx,
		password.KindVerify,
		"",
		password.ErrBusy,
		func(ctx context.Context, _ func(any)) (any, error) {
			return struct{}{}, p.Library.VerifyFiles(ctx)
		},
		func() {},
	)
}

// isExposedPassword looks an operator's new password up in our own corpora. It happens so rarely that they are opened
// for it.
func (a *App) isExposedPassword(text string) (bool, error) {
	if err := a.Passwords.EnsureDefault(context.Background()); err != nil && !errors.Is(err, password.ErrBusy) {
		return false, err
	}
	checker, err := password.NewChecker(a.Passwords, slog.New(slog.DiscardHandler))
	if err != nil {
		return false, err
	}
	defer checker.Close()
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	found, err := checker.CheckPrefix(hex.EncodeToString(sum[:])[:password.PrefixDigits], true)
	return found.Exposure != password.NotKnown, err
}
