package cyber

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// loadedKeys remembers what was loaded, and fails from a load on.
type loadedKeys struct {
	DeviceStore
	loads  []int
	keys   []VendorKey
	failAt int
}

func (s *loadedKeys) LoadKeyPool(_ context.Context, _ System, keys []VendorKey) (int, error) {
	s.loads = append(s.loads, len(keys))
	s.keys = append(s.keys, keys...)
	if len(s.loads) == s.failAt {
		return 0, errOnPurpose
	}
	return len(keys), nil
}

// TestPoolBatches: keys go to the database in batches, and an end that is full has nothing behind it.
func TestPoolBatches(t *testing.T) {
	for _, c := range []struct{ keys, failAt, loads, read int }{{499, 0, 1, 499}, {500, 0, 1, 500}, {501, 0, 2, 501}, {750, 1, 1, 0}, {750, 2, 2, 500}} {
		s := &loadedKeys{failAt: c.failAt}
		done, err := NewEndpoints(s, nil, nil).LoadKeyPool(t.Context(), IOS, strings.NewReader(strings.Repeat("K-1\n", c.keys)), nil)
		if len(s.loads) != c.loads || done.Read != c.read || errors.Is(err, errOnPurpose) != (c.failAt > 0) {
			t.Errorf("%d keys, failing at load %d: %d loads, %+v, %v", c.keys, c.failAt, len(s.loads), done, err)
		}
	}
}

// TestPoolFileForms: with and without the mark of a spreadsheet, and a date wherever its column stands.
func TestPoolFileForms(t *testing.T) {
	end := time.Date(2027, 12, 31, 0, 0, 0, 0, saoPaulo).AddDate(0, 0, 1)
	for name, c := range map[string]struct {
		file string
		want VendorKey
	}{
		"one short line":           {"A\n", VendorKey{Key: "A"}},
		"a mark and a key":         {"\ufeffAAA\n", VendorKey{Key: "AAA"}},
		"no mark":                  {"AAA\n", VendorKey{Key: "AAA"}},
		"a date first":             {"expires,key\n2027-12-31,A\n", VendorKey{"A", end}},
		"a date last":              {"key;validade\nA;31/12/2027\n", VendorKey{"A", end}},
		"a row without its date":   {"key,expires\nA\n", VendorKey{Key: "A"}},
		"a date that says nothing": {"key,expires\nA,\n", VendorKey{Key: "A"}},
	} {
		s := &loadedKeys{}
		_, err := NewEndpoints(s, nil, nil).LoadKeyPool(t.Context(), IOS, strings.NewReader(c.file), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		difftest.Check(t, name, s.keys, []VendorKey{c.want})
	}
}

// TestDrawIsFair: bytes that would favour the first characters are not used.
func TestDrawIsFair(t *testing.T) {
	const fair = 256 - 256%len(keyAlphabet)
	text := make([]byte, 2)
	if err := drawCharacters(strings.NewReader(string([]byte{byte(fair), byte(fair - 1), 255, 1})), text); err != nil {
		t.Fatal(err)
	}
	if want := string([]byte{keyAlphabet[(fair-1)%len(keyAlphabet)], keyAlphabet[1]}); string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
}
