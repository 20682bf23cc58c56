package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/platform/bucket"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Input is one source of bytes: a file, or what an address answers with.
type Input struct {
	// Name tells a person what it is.
	Name string
	// Size in bytes; -1 when it is not known before reading.
	Size int64
	// Mark changes when the content does: an interrupted import goes on only with the same inputs.
	Mark string
	open func(ctx context.Context) (io.ReadCloser, error)
	// path is where it lies on this machine, and of a set its first volume; empty for what is fetched.
	path string
	// isSet says that it is the volumes of a split archive.
	isSet bool
	// inner is what of its name belongs to the dump: the path below the folder that was asked for.
	inner string
	// refused is why it is not read, in plain words: a link, a device.
	refused string
}

// ListInputs lists the files behind arguments: files, folders with all that is below them, http or https addresses and
// objects of a bucket, s3://bucket/prefix?region=..., both of which client fetches. The volumes of a split archive are
// one input. Links, devices and pipes inside folders are not read, and stand in the list as such.
func ListInputs(ctx context.Context, client *http.Client, args []string) ([]Input, error) {
	var inputs []Input
	for _, arg := range args {
		var more []Input
		var err error
		switch {
		case strings.HasPrefix(arg, "https://"), strings.HasPrefix(arg, "http://"):
			more = []Input{AddressInput(client, arg)}
		case strings.HasPrefix(arg, "s3://"), strings.HasPrefix(arg, "file://"):
			more, err = bucketInputs(ctx, client, arg)
		default:
			more, err = fileInputs(arg)
		}
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, JoinVolumes(more)...)
	}
	if len(inputs) == 0 {
		return nil, ErrInput.With("inputs", fault.NoFile)
	}
	return inputs, nil
}

// fileInputs returns the regular files at a path or below it. Other files, such as sockets, are listed with the reason
// why they are refused; links within a folder are not followed.
func fileInputs(arg string) ([]Input, error) {
	path, err := filepath.Abs(arg)
	if err != nil {
		return nil, ErrInput.With("inputs", fault.NotAPath).Because(err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // the argument itself may be a link
		return nil, ErrInput.With("inputs", fault.FileUnreadable, arg).Because(err)
	}
	var inputs []Input
	err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		in := fileInput(p, info)
		if in.inner, err = filepath.Rel(filepath.Dir(path), p); err != nil {
			return err
		}
		in.refused = irregular(info.Mode())
		inputs = append(inputs, in)
		return nil
	})
	if err != nil {
		return nil, ErrInput.With("inputs", fault.FileUnreadable, arg).Because(err)
	}
	return inputs, nil
}

// irregular says what a file is that is none to be read.
func irregular(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link: not followed"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe: not read"
	}
	return "a device or socket: not read"
}

// fileInput returns a file as an input. Its mark has the size and time, so that an import is not resumed on a changed
// file.
func fileInput(path string, info fs.FileInfo) Input {
	return Input{
		Name: path, Size: info.Size(), Mark: fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()),
		path: path,
		open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) },
	}
}

// AddressInput returns what an http or https address answers with; client fetches it.
func AddressInput(client *http.Client, address string) Input {
	return Input{
		Name: strings.TrimSuffix(ShownAddress(address), "/"),
		Size: -1,
		Mark: addressMark(address),
		open: func(ctx context.Context) (io.ReadCloser, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
			if err != nil {
				return nil, ErrInput.With("inputs", fault.NotAnAddress).Because(err)
			}
			res, err := client.Do(req)
			if err != nil {
				return nil, fmt.Errorf("fetch input: %w", err)
			}
			if res.StatusCode != http.StatusOK {
				return nil, errors.Join(fmt.Errorf("fetch input: answered %d", res.StatusCode), res.Body.Close())
			}
			return res.Body, nil
		},
	}
}

// secretAddress reports whether an address may hold a secret: what signs a link stands behind its question mark.
func secretAddress(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.User != nil || u.RawQuery != ""
}

// addressMark returns an address in a form that reveals no secret.
func addressMark(address string) string {
	if !secretAddress(address) {
		return address
	}
	sum := sha256.Sum256([]byte(address))
	return ShownAddress(address) + " " + hex.EncodeToString(sum[:16])
}

// ReaderInput returns an input that the given function opens, such as an object of a bucket.
func ReaderInput(name, mark string, size int64, open func(ctx context.Context) (io.ReadCloser, error)) Input {
	return Input{Name: name, Size: size, Mark: mark, open: open, inner: name}
}

// bucketInputs lists the objects of a bucket whose names begin with what follows the bucket's name.
func bucketInputs(ctx context.Context, client *http.Client, arg string) ([]Input, error) {
	address, prefix, err := splitBucket(arg)
	if err != nil {
		return nil, err
	}
	entries, err := openAndList(ctx, client, address, prefix)
	if err != nil {
		return nil, ErrInput.With("inputs", fault.BucketUnreadable).Because(err)
	}
	inputs := make([]Input, 0, len(entries))
	for _, e := range entries {
		inputs = append(inputs, bucketInput(client, address, e))
	}
	return inputs, nil
}

// openAndList lists the objects of a bucket whose names begin with prefix.
func openAndList(ctx context.Context, client *http.Client, address, prefix string) ([]bucket.Object, error) {
	b, err := bucket.Open(address, client)
	if err != nil {
		return nil, err
	}
	return b.List(ctx, prefix)
}

// OpenObject reads an object of a bucket in place: archives that begin at their end need that.
func OpenObject(ctx context.Context, b bucket.Bucket, o bucket.Object) io.ReadCloser {
	r := &object{ctx: ctx, bucket: b, key: o.Key, size: o.Size}
	return objectReader{io.NewSectionReader(r, 0, o.Size), r}
}

// splitBucket tells a bucket's address from the names in it: s3://bucket/prefix?region=..., and for files the last
// element of the path.
func splitBucket(arg string) (address, prefix string, err error) {
	u, err := url.Parse(arg)
	if err != nil {
		return "", "", ErrInput.With("inputs", fault.NotABucket).Because(err)
	}
	if u.Scheme == "file" {
		if !strings.HasSuffix(u.Path, "/") {
			u.Path, prefix = path.Split(u.Path)
		}
	} else {
		u.Path, prefix = "", strings.TrimPrefix(u.Path, "/")
	}
	return u.String(), prefix, nil
}

// bucketInput opens the bucket anew for each reading, so that it can be used at any time.
func bucketInput(client *http.Client, address string, e bucket.Object) Input {
	in := ReaderInput(
		ShownAddress(address)+e.Key,
		address+" "+e.Mark(),
		e.Size,
		func(ctx context.Context) (io.ReadCloser, error) {
			b, err := bucket.Open(address, client)
			if err != nil {
				return nil, err
			}
			return OpenObject(ctx, b, e), nil
		},
	)
	in.inner = e.Key
	return in
}

// ShownAddress returns an address as people may read it: what follows the question mark can hold secrets. A path of
// this machine is shown as it is.
func ShownAddress(address string) string {
	if !strings.Contains(address, "://") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	u.User, u.RawQuery = nil, ""
	return strings.TrimSuffix(u.String(), "/") + "/"
}

// object reads an object of a bucket as if it were a file: in one stream while reads follow each other, in a new one
// from the offset asked for otherwise. So archives that begin at their end are read where they are.
type object struct {
	ctx    context.Context //nolint:containedctx // io.ReaderAt takes none; an object ends with its import
	bucket bucket.Bucket
	key    string
	size   int64

	mu     sync.Mutex
	stream io.ReadCloser
	pos    int64 // of the stream
}

// objectReader reads an object on, in place and from anywhere.
type objectReader struct {
	*io.SectionReader
	io.Closer
}

// passOver is up to how many bytes are read and thrown away rather than asked for anew.
const passOver = 256 << 10

// ReadAt reads from an offset, with a stream of its own if need be.
func (o *object) ReadAt(p []byte, off int64) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if off >= o.size {
		return 0, io.EOF
	}
	if err := o.moveStream(off); err != nil {
		return 0, err
	}
	n, err = io.ReadFull(o.stream, p[:min(int64(len(p)), o.size-off)])
	o.pos += int64(n)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// moveStream brings the stream to an offset.
func (o *object) moveStream(off int64) error {
	if gap := off - o.pos; o.stream != nil && gap > 0 && gap <= passOver {
		n, err := io.CopyN(io.Discard, o.stream, gap)
		o.pos += n
		if err == nil {
			return nil
		}
	}
	if o.stream != nil && o.pos == off {
		return nil
	}
	if err := o.closeStream(); err != nil {
		return err
	}
	r, err := o.bucket.Read(o.ctx, o.key, off)
	if err != nil {
		return fmt.Errorf("read object: %w", err)
	}
	o.stream, o.pos = r, off
	return nil
}

func (o *object) closeStream() error {
	if o.stream == nil {
		return nil
	}
	err := o.stream.Close()
	o.stream = nil
	return err
}

// Close lets go of the stream.
func (o *object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closeStream()
}

// The names of volumes: a.7z.001, a.z01 with a.zip, a.part01.rar, a.r00 with a.rar.
var (
	numbered  = regexp.MustCompile(`(?i)^(.+)\.(\d{2,4})$`)
	zipVolume = regexp.MustCompile(`(?i)^(.+)\.z(\d{2,3})$`)
	rarPart   = regexp.MustCompile(`(?i)^(.+)\.part(\d{1,5})\.rar$`)
	rarOld    = regexp.MustCompile(`(?i)^(.+)\.r(\d{2})$`)
)

// volume is what a name says: the set it belongs to and its place there.
type volume struct {
	set   string
	place int
}

// volumeOf reads a name. The file that holds the end of a zip, or the beginning of an old RAR, has no number.
func volumeOf(name string) (volume, bool) {
	dir, base := path.Split(strings.ReplaceAll(name, "\\", "/"))
	const last = 1 << 20
	for i, pattern := range []*regexp.Regexp{rarPart, numbered, zipVolume, rarOld} {
		if m := pattern.FindStringSubmatch(base); m != nil {
			n, err := strconv.Atoi(m[2])
			return volume{fmt.Sprintf("%s%s %d", dir, strings.ToLower(m[1]), i), n}, err == nil
		}
	}
	switch lower := strings.ToLower(base); {
	case strings.HasSuffix(lower, ".zip"):
		return volume{fmt.Sprintf("%s%s %d", dir, strings.TrimSuffix(lower, ".zip"), 2), last}, true
	case strings.HasSuffix(lower, ".rar"):
		return volume{fmt.Sprintf("%s%s %d", dir, strings.TrimSuffix(lower, ".rar"), 3), -1}, true
	}
	return volume{}, false
}

// JoinVolumes makes one input of the volumes of each set. It stands where the first of them stood.
func JoinVolumes(inputs []Input) []Input {
	sets := map[string][]int{}
	places := make([]int, len(inputs))
	for i, in := range inputs {
		if v, ok := volumeOf(in.Name); ok && in.refused == "" && in.Size > 0 && in.open != nil {
			sets[v.set], places[i] = append(sets[v.set], i), v.place
		}
	}
	gone := make([]bool, len(inputs))
	joined := append([]Input{}, inputs...)
	for _, members := range sets {
		first := slices.Min(members)
		slices.SortFunc(members, func(a, b int) int { return places[a] - places[b] })
		if len(members) < 2 || places[members[0]] > 1 {
			continue
		}
		var volumes []Input
		for _, i := range members {
			volumes, gone[i] = append(volumes, inputs[i]), i != first
		}
		joined[first] = setInput(volumes)
	}
	kept := joined[:0]
	for i, in := range joined {
		if !gone[i] {
			kept = append(kept, in)
		}
	}
	return kept
}

// setInput is one input of several volumes.
func setInput(volumes []Input) Input {
	in := Input{Name: fmt.Sprintf("%s and %d more volumes", volumes[0].Name, len(volumes)-1), inner: volumes[0].inner}
	var marks []string
	for _, v := range volumes {
		in.Size += v.Size
		marks = append(marks, v.Mark)
	}
	in.Mark = strings.Join(marks, "\n")
	in.path, in.isSet = volumes[0].path, true
	in.open = func(ctx context.Context) (io.ReadCloser, error) { return openVolumes(ctx, volumes) }
	return in
}

// volumeSet is an open set. A volume is closed with it.
type volumeSet struct {
	*container.Set
	close []io.Closer
}

func openVolumes(ctx context.Context, volumes []Input) (io.ReadCloser, error) {
	s := &volumeSet{}
	var parts []container.Volume
	for _, v := range volumes {
		r, err := v.open(ctx)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.close = append(s.close, r)
		at, ok := r.(io.ReaderAt)
		if !ok {
			return nil, errors.Join(ErrInput.With("inputs", fault.FileUnreadableInPlace, v.Name), s.Close())
		}
		parts = append(
			parts,
			container.Volume{Name: path.Base(strings.ReplaceAll(v.Name, "\\", "/")), At: at, Size: v.Size},
		)
	}
	s.Set = container.NewSet(parts)
	return s, nil
}

// Close lets go of all volumes.
func (s *volumeSet) Close() error {
	var errs []error
	for _, c := range s.close {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
