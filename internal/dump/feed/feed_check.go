package feed

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// CheckTarget reports whether a feed's folder can be read, or its address answers, from this machine: a slip of the pen
// is told when the feed is saved and not after its first run. Buckets and vendors' APIs are left to the first run,
// which has their keys.
func (fs *Feeds) CheckTarget(ctx context.Context, f Feed) error {
	switch {
	case f.Kind == Folder && filepath.IsAbs(f.Target):
		_, err := os.ReadDir(f.Target)
		return fault.When(err != nil, ErrInvalid.With("target", fault.FolderUnreadable).Because(err))
	case f.Kind == List && strings.HasPrefix(f.Target, "http"):
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.Target, nil)
		if err != nil {
			return ErrInvalid.With("target", fault.HTTPSAddress).Because(err)
		}
		res, err := fs.Client.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		return fault.When(
			err != nil || res.StatusCode >= http.StatusBadRequest,
			ErrInvalid.With("target", fault.AddressSilent).Because(err),
		)
	}
	return nil
}

// CheckAccess reports whether a bucket can be listed or a vendor's API takes the key, from this machine and with its
// credentials.
func (fs *Feeds) CheckAccess(ctx context.Context, f Feed) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var err error
	switch {
	case f.Kind == HIBP:
		err = fs.newHIBPSweep(&f).checkKey(ctx)
	case f.Kind == Folder && !filepath.IsAbs(f.Target):
		b, openErr := fs.openFolder(f.Target)
		if err = openErr; err == nil {
			_, err = b.List(ctx, accessProbe)
		}
	}
	var refusal *fault.Error
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	return ErrInvalid.Because(err).Note("target: %s", failureReason(err))
}

// accessProbe is a name that no dump has, so that the list of a large bucket is one short answer.
const accessProbe = ".vigia-access-"

// checkTime is how long an address may take to answer when its feed is saved.
const checkTime = 10 * time.Second

// checkFeed refuses a feed whose name, interval or target does not fit its kind.
func checkFeed(f *Feed) error {
	_, mapping := f.Settings.parseMapping()
	u, err := url.Parse(f.Target)
	isWeb := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	isFolder := filepath.IsAbs(f.Target) || strings.HasPrefix(f.Target, "s3://") ||
		strings.HasPrefix(f.Target, "file://")
	return errors.Join(
		mapping,
		fault.When(!leak.ValidName(f.Name) || len(f.Name) > 40, ErrInvalid.With("name", fault.FeedName)),
		fault.When(f.Every < leastEvery, ErrInvalid.With("every", fault.AtLeastAMinute)),
		fault.When(f.Kind == Folder && !isFolder, ErrInvalid.With("target", fault.FolderOrBucket)),
		fault.When(f.Kind == List && !isWeb, ErrInvalid.With("target", fault.HTTPSAddress)),
		fault.When(f.Kind == HIBP && !isWeb, ErrInvalid.With("target", fault.APIAddress)),
		fault.When(
			!slices.Contains([]Kind{Folder, List, HIBP}, f.Kind),
			ErrInvalid.With("kind", fault.OneOf, "folder, list, hibp"),
		),
	)
}
