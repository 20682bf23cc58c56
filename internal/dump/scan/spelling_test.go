package scan

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/transform"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// TestSpelledOverBorders: what is decoded, and what a column says of digits, does not depend on where a text is cut,
// nor on how it is read.
func TestSpelledOverBorders(t *testing.T) {
	var text []byte
	for _, s := range allSpelled(3) {
		if s.spelling.Kind != identifier.Phone || len(s.Text)%3 == 0 { // not all of them: it takes its time
			text = append(append(text, s.Text...), '\n')
		}
	}
	var whole []string
	one := NewRecorder(func(s *record.Sighting) { whole = append(whole, told(s)) })
	one.tell(
		piece{text: text, limit: len(text)},
		&about{name: "dump", sql: record.IsSQL(text)},
		newChain(0, record.State{}),
	)
	slices.Sort(whole)
	for _, size := range []int64{20_011, 40_000, 65_536} {
		var got []string
		pieces := NewPieces(bytes.NewReader(text), size, Place{Name: "dump"})
		if _, err := pieces.Scan(
			context.Background(),
			1<<40,
			[]*Recorder{NewRecorder(func(s *record.Sighting) { got = append(got, told(s)) })},
		); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, whole) {
			t.Errorf(
				"in pieces of %d: %d said, %d in one; first difference %s",
				size,
				len(got),
				len(whole),
				difference(got, whole),
			)
		}
	}
}

// TestHints: a pair is a hint in its group only.
func TestHints(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			want := false
			for _, p := range hintPairs {
				want = want || strings.IndexByte(p.first, byte(a)) >= 0 && strings.IndexByte(p.second, byte(b)) >= 0
			}
			if got := firstOfPair[a]&secondOfPair[b] != 0; got != want {
				t.Errorf("%q%q is a hint: %v", byte(a), byte(b), got)
			}
		}
	}
}

// FuzzDecode: whatever the bytes, decoding them does not panic, places lie in the text, and the effort is bounded: a
// view is not much longer than what it was made of.
func FuzzDecode(f *testing.F) {
	for i, s := range allSpelled(1) {
		if i%7 == 0 {
			f.Add(s.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v view
		var room []byte
		v.read(text, 0, len(text), &room)
		if len(v.text) > 2*len(text)+64 {
			t.Fatalf("%d bytes become %d", len(text), len(v.text))
		}
		for at := range v.text {
			if from, to := v.originalStart(at), v.originalEnd(at+1); from < 0 || to > len(text) || from > to {
				t.Fatalf("%d stood at %d to %d of %d", at, from, to, len(text))
			}
		}
		NewRecorder(func(s *record.Sighting) { checkNormal(t, s.Kind, string(s.Normal)) }).tell(piece{
			text:  text,
			limit: len(text),
		}, &about{}, newChain(0, record.State{}))
	})
}

// TestSpellings: whatever way an identifier is written in, and whatever it stands in, it is found.
func TestSpellings(t *testing.T) {
	for _, s := range allSpelled(12) {
		got := map[Value]bool{}
		r := NewRecorder(func(s *record.Sighting) { got[Value{Kind: s.Kind, Normal: string(s.Normal)}] = true })
		if _, err := r.Scan(context.Background(), bytes.NewReader(s.Text), "dump"); err != nil {
			t.Fatal(err)
		}
		missed := 0
		for _, v := range s.Want {
			if !got[v] {
				missed++
			}
		}
		if missed > 0 && s.spelling.Lost == "" {
			t.Errorf(
				"%v, %s, in %s: %d of %d missed: %.200q",
				s.spelling.Kind,
				s.spelling.Name,
				s.carrier.Name,
				missed,
				len(s.Want),
				s.Text,
			)
		}
	}
}

// FuzzEncodings: whatever a text begins with, it is read to its end, the same in whatever pieces it comes.
func FuzzEncodings(f *testing.F) {
	f.Add([]byte("dn: uid=1\nmail: a@exem\n plo.com\n"))
	f.Add([]byte("BEGIN:VCARD\r\nEMAIL:a@b\r\n .com\r\n"))
	f.Add([]byte(strings.Repeat("a\x00\x00\x00", 20)))
	f.Fuzz(func(t *testing.T, text []byte) {
		convert := otherEncoding(text[:min(len(text), sniffed)])
		if convert == nil {
			return
		}
		whole, err := io.ReadAll(transform.NewReader(bytes.NewReader(text), convert))
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := io.ReadAll(transform.NewReader(iotest.OneByteReader(bytes.NewReader(text)), convert))
		if err != nil || !bytes.Equal(whole, pieces) || len(whole) > 3*len(text) {
			t.Fatalf("%v: %q in one, %q byte by byte", err, whole, pieces)
		}
	})
}
