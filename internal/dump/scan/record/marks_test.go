package record

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestMarks: line ends and separators are found where a plain search finds them.
func TestMarks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, 5*markBlock+77)
	for i := range text {
		text[i] = byte(i)
		if i >= 256 {
			text[i] = "abcdefgh,;\n\"\xffx"[rnd.IntN(14)]
		}
	}
	for range 2000 {
		var m marks
		m.startText(text)
		from, to := rnd.IntN(len(text)), rnd.IntN(len(text)+1)
		part := text[min(from, to):max(from, to)]
		base := min(from, to)
		for _, c := range []struct{ got, want int }{
			{m.lineEnd(base, max(from, to)), bytes.IndexByte(part, '\n')},
			{m.lineBefore(base, max(from, to)), bytes.LastIndexByte(part, '\n')},
			{m.findSign(';', base, max(from, to)), bytes.IndexByte(part, ';')},
		} {
			if c.want >= 0 {
				c.want += base
			}
			if c.got != c.want {
				t.Fatalf("[%d,%d): found %d, not %d", base, max(from, to), c.got, c.want)
			}
		}
		if got, want := m.countSign(',', base, max(from, to)), bytes.Count(part, []byte(",")); got != want {
			t.Fatalf("[%d,%d): counted %d, not %d", base, max(from, to), got, want)
		}
	}
}
