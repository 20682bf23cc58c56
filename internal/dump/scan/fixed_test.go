package scan

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
)

// sighted is all that is found in a text.
func sighted(t *testing.T, text []byte) map[Value]record.Classes {
	t.Helper()
	got := map[Value]record.Classes{}
	r := NewRecorder(func(s *record.Sighting) { got[Value{Kind: s.Kind, Normal: string(s.Normal)}] |= s.Classes })
	if _, err := r.Scan(context.Background(), bytes.NewReader(text), "dump"); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestFixedWidth: in records without anything between their columns all values are found, and nothing else, in few rows
// and in many.
func TestFixedWidth(t *testing.T) {
	for _, n := range []int{12, 300} {
		for _, text := range fixedTexts(n) {
			if text.Lost != "" {
				continue
			}
			got := sighted(t, text.Text)
			missed := 0
			for _, v := range text.Want {
				if _, ok := got[v]; !ok {
					missed++
				}
				delete(got, v)
			}
			if missed > 0 || len(got) > 0 {
				t.Errorf(
					"%d rows of %s: %d of %d missed, besides %v found: %.120q",
					n,
					text.Name,
					missed,
					len(text.Want),
					got,
					text.Text,
				)
			}
		}
	}
}

// TestFixedWidthClasses: a date of birth beside a CPF is claimed, a recent one is not.
func TestFixedWidthClasses(t *testing.T) {
	for _, text := range fixedTexts(40) {
		births := strings.Contains(text.Name, "date") || strings.Contains(text.Name, "two kinds")
		for v, classes := range sighted(t, text.Text) {
			if classes.Has(record.BirthDate) != births {
				t.Fatalf("%s: %v is of %016b", text.Name, v, classes)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	recent := ""
	for i := range 40 {
		recent += fmt.Sprintf("%s2019%02d%02d\n", cpfWithZeros(r, 0), 1+i%12, 1+i%28)
	}
	for v, classes := range sighted(t, []byte(recent)) {
		if classes != record.CPF {
			t.Errorf("%v is of %016b", v, classes)
		}
	}
}

// TestFixedDecoys: rows of the same width without people in them become at most one identifier in a thousand lines.
func TestFixedDecoys(t *testing.T) {
	const lines = 4000
	var d decoys
	row := 0
	for name, line := range map[string]func() string{
		"digits":      func() string { return d.digits(30) },
		"more digits": func() string { return d.digits(60) },
		"nineteen":    func() string { return "AB" + d.digits(19) + "FE" },
		"counters":    func() string { return fmt.Sprintf("%020d%010d", 1_134_000_000+row, row) },
		"moments":     func() string { return d.time() + d.time() + "X" + d.digits(4) },
		"moments, id": func() string { return d.time() + d.digits(9) },
		"dates and sums": func() string {
			return fmt.Sprintf("2023%02d%02d%012d%s", 1+d.IntN(12), 1+d.IntN(28), d.IntN(1e9), d.digits(8))
		},
		"one number":  func() string { return "0123456789012345678901234567890" + d.digits(3) },
		"letters":     func() string { return "FADE" + d.digits(11) + "BEEF" + d.digits(9) + "DAD" },
		"fewer areas": func() string { return "1190" + fmt.Sprintf("%08d", row) + "SP" + d.digits(6) },
	} {
		d = decoys{rand.New(rand.NewPCG(3, 18))} // the same numbers in whatever order the kinds come
		var b strings.Builder
		for row = range lines {
			b.WriteString(line() + "\n")
		}
		if got := sighted(t, []byte(b.String())); len(got)*1000 > lines {
			t.Errorf("%s: %d false keys: %.200s", name, len(got), fmt.Sprint(got))
		}
	}
}

// FuzzFixed: whatever the rows, no panic, every value in its normal form, and the same wherever the text is cut.
func FuzzFixed(f *testing.F) {
	for _, text := range fixedTexts(6) {
		f.Add(text.Text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = append(bytes.Repeat(text, 1+4000/(len(text)+1)), text...) // over the borders of cells
		r := NewRecorder(func(s *record.Sighting) { checkNormal(t, s.Kind, string(s.Normal)) })
		if _, err := r.Scan(context.Background(), bytes.NewReader(text), "dump"); err != nil {
			t.Fatal(err)
		}
	})
}
