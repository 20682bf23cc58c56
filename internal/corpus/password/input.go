package password

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Input is one text to import. Its name tells how it is packed (.gz, .zst, .xz) and, in folders of range files, the
// first five digits of its hashes.
type Input struct {
	Name string
	Size int64 // bytes as stored, for the time left; 0 if not known
	// Open opens the input; nil means that Name is the path of a file.
	Open func() (io.ReadCloser, error)
}

func (in Input) openInput() (io.ReadCloser, error) {
	if in.Open == nil {
		return os.Open(in.Name)
	}
	return in.Open()
}

// ListInputs lists the inputs that paths lead to: files as they are, folders with all files below them in order of
// their names.
func ListInputs(paths ...string) ([]Input, error) {
	var inputs []Input
	for _, root := range paths {
		found := len(inputs)
		if real, err := filepath.EvalSymlinks(root); err == nil { // the walk itself follows no links
			root = real
		}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || (path != root && strings.HasPrefix(d.Name(), ".")) {
				return err
			}
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if info.IsDir() { // a link to a folder: following it could go in circles
				return nil
			}
			inputs = append(inputs, Input{Name: path, Size: info.Size()})
			return nil
		})
		if err != nil {
			return nil, ErrInput.Because(err).With("", fault.PathUnreadable)
		}
		if len(inputs) == found {
			return nil, ErrInput.With("", fault.FolderWithoutFiles)
		}
	}
	return inputs, nil
}

// mostUnpacking bounds the window of an input: more than any usual setting of a packer needs.
const mostUnpacking = 256 << 20

// unpackStream returns the text of a packed stream.
func unpackStream(name string, packed io.Reader) (io.Reader, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		z, err := gzip.NewReader(packed)
		return z, err
	case ".zst":
		return zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostUnpacking))
	case ".xz":
		return xz.NewReader(bufio.NewReaderSize(packed, 256<<10))
	}
	return packed, nil
}

// inputStem returns the name of an input without folders and endings: the first five digits of the hashes of a range
// file.
func inputStem(name string) string {
	s, _, _ := strings.Cut(filepath.Base(name), ".")
	return s
}
