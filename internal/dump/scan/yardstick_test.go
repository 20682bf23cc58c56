package scan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

// joined writes rows with a separator between their fields, and no header.
func joined(sep string) func(rows [][]cellText) []byte {
	return func(rows [][]cellText) []byte {
		var b strings.Builder
		for i, row := range rows {
			fmt.Fprintf(&b, "cliente %c%s", 'a'+i%26, sep)
			for _, c := range row {
				b.WriteString(c.Text + sep)
			}
			b.WriteString("Campinas\n")
		}
		return []byte(b.String())
	}
}

// hardCarriers are the texts that textCarriers of scantest leave out.
var hardCarriers = []carrier{
	{Name: "pipes, no header", Write: joined("|")},
	{Name: "tildes, no header", Write: joined("~")},
	{Name: "NUL bytes", Write: joined("\x00")},
	{Name: "0x01 bytes", Write: joined("\x01")},
	{Name: "tuples without names", Write: func(rows [][]cellText) []byte {
		var b strings.Builder
		b.WriteString("INSERT INTO t VALUES ")
		for i, row := range rows {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "(%d,'Ana'", i+1)
			for _, c := range row {
				b.WriteString(",'" + strings.ReplaceAll(c.Text, "'", "''") + "'")
			}
			b.WriteString(",'Campinas')")
		}
		return []byte(b.String() + ";\n")
	}},
	{Name: "form-encoded", Named: true, Write: func(rows [][]cellText) []byte {
		var b strings.Builder
		for _, row := range rows {
			b.WriteString("nome=Ana+Lima")
			for _, c := range row {
				b.WriteString("&" + c.Name + "=" + url.QueryEscape(c.Text))
			}
			b.WriteString("&cidade=Campinas\n")
		}
		return []byte(b.String())
	}},
	{Name: "folded LDIF", Named: true, Write: func(rows [][]cellText) []byte {
		var b strings.Builder
		for i, row := range rows {
			fmt.Fprintf(&b, "dn: uid=u%d,dc=exemplo\n", i)
			for _, c := range row {
				line := []rune(c.Name + ": " + c.Text)
				for len(line) > 16 {
					b.WriteString(string(line[:16]) + "\n ")
					line = line[16:]
				}
				b.WriteString(string(line) + "\n")
			}
			b.WriteString("cn: Ana\n\n")
		}
		return []byte(b.String())
	}},
	{Name: "Firebase keys", Write: func(rows [][]cellText) []byte {
		var b strings.Builder
		b.WriteString("{\"users\":{\n")
		for i, row := range rows {
			if i > 0 {
				b.WriteString(",\n")
			}
			fmt.Fprintf(&b, "%q:{\"nome\":\"Ana\",\"nivel\":%d}", strings.ReplaceAll(row[0].Text, ".", ","), i)
		}
		return []byte(b.String() + "}}\n")
	}},
}

// oddSpellings are spellings that only the rest of a column tells, and others that scantest leaves out.
var oddSpellings = func() (all []spelling) {
	cpf := func(name string, write func(n string) string) {
		all = append(
			all,
			spelling{Kind: identifier.CPF, Name: name, Named: true, Write: func(r *rand.Rand) ([]cellText, string) {
				n := cpfWithZeros(r, 0)
				return []cellText{{Name: "cpf", Text: write(n)}}, n
			}},
		)
	}
	cpf("underscores", func(n string) string { return n[:3] + "_" + n[3:6] + "_" + n[6:9] + "_" + n[9:] })
	cpf("slashes", func(n string) string { return n[:3] + "/" + n[3:6] + "/" + n[6:9] + "/" + n[9:] })
	cpf("dots, underscore", func(n string) string { return n[:3] + "." + n[3:6] + "." + n[6:9] + "_" + n[9:] })
	cpf("with .00", func(n string) string { return n + ".00" })
	all = append(
		all,
		spelling{
			Kind:  identifier.CPF,
			Name:  "zeros lost by chance",
			Named: true,
			Write: func(r *rand.Rand) ([]cellText, string) {
				n := cpfWithZeros(r, max(0, r.IntN(8)-5))
				return []cellText{{Name: "cpf", Text: strings.TrimLeft(n, "0")}}, n
			},
		},
	)
	phone := func(name string, write func(a, f, l string) string) {
		all = append(
			all,
			spelling{Kind: identifier.Phone, Name: name, Named: true, Write: func(r *rand.Rand) ([]cellText, string) {
				a, f, l := []string{"11", "21", "41", "71", "85"}[r.IntN(5)], "9"+randomDigits(r, 4), randomDigits(r, 4)
				return []cellText{{Name: "telefone", Text: write(a, f, l)}}, "+55" + a + f + l
			}},
		)
	}
	phone("mobile, underscores", func(a, f, l string) string { return a + "_" + f + "_" + l })
	phone("mobile, stars", func(a, f, l string) string { return a + "*" + f + "*" + l })
	phone("mobile, exponent", func(a, f, l string) string { n := a + f + l; return n[:1] + "." + n[1:] + "E+10" })
	phone(
		"mobile, 55 and exponent",
		func(a, f, l string) string { n := "55" + a + f + l; return n[:1] + "," + n[1:] + "E+12" },
	)
	phone("mobile, padded to 14", func(a, f, l string) string { return "000" + a + f + l })
	phone("mobile, padded to 15", func(a, f, l string) string { return "0000" + a + f + l })
	all = append(
		all,
		spelling{
			Kind:  identifier.Phone,
			Name:  "area code apart, zero",
			Named: true,
			Write: func(r *rand.Rand) ([]cellText, string) {
				a, n := []string{"11", "21", "41", "71", "85"}[r.IntN(5)], "9"+randomDigits(r, 8)
				return []cellText{{Name: "ddd", Text: "0" + a}, {Name: "celular", Text: n}}, "+55" + a + n
			},
		},
	)
	card := func(name string, write func(n string) string) {
		all = append(
			all,
			spelling{Kind: identifier.Card, Name: name, Named: true, Write: func(r *rand.Rand) ([]cellText, string) {
				n := makeCard(r)
				return []cellText{{Name: "cartao", Text: write(n)}}, n
			}},
		)
	}
	fours := func(sep string) func(n string) string {
		return func(n string) string { return n[:4] + sep + n[4:8] + sep + n[8:12] + sep + n[12:] }
	}
	card("underscores", fours("_"))
	card("x", fours("x"))
	card("slashes", fours("/"))
	card("exponent", func(n string) string { return n[:1] + "." + n[1:] + "E+15" })
	card("padded to 20", func(n string) string { return "0000" + n })
	return all
}()

// isTwiceEncoded says whether a spelling that is an encoding itself would be encoded once more by its carrier.
func isTwiceEncoded(s *spelling, c *carrier) bool {
	cells, _ := s.Write(rand.New(rand.NewPCG(1, 1)))
	text := cells[len(cells)-1].Text
	isPlain := !strings.ContainsFunc(
		text,
		func(c rune) bool { return c >= 0x7f || strings.ContainsRune("&<>%={}[]?\\\"^", c) },
	) &&
		(s.Kind != identifier.Email || strings.Count(text, "@") == 1 && !strings.ContainsAny(text, " ("))
	return c.Name == "form-encoded" && !isPlain || c.Name == "folded LDIF" && strings.Contains(text, "<") ||
		c.Name == "Firebase keys" && s.Name != "plain"
}

// yardstick counts the formats that come out whole.
type yardstick struct {
	formats, whole, silent int
	bad                    map[string][]string // by spelling
}

func (y *yardstick) try(t *testing.T, kind identifier.Kind, spelling, carrier string, text []byte, want []Value) {
	t.Helper()
	got := sighted(t, text)
	missed := 0
	for _, v := range want {
		if _, ok := got[v]; !ok {
			missed++
		}
	}
	if y.formats++; missed == 0 {
		y.whole++
		return
	}
	if missed == len(want) {
		y.silent++
		carrier += " (all)"
	}
	key := kind.String() + ", " + spelling
	y.bad[key] = append(y.bad[key], carrier)
}

// TestFormatsComeOutWhole: of all ways to write an identifier, in all texts, with names of columns and without, at
// least 95 in 100 are found whole, and none is missed as a whole.
func TestFormatsComeOutWhole(t *testing.T) {
	y := yardstick{bad: map[string][]string{}}
	const rows = 60
	for _, s := range slices.Concat(spellings, oddSpellings) {
		if s.Lost != "" {
			continue
		}
		for _, spelled := range spell(&s, slices.Concat(textCarriers, hardCarriers), rows) {
			if isTwiceEncoded(&s, spelled.carrier) {
				continue
			}
			y.try(t, s.Kind, s.Name, spelled.carrier.Name, spelled.Text, spelled.Want)
		}
		// The same without names that say anything: the values of a column say what it is.
		mute := s
		mute.Named = false
		mute.Write = func(r *rand.Rand) ([]cellText, string) {
			cells, normal := s.Write(r)
			for i := range cells {
				cells[i].Name = fmt.Sprintf("campo%c", 'a'+i)
			}
			return cells, normal
		}
		for _, spelled := range spell(&mute, slices.Concat(textCarriers, hardCarriers), rows) {
			name := spelled.carrier.Name
			if apart := strings.HasPrefix(
				s.Name,
				"area code",
			); s.Kind == identifier.Email || !s.Named && !spelled.carrier.Named || name == "sentences" ||
				name == "Firebase keys" || apart && (name == "lines" || name == "HTML table") ||
				isTwiceEncoded(&s, spelled.carrier) {
				continue
			}
			y.try(t, s.Kind, s.Name, "mute "+name, spelled.Text, spelled.Want)
		}
	}
	t.Logf(
		"%d of %d formats whole (%.1f %%), %d silent",
		y.whole,
		y.formats,
		100*float64(y.whole)/float64(y.formats),
		y.silent,
	)
	for _, key := range slices.Sorted(maps.Keys(y.bad)) {
		t.Logf("  %s: %s", key, strings.Join(y.bad[key], "; "))
	}
	if y.whole*100 < y.formats*95 || y.silent > 0 {
		t.Errorf("%d of %d formats whole, %d silent", y.whole, y.formats, y.silent)
	}
}

// luhn closes digits with a check digit.
func luhn(body string) string {
	for c := range 10 {
		if n := fmt.Sprint(body, c); identifier.IsLuhnValid(n) {
			return n
		}
	}
	return body
}

// muteDecoys are numbers of things and moments in columns whose names say nothing of it.
var muteDecoys = map[string]func(d decoys, row int) string{
	"11 digits":  func(d decoys, _ int) string { return d.digits(11) },
	"10 digits":  func(d decoys, _ int) string { return d.digits(10) },
	"9 digits":   func(d decoys, _ int) string { return d.digits(9) },
	"8 digits":   func(d decoys, _ int) string { return d.digits(8) },
	"12 digits":  func(d decoys, _ int) string { return d.digits(12) },
	"13 digits":  func(d decoys, _ int) string { return d.digits(13) },
	"14 digits":  func(d decoys, _ int) string { return d.digits(14) },
	"16 digits":  func(d decoys, _ int) string { return d.digits(16) },
	"19 digits":  func(d decoys, _ int) string { return d.digits(19) },
	"any digits": func(d decoys, _ int) string { return d.digits(8 + d.IntN(12)) },
	"16 of 4":    func(d decoys, _ int) string { return "4" + d.digits(15) },
	"vouchers": func(d decoys, _ int) string {
		return d.digits(4) + "-" + d.digits(4) + "-" + d.digits(4) + "-" + d.digits(4)
	},
	"counter":         func(_ decoys, row int) string { return fmt.Sprint(3_140_012_345 + row) },
	"long counter":    func(_ decoys, row int) string { return fmt.Sprint(11_987_000_000 + row*7) },
	"times":           func(d decoys, _ int) string { return fmt.Sprint(1_600_000_000 + d.IntN(190_000_000)) },
	"times of a week": func(d decoys, _ int) string { return fmt.Sprint(1_731_400_000 + d.IntN(600_000)) },
	"milliseconds": func(d decoys, _ int) string {
		return fmt.Sprint(1_600_000_000_000 +
			d.Int64N(190_000_000_000))
	},
	"dates": func(d decoys, _ int) string {
		return fmt.Sprintf("%d%02d%02d", 1950+d.IntN(70), 1+d.IntN(12), 1+d.IntN(28))
	},
	"dates and times": func(d decoys, _ int) string {
		return fmt.Sprintf(
			"%d%02d%02d%02d%02d%02d",
			2015+d.IntN(10),
			1+d.IntN(12),
			1+d.IntN(28),
			d.IntN(24),
			d.IntN(60),
			d.IntN(60),
		)
	},
	"ISO times": func(d decoys, _ int) string {
		return fmt.Sprintf(
			"%d-%02d-%02d %02d:%02d:%02d.%s",
			2015+d.IntN(10),
			1+d.IntN(12),
			1+d.IntN(28),
			d.IntN(24),
			d.IntN(60),
			d.IntN(60),
			d.digits(6),
		)
	},
	"IPs": func(d decoys, _ int) string {
		return fmt.Sprintf("%d.%d.%d.%d", 100+d.IntN(156), 100+d.IntN(156), 100+d.IntN(156), d.IntN(100))
	},
	"IMEIs": func(d decoys, _ int) string {
		return luhn([]string{"35", "86", "01", "99"}[d.IntN(4)] +
			d.digits(12))
	},
	"ICCIDs":        func(d decoys, _ int) string { return luhn("8955" + d.digits(14)) },
	"one constant":  func(decoys, int) string { return "52998224725" },
	"two constants": func(_ decoys, row int) string { return []string{"4532015112830366", "11987654321"}[row%2] },
	"bar codes":     func(d decoys, _ int) string { return "789" + d.digits(10) },
	"coordinates":   func(d decoys, _ int) string { return "-23." + d.digits(8) },
	"prices":        func(d decoys, _ int) string { return fmt.Sprintf("%d.%s", d.IntN(100_000), d.digits(2)) },
	"fractions":     func(d decoys, _ int) string { return "0." + d.digits(16) },
	"accounts":      func(d decoys, _ int) string { return d.digits(4) + " " + d.digits(8) + "-" + d.digits(1) },
	"spaced pairs":  func(d decoys, _ int) string { return d.digits(5) + " " + d.digits(6) },
	"postal codes":  func(d decoys, _ int) string { return d.digits(5) + "-" + d.digits(3) },
	"slips":         func(d decoys, _ int) string { return d.digits(47) },
	"keys of notes": func(d decoys, _ int) string { return d.digits(44) },
	"versions":      func(d decoys, _ int) string { return "126.0." + d.digits(4) + "." + d.digits(3) },
}

var muteCarriers = map[string]func(name string, value func() string, lines int) string{
	"lines": func(_ string, value func() string, lines int) string { return eachLine(lines, value, "%s\n") },
	"table": func(name string, value func() string, lines int) string {
		return "nome;" + name + ";cor\n" + eachLine(lines, value, "item;%s;azul\n")
	},
	"no header, commas": func(_ string, value func() string, lines int) string {
		return eachLine(lines, value, "item,x,%s,azul\n")
	},
	"quotes": func(_ string, value func() string, lines int) string {
		return eachLine(lines, value, "\"item, um\",\"%s\",\"azul\"\n")
	},
	"objects": func(name string, value func() string, lines int) string {
		return eachLine(lines, value, "{\"nome\":\"x\",\""+name+"\":\"%s\"}\n")
	},
	"tuples": func(_ string, value func() string, lines int) string {
		return "INSERT INTO t VALUES " + eachLine(lines, value, "(1,'x','%s'),")
	},
	"labels": func(name string, value func() string, lines int) string {
		return eachLine(lines, value, "nome: item\n"+name+": %s\n\n")
	},
	"after a mail": func(_ string, value func() string, lines int) string {
		return eachLine(lines, value, "ana@exemplo.com:%s\n")
	},
}

func eachLine(n int, value func() string, line string) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, line, value())
	}
	return b.String()
}

// TestMuteDecoys: numbers that are nobody's, in columns whose names say nothing, become at most one identifier in a
// thousand lines of each kind.
func TestMuteDecoys(t *testing.T) {
	const lines = 2000
	all, lineCount := 0, 0
	for i, kind := range slices.Sorted(maps.Keys(muteDecoys)) {
		for k, carrier := range slices.Sorted(maps.Keys(muteCarriers)) {
			d, row := decoys{rand.New(rand.NewPCG(uint64(i), uint64(k)))}, 0
			text := muteCarriers[carrier]("campob", func() string { row++; return muteDecoys[kind](d, row) }, lines)
			wrong := []string{}
			for v := range sighted(t, []byte(text)) {
				if v.Kind != identifier.Email {
					wrong = append(wrong, v.Kind.String()+" "+v.Normal)
				}
			}
			if all, lineCount = all+len(wrong), lineCount+lines; len(wrong)*1000 > lines {
				t.Errorf("%s in %s: %d false values in %d lines, %.60q", kind, carrier, len(wrong), lines, wrong)
			}
		}
	}
	t.Logf("%d false values in %d lines of decoys", all, lineCount)
}
