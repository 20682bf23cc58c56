package reader

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestFileThatShrankIsTold: a file that became shorter than it was does not count as read to its end.
func TestFileThatShrankIsTold(t *testing.T) {
	for left, want := range map[int64]error{10: nil, 11: errChanged} {
		f := &wholeFile{SectionReader: io.NewSectionReader(strings.NewReader("0123456789"), 0, left), left: left}
		if _, err := io.ReadAll(f); !errors.Is(err, want) {
			t.Errorf("10 bytes of %d: %v", left, err)
		}
	}
}
