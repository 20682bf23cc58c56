package segment

import "os"

// newMapping reads the file. Windows refuses to remove or replace a file while it is mapped, and sets of passwords are
// replaced while they are used; the price is their size in memory.
func newMapping(f *os.File, size int64) (*mapping, error) {
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil {
		return nil, err
	}
	return &mapping{data: data}, nil
}
