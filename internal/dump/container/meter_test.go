package container

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestMembersSwellTogether: an archive of many members, each of which unpacks to less than the limit, is stopped by what
// they unpack to together.
func TestMembersSwellTogether(t *testing.T) {
	limits := Limits{Bytes: 1 << 40, Ratio: 10, Depth: 2}
	const source, member = 1 << 20, slack + 1 // each member is less than ten times the source, six are more than twenty times
	read := func(members int) error {
		w := &walker{ctx: t.Context(), limits: limits, known: source}
		for range members {
			m := &meter{w: w, name: "lista.txt", r: io.LimitReader(endless{}, member)}
			if _, err := io.Copy(io.Discard, m); err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(4); err != nil {
		t.Error("within the limit:", err)
	}
	if err := read(6); !errors.Is(err, ErrBomb) || !strings.Contains(err.Error(), "scan.bomb") {
		t.Error("six members:", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
