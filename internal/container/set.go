package container

import (
	"errors"
	"io"
	"io/fs"
	"sort"
	"time"
)

// Volume is one file of an archive that was split.
type Volume struct {
	// Name is its name without a path: the next volume is found by it.
	Name string
	At   io.ReaderAt
	Size int64
}

// Set is the volumes of one archive, read as if they were one file. It is read in place.
type Set struct {
	volumes []Volume
	ends    []int64
	at      int64
}

// NewSet joins volumes, which come in their order.
func NewSet(volumes []Volume) *Set {
	s := &Set{volumes: volumes}
	var end int64
	for _, v := range volumes {
		end += v.Size
		s.ends = append(s.ends, end)
	}
	return s
}

// Volumes returns the volumes of the set: some archives number their blocks by volume.
func (s *Set) Volumes() []Volume { return s.volumes }

// totalSize returns the length of all volumes together.
func (s *Set) totalSize() int64 {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

// ReadAt reads over the borders of volumes.
func (s *Set) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, errors.New("container: negative offset")
	}
	for n < len(p) {
		at := offset + int64(n)
		i := sort.Search(len(s.ends), func(i int) bool { return s.ends[i] > at })
		if i == len(s.ends) {
			return n, io.EOF
		}
		v := s.volumes[i]
		within := at - (s.ends[i] - v.Size)
		want := min(int64(len(p)-n), v.Size-within)
		k, err := v.At.ReadAt(p[n:n+int(want)], within)
		n += k
		if int64(k) < want {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
	}
	return n, nil
}

func (s *Set) Read(p []byte) (int, error) {
	n, err := s.ReadAt(p[:min(int64(len(p)), max(0, s.totalSize()-s.at))], s.at)
	s.at += int64(n)
	if n == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// Seek is for those who ask for the size.
func (s *Set) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.totalSize()
	}
	if offset < 0 {
		return 0, errors.New("container: negative offset")
	}
	s.at = offset
	return offset, nil
}

// volumeFS finds volumes by name.
type volumeFS []Volume

// Open is for the library, which goes from volume to volume by itself.
func (f volumeFS) Open(name string) (fs.File, error) {
	for _, v := range f {
		if v.Name == name {
			return &volumeFile{SectionReader: io.NewSectionReader(v.At, 0, v.Size), v: v}, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// volumeFile is a volume as an fs.File, for libraries that open the next volume by name.
type volumeFile struct {
	*io.SectionReader
	v Volume
}

func (f *volumeFile) Close() error               { return nil }
func (f *volumeFile) Stat() (fs.FileInfo, error) { return volumeStat{f.v}, nil }

// volumeStat is the fs.FileInfo of a volume: its name and size are real, the rest is not known.
type volumeStat struct{ v Volume }

func (s volumeStat) Name() string     { return s.v.Name }
func (s volumeStat) Size() int64      { return s.v.Size }
func (volumeStat) Mode() fs.FileMode  { return 0o400 }
func (volumeStat) ModTime() time.Time { return time.Time{} }
func (volumeStat) IsDir() bool        { return false }
func (volumeStat) Sys() any           { return nil }
