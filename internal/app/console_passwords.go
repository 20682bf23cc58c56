package app

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/password"
)

// consolePasswords changes the corpora of this machine from the console.
type consolePasswords struct {
	*password.Library
	*consoleWork
	client *http.Client
}

// Import begins to replace a corpus by the files behind paths of the server.
func (p *consolePasswords) Import(ctx context.Context, a password.Algorithm, source string, paths []string) error {
	inputs, err := password.ListInputs(onlyPaths(paths)...)
	if err == nil && len(inputs) == 0 {
		err = password.ErrInput.With("paths", fault.ServerPaths)
	}
	if err != nil {
		return err
	}
	if source == "" {
		source = strings.Join(paths, ", ")
	}
	return p.importFrom(ctx, a, source, inputs, func() {})
}

// Upload keeps a file for the time of its import and begins it.
func (p *consolePasswords) Upload(ctx context.Context, a password.Algorithm, source, name string, file io.Reader) error {
	path, remove, err := p.keepUpload(name, file)
	if err != nil {
		return err
	}
	inputs, err := password.ListInputs(path)
	if err != nil {
		remove()
		return err
	}
	if source == "" {
		source = filepath.Base(name)
	}
	return p.importFrom(ctx, a, source, inputs, remove)
}

// importFrom starts a job that imports a password corpus; after is called when the inputs are no longer needed.
func (p *consolePasswords) importFrom(ctx context.Context, a password.Algorithm, source string, inputs []password.Input, after func()) error {
	return p.beginWork(ctx, password.KindImport, a.String(), password.ErrBusy, func(ctx context.Context, tell func(any)) (any, error) {
		var at password.Progress
		_, err := p.Library.ImportCorpus(ctx, password.Import{Algorithm: a, Inputs: inputs, Source: source, Progress: func(now password.Progress) {
			at = now
			tell(now)
		}})
		return at, err
	}, after)
}

// Download begins to fetch a corpus from the public range service; another address is for the command line.
func (p *consolePasswords) Download(ctx context.Context, a password.Algorithm) error {
	return p.beginWork(ctx, password.KindDownload, a.String(), password.ErrBusy, func(ctx context.Context, tell func(any)) (any, error) {
		var at password.Progress
		_, err := p.Library.DownloadCorpus(ctx, password.Download{Algorithm: a, Client: p.client, Progress: func(now password.Progress) {
			at = now
			tell(now)
		}})
		return at, err
	}, func() {})
}

// Verify begins to read every byte of the corpora.
func (p *consolePasswords) Verify(ctx context.Context) error {
	return p.beginWork(ctx, password.KindVerify, "", password.ErrBusy, func(ctx context.Context, _ func(any)) (any, error) {
		return struct{}{}, p.Library.VerifyFiles(ctx)
	}, func() {})
}
