package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/intake"
)

// fetchDumpList fetches a list of dumps and imports those that are new. A list that did not change is not sent again.
func (fs *Feeds) fetchDumpList(ctx context.Context, f *Feed) error {
	list, tag, err := fs.fetchList(ctx, f)
	if err != nil || list == nil {
		return err
	}
	var failed error
	for _, m := range list {
		m.IsVendors = true
		var inputs []intake.Input
		for _, u := range m.URLs {
			if strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://") {
				inputs = append(inputs, intake.AddressInput(fs.Client, u))
			}
		}
		if err := fs.importItem(ctx, f, m.Name+" "+strings.Join(m.URLs, " "), m, inputs); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if failed == nil { // the next run looks at the whole list again otherwise
		f.State.Tag = tag
	}
	return failed
}

// answerTime bounds a call whose answer is small. The client itself is patient, because dumps are not.
const answerTime = time.Minute

// fetchList returns the list and its tag; no list when it did not change.
func (fs *Feeds) fetchList(ctx context.Context, f *Feed) (list []manifest, tag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.Target, nil)
	if err != nil {
		return nil, "", ErrInvalid.With("target", fault.NotAnAddress).Because(err)
	}
	if f.State.Tag != "" {
		req.Header.Set("If-None-Match", f.State.Tag)
	}
	if f.Secret != "" {
		req.Header.Set("Authorization", "Bearer "+f.Secret)
	}
	res, err := fs.Client.Do(req)
	if err != nil {
		return nil, "", fmt.Errorf("fetch list: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	if res.StatusCode == http.StatusNotModified {
		return nil, "", nil
	}
	if res.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("fetch list: answered %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxManifest+1))
	if err != nil {
		return nil, "", fmt.Errorf("fetch list: %w", err)
	}
	if len(text) > maxManifest {
		return nil, "", ErrInvalid.With("", fault.ListLargerThan, maxManifest)
	}
	list, err = parseManifests(text)
	return list, res.Header.Get("ETag"), err
}

// retryAfter reads how long a source asks to be left alone.
func retryAfter(h http.Header, otherwise time.Duration) time.Duration {
	var seconds int
	if _, err := fmt.Sscan(h.Get("Retry-After"), &seconds); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	return otherwise
}
