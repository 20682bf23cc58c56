package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/platform/fault"
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
		failed = errors.Join(failed, fs.importItem(ctx, f, m.Name+" "+strings.Join(m.URLs, " "), m, inputs))
	}
	if failed == nil { // the next run looks at the whole list again otherwise
		f.State.Tag = tag
	}
	return failed
}

// answerTime bounds a call whose answer is small. The client itself is patient, because dumps are not.
const answerTime = time.Minute

// fetchAnswer asks a source for something small and returns its answer with at most so many bytes and one more of its
// body. Headers without a value are left out. No error repeats the address, which may be a person's or hold a secret.
func (fs *Feeds) fetchAnswer(
	ctx context.Context, address string, headers map[string]string, most int64,
) (status int, header http.Header, text []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, nil, ErrInvalid.With("target", fault.NotAnAddress)
	}
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := fs.Client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) { // its text holds the whole address
			err = ue.Err
		}
		return 0, nil, nil, err
	}
	defer func() { _ = res.Body.Close() }() // only read
	text, err = io.ReadAll(io.LimitReader(res.Body, most+1))
	return res.StatusCode, res.Header, text, err
}

// fetchList returns the list and its tag; no list when it did not change.
func (fs *Feeds) fetchList(ctx context.Context, f *Feed) (list []manifest, tag string, err error) {
	headers := map[string]string{"If-None-Match": f.State.Tag}
	if f.Secret != "" {
		headers["Authorization"] = "Bearer " + f.Secret
	}
	status, header, text, err := fs.fetchAnswer(ctx, f.Target, headers, maxManifest)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("fetch list: %w", err)
	case status == http.StatusNotModified:
		return nil, "", nil
	case status != http.StatusOK:
		return nil, "", fmt.Errorf("fetch list: answered %d", status)
	case len(text) > maxManifest:
		return nil, "", ErrInvalid.With("", fault.ListLargerThan, maxManifest)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, "", ErrInvalid.With("", fault.NoListOfDumps).Because(err)
	}
	return list, header.Get("ETag"), nil
}

// retryAfter reads how long a source asks to be left alone.
func retryAfter(h http.Header, otherwise time.Duration) time.Duration {
	var seconds int
	if _, err := fmt.Sscan(h.Get("Retry-After"), &seconds); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	return otherwise
}
