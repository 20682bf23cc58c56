package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// repeated is text again and again, up to n bytes.
type repeated struct {
	text string
	n    int64
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), r.n)], r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	r.n -= int64(n)
	return n, nil
}

// sized is how much of a trial runs: a part of it in the usual run, all of it in the long one.
func sized(usual, long int) int {
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		return long
	}
	return usual
}

// TestOneLineOfAGigabyte: six kinds of lines of a gigabyte in all, a sixteenth of it in the usual run, take bounded
// memory.
func TestOneLineOfAGigabyte(t *testing.T) {
	for name, filler := range map[string]string{
		"letters": strings.Repeat("abcdefgh", 8192), "digits": strings.Repeat("1234567890",
			8192), "groups": strings.Repeat("4111 1111-", 8192),
		"at signs": strings.Repeat("@", 8192), "dots": strings.Repeat("a.", 8192), "nul": strings.Repeat("\x00", 8192),
	} {
		t.Run(name, func(t *testing.T) {
			size := int64(sized(1<<26, 1<<30) / 6)
			var got []string
			s := NewScanner(func(kind identifier.Kind, normal []byte) {
				if len(got) < 10 {
					got = append(got, string(normal))
				}
			})
			line := io.MultiReader(
				strings.NewReader("52998224725 "),
				&repeated{text: filler, n: size},
				strings.NewReader(" maria@exemplo.com"),
			)
			grown := measureHeap(t, func() {
				if n, err := s.Scan(context.Background(), line); err != nil || n != size+30 {
					t.Errorf("%d bytes, %v", n, err)
				}
			})
			if want := []string{
				"maria@exemplo.com",
				"52998224725",
			}; len(got) != 2 || !slices.Contains(got, want[0]) ||
				!slices.Contains(got, want[1]) {
				t.Errorf("found %q", got)
			}
			if grown > 8<<20 {
				t.Errorf("the heap grew by %d bytes", grown)
			}
		})
	}
}

// Numbers by chance: what passes must not be more than the check digits and plans let through.
func TestNumberSoup(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('0' + rnd.IntN(10))
		}
		return string(b)
	}
	const n = 200_000
	for _, c := range []struct {
		name string
		make func() string
		most map[identifier.Kind]float64
	}{
		{"up to nine digits", func() string { return digits(1 + rnd.IntN(9)) }, nil},
		{
			"eleven digits", func() string { return digits(11) },
			map[identifier.Kind]float64{identifier.CPF: 0.012, identifier.Phone: 0.072},
		},
		{
			"twelve and thirteen digits", func() string { return digits(12 + rnd.IntN(2)) },
			map[identifier.Kind]float64{identifier.Phone: 0.01, identifier.Card: 0.02},
		},
		{
			"fourteen to nineteen digits", func() string { return digits(14 + rnd.IntN(6)) },
			map[identifier.Kind]float64{identifier.Card: 0.03},
		},
		{"twenty to sixty digits", func() string { return digits(20 + rnd.IntN(40)) }, nil},
		{"hashes", func() string {
			b := make([]byte, 40)
			for i := range b {
				b[i] = "0123456789abcdef"[rnd.IntN(16)]
			}
			return string(b)
		}, map[identifier.Kind]float64{identifier.CPF: 0.0001, identifier.Phone: 0.002, identifier.Card: 0.0001}},
		{"decimals", func() string { return digits(2) + "." + digits(11+rnd.IntN(6)) }, nil},
		{"dates", func() string {
			return "20" + digits(2) + "-" + digits(2) + "-" + digits(2) + " " + digits(2) + ":" + digits(2) + ":" +
				digits(2)
		}, nil},
		{"addresses", func() string {
			return fmt.Sprintf("%03d.%03d.%03d.%02d", rnd.IntN(256), rnd.IntN(256), rnd.IntN(256), rnd.IntN(100))
		}, nil},
		{"times", func() string { return "1" + string(rune('2'+rnd.IntN(6))) + digits(8) }, nil},
		{"company numbers", func() string {
			return digits(2) + "." + digits(3) + "." + digits(3) + "/" + digits(4) + "-" + digits(2)
		}, map[identifier.Kind]float64{identifier.CNPJ: 0.012}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			for range n {
				text.WriteString(c.make())
				text.WriteByte('\n')
			}
			var counts [8]float64
			_, _ = NewScanner(func(k identifier.Kind, _ []byte) { counts[k]++ }).Scan(context.Background(),
				strings.NewReader(text.String()))
			for _, k := range identifier.ListKinds() {
				if share := counts[k] / n; share > c.most[k] {
					t.Errorf("%v: %.4f of the numbers pass, %.4f at most", k, share, c.most[k])
				}
			}
		})
	}
}

func TestUTF16(t *testing.T) {
	text := "ação;maria@exemplo.com;529.982.247-25;João 😀 (11) 98765-4321\r\n"
	want := []string{"cpf 52998224725", "email maria@exemplo.com", "phone +5511987654321"}
	for name, order := range map[string]int{"little": 1, "big": 0} {
		for _, mark := range []string{"", "\ufeff"} {
			var b []byte
			for _, u := range utf16.Encode([]rune(mark + text)) {
				pair := [2]byte{}
				pair[order], pair[1-order] = byte(u>>8), byte(u)
				b = append(b, pair[:]...)
			}
			if got := found(t, string(b)); !slices.Equal(got, want) {
				t.Errorf("%s endian, mark %q: %q", name, mark, got)
			}
		}
	}
	// Long enough for many reads, with an odd number of bytes at the end.
	var long []byte
	for _, u := range utf16.Encode([]rune(strings.Repeat(text, 5000))) {
		long = append(long, byte(u), byte(u>>8))
	}
	if got := found(t, string(long)+"\x00"); len(got) != 15000 {
		t.Errorf("%d found", len(got))
	}
}

// recorder calls found with the identifiers alone.
func recorder(found Found) *Recorder {
	return NewRecorder(func(s *record.Sighting) { found(s.Kind, s.Normal) })
}

func TestParallelFindsTheSame(t *testing.T) {
	s := newScore()
	dump := NewDense(11, s.truth).Append(nil, 5<<20)
	// The borders of pieces fall at other places for each start.
	for _, shift := range []int{0, 1, 17, 100, 333} {
		var want, got [3][]string
		collect := func(to *[]string) Found {
			return func(kind identifier.Kind, normal []byte) { *to = append(*to, kind.String()+" "+string(normal)) }
		}
		_, err := NewScanner(collect(&want[0])).Scan(context.Background(), bytes.NewReader(dump[shift:]))
		must(t, err)
		n, err := ScanParallel(context.Background(), bytes.NewReader(dump[shift:]), "dump",
			[]*Recorder{recorder(collect(&got[0])), recorder(collect(&got[1])), recorder(collect(&got[2]))})
		if err != nil || n != int64(len(dump)-shift) {
			t.Fatalf("%d bytes, %v", n, err)
		}
		all := slices.Concat(got[:]...)
		slices.Sort(all)
		slices.Sort(want[0])
		if !slices.Equal(all, want[0]) {
			t.Fatalf("%d instead of %d", len(all), len(want[0]))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ScanParallel(
		ctx,
		&repeated{text: "abc", n: 1 << 30},
		"dump",
		[]*Recorder{recorder(func(identifier.Kind, []byte) {})},
	); err == nil {
		t.Error("a cancelled scan ends without an error")
	}
}

// Marks that are made of eight bytes at a time must agree with those of each byte.
func TestMarks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	src := make([]byte, bitmapBytes*8+keySpan)
	for range 200 {
		for i := range src {
			src[i] = byte(rnd.IntN(256))
			if rnd.IntN(2) == 0 {
				src[i] = "./0189:;@%A?$&\\[(\xe2\xef\xa0\x04---/{}|#acdpux\xff"[rnd.IntN(36)]
			}
		}
		var m marks
		markBytes(m.digits[:], m.signs[:], src)
		for i, c := range src[:bitmapBytes*8] {
			sign := isMarkedSign(c, src[i+1]) || (c == '-' || c == '/') && src[i+keySpan] == '-'
			if m.digits[i/8]>>(i%8)&1 == 1 != isDigit(c) || m.signs[i/64]>>(i%64)&1 == 1 != sign {
				t.Fatalf("byte %#x at %d", c, i)
			}
		}
	}
}

// Whatever a sign can begin something with has to follow it to be marked, and nothing else: a sign that is missed is a
// leak that is, and one too many costs time.
func TestMarkedSigns(t *testing.T) {
	for _, pair := range []string{
		"@x", "{a", "\xa0x", "\xe2\x80", "\xef\xbc", "(a", "[ ", "(P", "%4", "%u", "&#", `\u`,
		`\X`,
	} {
		if !isMarkedSign(pair[0], pair[1]) {
			t.Errorf("%q is not marked", pair)
		}
	}
	for _, pair := range []string{"[1", "(1", "(X", "(W", "(K", "\\n", "\\r", "&t", "%F", "\xe3\x80", "\b1", "aa"} {
		if isMarkedSign(pair[0], pair[1]) {
			t.Errorf("%q is marked", pair)
		}
	}
}

// The places of numbers must agree with the rules spelled out, byte by byte.
func TestPlaces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	worth := regexp.MustCompile(
		`^(?:[0-9]{8}|[0-9]{4}[^0-9](?:(?s:.)?[0-9]{4}(?:[^0-9]|$)|[0-9]{6})|[0-9]{3}[^0-9][0-9]{3}[^0-9][0-9]{3}[^0-9][0-9]{2})`,
	)
	for range 20 {
		text := make([]byte, 0, stretch+bitmapBytes)
		for len(text) < stretch+64 {
			for range []int{1, 2, 3, 3, 4, 4, 5, 6, 8, 11}[rnd.IntN(10)] {
				text = append(text, byte('0'+rnd.IntN(10)))
			}
			text = append(text, "- .x"[rnd.IntN(4)])
		}
		for _, from := range []int{0, 1, 2, 3, 4, 5} {
			var m marks
			m.readBitmaps(text, from)
			for i := range stretch {
				at := from + i
				want := worth.Match(text[at:])
				if want && at > 0 && isDigit(text[at-1]) { // inside a run: only its last digits count
					want = !isDigit(text[at+3]) || !isDigit(text[at+4])
				}
				if got := m.places[i/step]>>(i%step)&1 == 1; got != want {
					t.Fatalf("from %d: place %d is %v: %q", from, at, got, text[max(0, at-2):at+20])
				}
			}
		}
	}
}
