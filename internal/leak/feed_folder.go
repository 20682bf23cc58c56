package leak

import (
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

	"github.com/vigiahq/vigia/internal/bucket"
)

// drop is one object of a watched folder or bucket.
type drop struct {
	key, mark string
	size      int64
}

// runFolder looks for manifests, NAME.json, and imports the files they describe. A manifest is to be dropped after its files. Those
// that are not named by it are the ones called like the manifest, or in a folder of its name.
func (fs *Feeds) runFolder(ctx context.Context, f *Feed) error {
	b, err := openFolder(f.Target)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	drops, err := listDrops(ctx, b, "")
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	var failed error
	for _, d := range drops {
		if strings.HasSuffix(d.key, ".json") && !strings.Contains(d.key, "/") {
			if err := fs.takeDrop(ctx, f, b, d, drops); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", d.key, err)) // the others are taken all the same
			}
		}
	}
	return failed
}

func openFolder(target string) (bucket.Bucket, error) {
	if filepath.IsAbs(target) {
		return bucket.Folder(target)
	}
	return bucket.Open(target)
}

func listDrops(ctx context.Context, b bucket.Bucket, prefix string) ([]drop, error) {
	objects, err := b.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	drops := make([]drop, 0, len(objects))
	for _, o := range objects {
		drops = append(drops, drop{o.Key, fmt.Sprintf("%s %d %d", o.Key, o.Size, o.Modified.UnixNano()), o.Size})
	}
	return drops, nil
}

func (fs *Feeds) takeDrop(ctx context.Context, f *Feed, b bucket.Bucket, d drop, drops []drop) error {
	if taken, err := fs.Store.Taken(ctx, f.Name, d.mark); err != nil || taken {
		return err
	}
	if d.size > maxManifest {
		return ErrFeedInvalid.With("manifest: larger than %d bytes", maxManifest)
	}
	text, err := bucket.ReadAll(ctx, b, d.key, maxManifest)
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return ErrFeedInvalid.With("manifest: not JSON").Because(err)
	}
	base := strings.TrimSuffix(d.key, ".json")
	if m.Name == "" {
		m.Name = base
	}
	var inputs []Input
	for _, o := range drops {
		named := slices.ContainsFunc(m.Files, func(name string) bool { return path.Clean(name) == o.key })
		beside := len(m.Files) == 0 && o.key != d.key && (strings.HasPrefix(o.key, base+".") || strings.HasPrefix(o.key, base+"/"))
		if named || beside {
			inputs = append(inputs, dropInput(f.Target, b, o))
		}
	}
	return fs.take(ctx, f, d.mark, m, inputs)
}

// dropInput reads a local file, or an object of a bucket, in place: archives that begin at their end need that.
func dropInput(target string, b bucket.Bucket, o drop) Input {
	return ReaderInput(o.key, o.mark, o.size, func(ctx context.Context) (io.ReadCloser, error) {
		if filepath.IsAbs(target) {
			return os.OpenInRoot(target, filepath.FromSlash(o.key))
		}
		return &object{ctx: ctx, bucket: b, key: o.key, size: o.size}, nil
	})
}
