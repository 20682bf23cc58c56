package container

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestMembersSwellTogether: an archive of many members, each of which unpacks to less than the limit, is stopped by
// what they unpack to together.
func TestMembersSwellTogether(t *testing.T) {
	limits := Limits{Bytes: 1 << 40, Ratio: 10, Depth: 2}
	const source, member = 1 << 20, slack +
		1 // each member is less than ten times the source, six are more than twenty times
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

// TestLayerSwells: one layer is stopped at so many times its own input, however large the source is, and at so many
// times the source where its own input is not known. Little text is never too much.
func TestLayerSwells(t *testing.T) {
	limits := Limits{Bytes: 1 << 40, Ratio: 10, Depth: 1000} // the sum of all layers is not what stops here
	for name, c := range map[string]struct {
		source, in, out int64
		isBomb          bool
	}{
		"ten times its input":            {source: 1 << 30, in: slack, out: 10 * slack},
		"more than ten times its input":  {source: 1 << 30, in: slack, out: 10*slack + 1, isBomb: true},
		"ten times the source":           {source: slack, out: 10 * slack},
		"more than ten times the source": {source: slack, out: 10*slack + 1, isBomb: true},
		"little, of nothing":             {source: 1, in: 1, out: slack},
	} {
		w := &walker{ctx: t.Context(), limits: limits, known: c.source}
		m := &meter{w: w, name: "lista.txt", r: io.LimitReader(endless{}, c.out)}
		if c.in > 0 {
			m.in = func() int64 { return c.in }
		}
		if _, err := io.Copy(io.Discard, m); errors.Is(err, ErrBomb) != c.isBomb {
			t.Errorf("%s: %v", name, err)
		}
	}
}
