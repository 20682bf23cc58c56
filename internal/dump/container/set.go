package container

import (
	"io"
	"io/fs"
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
	*io.SectionReader
	volumes joinedVolumes
}

// NewSet joins volumes, which come in their order.
func NewSet(volumes []Volume) *Set {
	size := int64(0)
	for _, v := range volumes {
		size += v.Size
	}
	return &Set{SectionReader: io.NewSectionReader(joinedVolumes(volumes), 0, size), volumes: volumes}
}

// Volumes returns the volumes of the set: some archives number their blocks by volume.
func (s *Set) Volumes() []Volume { return s.volumes }

// joinedVolumes are volumes in their order.
type joinedVolumes []Volume

// ReadAt reads over the borders of volumes. A volume that is shorter than it was is cut short.
func (j joinedVolumes) ReadAt(p []byte, offset int64) (n int, err error) {
	for _, v := range j {
		if want := min(int64(len(p)-n), v.Size-offset); want > 0 {
			k, err := v.At.ReadAt(p[n:n+int(want)], offset)
			if n += k; int64(k) < want {
				return n, cutShort(err)
			}
			offset += want
		}
		offset -= v.Size
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
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

func (f *volumeFile) Close() error { return nil }

func (f *volumeFile) Stat() (fs.FileInfo, error) { return volumeStat{f.v}, nil }

// volumeStat is the fs.FileInfo of a volume: its name and size are real, the rest is not known.
type volumeStat struct{ v Volume }

func (s volumeStat) Name() string { return s.v.Name }

func (s volumeStat) Size() int64 { return s.v.Size }

func (volumeStat) Mode() fs.FileMode { return 0o400 }

func (volumeStat) ModTime() time.Time { return time.Time{} }

func (volumeStat) IsDir() bool { return false }

func (volumeStat) Sys() any { return nil }
