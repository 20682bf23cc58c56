package password

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parseAll(p *lineParser, text string) error {
	_, err := p.parseLines([]byte(text), true)
	return err
}

func TestFastAndSlowPathAgree(t *testing.T) {
	hex := rapid.StringMatching(`[0-9A-F]{40}|[0-9a-f]{40}`)
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.SampledFrom([]int{40, 32, 35, 27}).Draw(t, "digits")
		line := hex.Draw(t, "hash")[:digits]
		if rapid.Bool().Draw(t, "counted") {
			line += ":" + fmt.Sprint(
				rapid.Uint64Range(0, 99_999_999_999).Draw(t, "count")>>rapid.IntRange(0, 36).Draw(t, "smaller"),
			)
		}
		if rapid.IntRange(0, 3).Draw(t, "damage") == 0 { // any byte instead of one of the line
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			line = line[:at] + string([]byte{rapid.Byte().Draw(t, "byte")}) + line[at+1:]
		}
		line += rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		parser := func() *lineParser {
			p := &lineParser{digits: digits, taken: 40}
			if digits == 35 || digits == 27 {
				p.taken, p.high = 20, 0xabcde<<20
			}
			return p
		}
		quick, slow := parser(), parser()
		n := quick.parseFast([]byte(line + strings.Repeat("x", 64)))
		if n == 0 {
			return // left to the slow path
		}
		if why := slow.parseSlow(bytes.TrimRight([]byte(line[:n]), "\r\n")); why != nil || n > len(line) {
			t.Fatalf("fast path took %d bytes of what the slow path refuses: %v", n, why)
		}
		if !slices.Equal(quick.keys, slow.keys) || !slices.Equal(quick.widely, slow.widely) {
			t.Fatalf("fast %x %x, slow %x %x", quick.keys, quick.widely, slow.keys, slow.widely)
		}
	})
}

// The fast path must really carry the usual lines: the import's speed rests on it.
func TestFastPathTakesUsualLines(t *testing.T) {
	for _, line := range []string{
		strings.Repeat("A", 40) + ":1\r\n", strings.Repeat("0", 40) + ":9999999\n", strings.Repeat("f", 40) + "\n",
	} {
		p := &lineParser{digits: 40, taken: 40}
		if n := p.parseFast([]byte(line + strings.Repeat("x", 64))); n != len(line) {
			t.Errorf("%q: took %d bytes", line, n)
		}
	}
}

func TestParseLines(t *testing.T) {
	a, b := "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8", "7c4a8d09ca3762af61e59520943dc26494f8941b"
	p := &lineParser{digits: 40, taken: 40}
	if err := parseAll(p, a+":10434004\r\n"+b+"\n\n"+a+":0\n"+b+":999"); err != nil {
		t.Fatal(err)
	}
	if want := []uint64{0x5BAA61E4C9, 0x7c4a8d09ca, 0x7c4a8d09ca}; !slices.Equal(p.keys, want) {
		t.Errorf("keys %x, want %x", p.keys, want)
	}
	if want := []uint64{0x5BAA61E4C9}; !slices.Equal(p.widely, want) {
		t.Errorf("widely %x, want %x", p.widely, want)
	}
	if p.lines != 5 {
		t.Errorf("lines %d", p.lines)
	}
}

func TestParseKeepsIncompleteLine(t *testing.T) {
	p := &lineParser{digits: 40, taken: 40}
	text := strings.Repeat("A", 40) + ":1\n" + strings.Repeat("B", 40) + ":12"
	n, err := p.parseLines([]byte(text), false)
	if err != nil || n != 43 || len(p.keys) != 1 {
		t.Errorf("took %d bytes, %d keys, %v", n, len(p.keys), err)
	}
}

func TestBadLines(t *testing.T) {
	good := strings.Repeat("A", 40)
	for name, line := range map[string]string{
		"short": good[1:], "long": good + "A", "not hex": good[:39] + "G", "no count": good + ":", "minus": good +
			":-1",
		"comma": good + ",1", "blank": " " + good, "text": "<!DOCTYPE html>", "count of letters": good + ":1a",
		"high bit": good[:12] + "\xc1" + good[13:], "control": good[:3] + "\x11" + good[4:], "lone return": good +
			"\r:1",
	} {
		p := &lineParser{digits: 40, taken: 40}
		err := parseAll(p, good+":1\n"+line+"\n"+strings.Repeat(good+":1\n", 3))
		if !errors.Is(err, ErrLine) || !strings.Contains(err.Error(), "line 2:") {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), good[:10]) {
			t.Errorf("%s: the error repeats the hash: %v", name, err)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(strings.Repeat("A", 40)+":12\r\n"), 40)
	f.Add([]byte(strings.Repeat("0", 27)+":1\n\n"), 27)
	f.Fuzz(func(t *testing.T, text []byte, digits int) {
		if !slices.Contains([]int{40, 32, 35, 27}, digits) {
			return
		}
		whole := &lineParser{digits: digits, taken: 40}
		n, err := whole.parseLines(text, true)
		if n > len(text) || (err == nil && n != len(text)) || len(whole.widely) > len(whole.keys) {
			t.Fatalf("took %d of %d bytes, %v", n, len(text), err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(
		strings.Repeat(
			"5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:12\r\n7C4A8D09CA3762AF61E59520943DC26494F8941B:123\r\n",
			10_000,
		),
	)
	p := &lineParser{digits: 40, taken: 40}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		p.keys, p.widely = p.keys[:0], p.widely[:0]
		if _, err := p.parseLines(text, true); err != nil {
			b.Fatal(err)
		}
	}
}
