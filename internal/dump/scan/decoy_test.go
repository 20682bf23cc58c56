package scan

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// decoys makes up numbers that look like phones, cards and CPFs and are none.
type decoys struct{ *rand.Rand }

func (d decoys) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + d.IntN(10))
	}
	return string(b)
}

// time is a moment of the years 2024 to 2038, as cookies that are kept for long have them.
func (d decoys) time() string { return fmt.Sprint(1_704_067_200 + d.IntN(443_000_000)) }

// numbers are what stands under names that say what it is.
var numbers = map[string]func(d decoys) string{
	"expires":         decoys.time,
	"timestamp":       decoys.time,
	"created_at":      decoys.time,
	"last_login_time": decoys.time,
	"expirationDate":  decoys.time,
	"id":              func(d decoys) string { return d.digits(9 + d.IntN(11)) },
	"user_id":         func(d decoys) string { return "1000" + d.digits(11) },
	"ip": func(d decoys) string {
		return fmt.Sprintf("%d.%d.%d.%d", d.IntN(256), d.IntN(256), d.IntN(256), d.IntN(256))
	},
	"cnh":           func(d decoys) string { return d.digits(11) },
	"renavam":       func(d decoys) string { return d.digits(11) },
	"pis":           func(d decoys) string { return d.digits(11) },
	"protocolo":     func(d decoys) string { return d.digits(10 + d.IntN(8)) },
	"codigo_barras": func(d decoys) string { return d.digits(13) },
	"nosso_numero":  func(d decoys) string { return d.digits(10 + d.IntN(7)) },
}

// carriers write a column of numbers beside one of words.
var carriers = map[string]func(d decoys, name string, value func(decoys) string, lines int) string{
	"table": func(d decoys, name string, value func(decoys) string, lines int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "nome;%s;cor\n", name)
		for range lines {
			fmt.Fprintf(&b, "item %c;%s;azul\n", 'a'+d.IntN(26), value(d))
		}
		return b.String()
	},
	"one column": func(d decoys, name string, value func(decoys) string, lines int) string {
		if name == "id" || name == "ip" {
			name = "nome\t" + name // a single word says too little
		}
		var b strings.Builder
		b.WriteString(name + "\n")
		for range lines {
			b.WriteString(strings.Repeat("x\t", strings.Count(name, "\t")) + value(d) + "\n")
		}
		return b.String()
	},
	"objects": func(d decoys, name string, value func(decoys) string, lines int) string {
		var b strings.Builder
		for range lines {
			fmt.Fprintf(&b, "{\"nome\":\"item\",\"%s\":%q,\"cor\":\"azul\"}\n", name, value(d))
		}
		return b.String()
	},
	"statements": func(d decoys, name string, value func(decoys) string, lines int) string {
		var b strings.Builder
		for range lines {
			fmt.Fprintf(&b, "INSERT INTO coisas (nome, %s, cor) VALUES ('item', '%s', 'azul');\n", name, value(d))
		}
		return b.String()
	},
	"labels": func(d decoys, name string, value func(decoys) string, lines int) string {
		var b strings.Builder
		for range lines {
			fmt.Fprintf(&b, "%s: %s\n", name, value(d))
		}
		return b.String()
	},
}

// places are lines whose shape says what their numbers are.
var places = map[string]func(d decoys) string{
	"cookies": func(d decoys) string {
		value := d.digits(8 + d.IntN(12))
		return fmt.Sprintf(".exemplo.com\tTRUE\t/\tFALSE\t%s\tsessao\t%s", d.time(), value)
	},
	"cookies, one year": func(d decoys) string {
		return fmt.Sprintf(
			"www.exemplo.com\tFALSE\t/conta\tTRUE\t%d\t_ga\tGA1.2.%s.%s",
			1_795_000_000+d.IntN(60_000_000),
			d.digits(10),
			d.time(),
		)
	},
	"slips": func(d decoys) string {
		return fmt.Sprintf(
			"%s.%s %s.%s %s.%s %s %s",
			d.digits(5),
			d.digits(5),
			d.digits(5),
			d.digits(6),
			d.digits(5),
			d.digits(6),
			d.digits(1),
			d.digits(14),
		)
	},
	"slips in four blocks": func(d decoys) string {
		return fmt.Sprintf("%s %s %s %s", d.digits(12), d.digits(12), d.digits(12), d.digits(12))
	},
	"slips in one": func(d decoys) string { return d.digits(47) },
	"cookies of a header": func(d decoys) string {
		return "Cookie: _fbp=fb.1." + d.digits(13) + "." + d.digits(10) + "; ts=" + d.time()
	},
	"network addresses": func(d decoys) string { return numbers["ip"](d) + " - - GET /" + d.digits(4) },
}

// TestDecoys: numbers whose place says that they are of a thing or a moment become nobody's identifier: at most one in
// a thousand lines of each kind.
func TestDecoys(t *testing.T) {
	const lines = 4000
	check := func(name, text string) {
		t.Helper()
		keys := map[string]bool{}
		r := NewRecorder(func(s *record.Sighting) {
			if s.Kind != identifier.Email {
				keys[s.Kind.String()+" "+string(s.Normal)] = true
			}
		})
		if _, err := r.Scan(context.Background(), bytes.NewReader([]byte(text)), "dump"); err != nil {
			t.Fatal(err)
		}
		if len(keys)*1000 > lines {
			some := ""
			for k := range keys {
				some += " " + k
				if len(some) > 120 {
					break
				}
			}
			t.Errorf("%s: %d false keys in %d lines:%s", name, len(keys), lines, some)
		}
	}
	seed := uint64(0)
	// In one order, so that each column is made of the same numbers in every run: how many of them pass is chance.
	for _, number := range slices.Sorted(maps.Keys(numbers)) {
		for _, carrier := range slices.Sorted(maps.Keys(carriers)) {
			seed++
			d := decoys{rand.New(rand.NewPCG(seed, 1))}
			check(number+" in "+carrier, carriers[carrier](d, number, numbers[number], lines))
		}
	}
	for name, line := range places {
		d := decoys{rand.New(rand.NewPCG(7, 2))}
		var b strings.Builder
		for range lines {
			b.WriteString(line(d) + "\n")
		}
		check(name, b.String())
	}
}

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

// TestGluedDecoys: rows of the same width without people in them become at most one identifier in a thousand lines.
func TestGluedDecoys(t *testing.T) {
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
