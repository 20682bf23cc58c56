package feed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/platform/bucket"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// runFolder looks for manifests, NAME.json, and imports the files they describe. A manifest is to be dropped after its
// files. Those that are not named by it are the ones called like the manifest, or in a folder of its name.
func (fs *Feeds) runFolder(ctx context.Context, f *Feed) error {
	b, err := fs.openFolder(f.Target)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	drops, err := b.List(ctx, "")
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	var failed error
	manifests := slices.DeleteFunc(
		slices.Clone(drops),
		func(d bucket.Object) bool { return !strings.HasSuffix(d.Key, ".json") || strings.Contains(d.Key, "/") },
	)
	for _, d := range manifests {
		if err := fs.takeDrop(ctx, f, b, d, drops); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", d.Key, err)) // the others are taken all the same
		}
	}
	f.State.Orphans, err = countOrphans(ctx, b, drops, manifests)
	return errors.Join(failed, err)
}

// countOrphans counts files that no manifest speaks of. A manifest is dropped last, so a file may be one for a while
// and that is no failure; one that stays so would be missed in silence.
func countOrphans(ctx context.Context, b bucket.Bucket, drops, manifests []bucket.Object) (int64, error) {
	left := slices.DeleteFunc(slices.Clone(drops), func(d bucket.Object) bool {
		return slices.ContainsFunc(
			manifests,
			func(m bucket.Object) bool { return m.Key == d.Key || isBeside(m.Key, d.Key) },
		)
	})
	for i := 0; len(left) > 0 && i < len(manifests); i++ {
		text, err := bucket.ReadAll(ctx, b, manifests[i].Key, maxManifest)
		if err != nil {
			return 0, err
		}
		var m manifest
		if json.Unmarshal(text, &m) != nil { // is told where it is taken
			continue
		}
		left = slices.DeleteFunc(left, func(d bucket.Object) bool {
			return slices.ContainsFunc(m.Files, func(name string) bool { return path.Clean(name) == d.Key })
		})
	}
	return int64(len(left)), nil
}

// isBeside reports whether a file is called like a manifest, or lies in a folder of its name.
func isBeside(manifest, file string) bool {
	base := strings.TrimSuffix(manifest, ".json")
	return strings.HasPrefix(file, base+".") || strings.HasPrefix(file, base+"/")
}

// openFolder opens the target of a folder feed: a path on this machine, or the address of a bucket.
func (fs *Feeds) openFolder(target string) (bucket.Bucket, error) {
	if filepath.IsAbs(target) {
		return bucket.NewFolderBucket(target)
	}
	return bucket.Open(target, fs.Client)
}

// takeDrop imports the dump that a manifest in the folder describes, once: a manifest that was taken before is passed
// over.
func (fs *Feeds) takeDrop(ctx context.Context, f *Feed, b bucket.Bucket, d bucket.Object, drops []bucket.Object) error {
	if taken, err := fs.Store.IsTaken(ctx, f.Name, d.Mark()); err != nil || taken {
		return err
	}
	if d.Size > maxManifest {
		return ErrInvalid.With("manifest", fault.LargerThan, maxManifest)
	}
	text, err := bucket.ReadAll(ctx, b, d.Key, maxManifest)
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return ErrInvalid.With("manifest", fault.NotJSON).Because(err)
	}
	m.Name, m.IsVendors = cmp.Or(m.Name, strings.TrimSuffix(d.Key, ".json")), m.IsVendors || f.Settings.Vendor
	var inputs []intake.Input
	for _, o := range drops {
		named := slices.ContainsFunc(m.Files, func(name string) bool { return path.Clean(name) == o.Key })
		beside := len(m.Files) == 0 && o.Key != d.Key && isBeside(d.Key, o.Key)
		if named || beside {
			inputs = append(inputs, dropInput(f.Target, b, o))
		}
	}
	return fs.importItem(ctx, f, d.Mark(), m, intake.JoinVolumes(inputs))
}

// dropInput reads a local file, or an object of a bucket, in place: archives that begin at their end need that.
func dropInput(target string, b bucket.Bucket, o bucket.Object) intake.Input {
	return intake.ReaderInput(o.Key, o.Mark(), o.Size, func(ctx context.Context) (io.ReadCloser, error) {
		if filepath.IsAbs(target) {
			return os.OpenInRoot(target, filepath.FromSlash(o.Key))
		}
		return intake.OpenObject(ctx, b, o), nil
	})
}
