package intake

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

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

// ReaderInput returns an input that the given function opens, such as an object of a bucket.
func ReaderInput(name, mark string, size int64, open func(ctx context.Context) (io.ReadCloser, error)) Input {
	return Input{Name: name, Size: size, Mark: mark, open: open, inner: name}
}
