package console

import (
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/web/pages"
)

var noon = time.Date(2026, 11, 15, 15, 0, 0, 0, time.UTC) // 12:00 in Brasília

// TestWords: numbers, sizes, times and names as pages write them.
func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{groupedNumber(0), "0"},
		{groupedNumber(999), "999"},
		{groupedNumber(1000), "1.000"},
		{groupedNumber(1234567), "1.234.567"},
		{groupedNumber(-1234), "-1.234"},
		{formatByteSize(0), "0 B"},
		{formatByteSize(999), "999 B"},
		{formatByteSize(1000), "1,0 kB"},
		{formatByteSize(12_340_000), "12,3 MB"},
		{formatByteSize(5e15), "5000,0 TB"},
		{formatDuration(850 * time.Microsecond), "850 µs"},
		{formatDuration(12_340 * time.Microsecond), "12,3 ms"},
		{formatDuration(time.Second), "1,0 s"},
		{formatDuration(time.Minute), "1 min"},
		{formatDuration(time.Hour), "1 h"},
		{formatDuration(47 * time.Hour), "47 h"},
		{formatDuration(48 * time.Hour), "2 dias"},
		{formatReais(0), "0"},
		{formatReais(5_000_000), "50.000"},
		{formatReais(5_000_050), "50.000,50"},
		{formatReais(101), "1,01"},
		{formatTime(time.Time{}, time.DateOnly), "—"},
		{formatTime(noon, "02/01/2006 15:04"), "15/11/2026 12:00"},
		{formatDayField(time.Time{}), ""},
		{formatDayField(noon), "15/11/2026"},
		{shortenID("op_1"), "op_1"},
		{shortenID("op_0123456789abcdef"), "op_…89abcdef"},
		{shortenID("plano ouro da cooperativa"), "plan…perativa"},
		{lastFourDigits("4111111111111111"), "****1111"},
		{lastFourDigits("1234567"), "****"},
		{lastFourDigits(""), "****"},
		{maskPersonName("Ana Élida  Souza"), "An••• S."},
		{maskPersonName("Élida"), "Él•••"},
		{maskPersonName(""), ""},
		{monogramOf("ana.prado@x.br"), "AP"},
		{monogramOf("Élida de Souza"), "ÉS"},
		{monogramOf("Beatriz Pau-Ferro"), "BP"}, // the letters that the masked name shows
		{monogramOf(""), ""},
		{groupInFours("ABCDEFGHI"), "ABCD EFGH I"},
		{joinPath("breaches", "a/b c"), "/breaches/a%2Fb%20c"},
		{alert.Endpoint{URL: "https://x.example/h?token=1"}.Address(), "https://x.example/h"},
		{kindCounts(map[identifier.Kind]int{identifier.CPF: 2, identifier.Email: 1}), "1 e-mail, 2 CPF"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestPagesParse: every page's template is right, and none is parsed before it is shown: together they are most of what
// an idle server would hold.
func TestPagesParse(t *testing.T) {
	t.Parallel()
	all, err := parsedPages()
	if err != nil || len(all.Names()) < 40 {
		t.Fatalf("%d pages: %v", len(all.Names()), err)
	}
	for _, name := range all.Names() {
		if one, err := all.Find(name); err != nil || one.Lookup("layout") == nil || one.Lookup("page") == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	files := fstest.MapFS{"templates/page.html": {Data: []byte(`{{define "page"}}{{`)}}
	for _, name := range partials {
		files["templates/"+name] = &fstest.MapFile{Data: []byte(`{{define "layout"}}{{template "page" .}}{{end}}`)}
	}
	broken, err := pages.ParseTemplates(files, functions, partials...)
	if err != nil {
		t.Fatalf("a page was parsed before it was shown: %v", err)
	}
	c := &Console{templates: broken}
	if err := c.renderPage(io.Discard, &frame{}, "page"); err == nil {
		t.Error("a broken page was shown")
	}
}

// TestParseReais: what a form takes as an amount, and what it refuses.
func TestParseReais(t *testing.T) {
	for text, want := range map[string]plan.Money{
		"0": 0, "50000": 5_000_000, " 50.000 ": 5_000_000, "50.000,5": 5_000_050, "50.000,50": 5_000_050, "0,01": 1,
		"1000000000000": 100_000_000_000_000, "R$ 50.000,00": 5_000_000, "R$\u00a01,50": 150,
	} {
		if got, err := parseReais("limit", text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1,234", "US$ 5", "R$", "+5", "1000000000001", "1,x", ",50"} {
		if got, err := parseReais("limit", text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

// TestPlainCell: a spreadsheet must not take a name for a formula.
func TestPlainCell(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+55": "'+55", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "Ana": "Ana", "": "",
		"a=b": "a=b",
	} {
		if got := plainCell(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestNiceCeiling: halves of what stands above a chart are whole numbers.
func TestNiceCeiling(t *testing.T) {
	for n, want := range map[int64]int64{0: 2, 1: 2, 2: 2, 3: 4, 5: 10, 11: 20, 21: 40, 41: 100, 1001: 2000} {
		if got := niceCeiling(n); got != want {
			t.Errorf("the ceiling of %d is %d, want %d", n, got, want)
		}
	}
}

// TestDeadline: a case is late when its clock runs and its time is over, due today when that is before midnight; a
// clock that stands makes nothing late.
func TestDeadline(t *testing.T) {
	now := time.Date(2026, 11, 17, 15, 0, 0, 0, time.UTC) // noon in Brasília
	for name, c := range map[string]struct {
		clock cyber.Clock
		want  badge
	}{
		"late": {
			cyber.Clock{Target: 4 * time.Hour, Since: now.Add(-7 * time.Hour)}, badge{"bad", "Atrasado há 3 h"},
		},
		"soon": {
			cyber.Clock{Target: 4 * time.Hour, Since: now.Add(-215 * time.Minute)}, badge{"warn", "Vence em 25 min"},
		},
		"today": {
			cyber.Clock{Target: 4 * time.Hour, Since: now.Add(time.Hour)}, badge{"warn", "Vence hoje, 17:00"},
		},
		"tomorrow":     {cyber.Clock{Target: 20 * time.Hour, Since: now}, badge{"", "Faltam 20 h"}},
		"stands, late": {cyber.Clock{Target: 4 * time.Hour, Used: 7 * time.Hour}, badge{"", "Prazo parado"}},
		"no target":    {cyber.Clock{Since: now}, badge{"", "Sem prazo"}},
	} {
		one := cyber.Case{Status: cyber.CaseInProgress, Clock: c.clock}
		if got := deadlineOf(one, now); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
		one.Status = cyber.CaseClosed
		if got := deadlineOf(one, now); got != (badge{}) {
			t.Errorf("%s: a closed case has a deadline: %+v", name, got)
		}
	}
}

// TestMarks: where a list goes on survives the way through an address.
func TestMarks(t *testing.T) {
	f := filter{After: formatMark(cyber.Mark{At: noon.Add(3 * time.Microsecond), ID: "a&b=c.d"})}
	if m := f.parseMark(); !m.At.Equal(noon.Add(3*time.Microsecond)) || m.ID != "a&b=c.d" {
		t.Errorf("%+v", m)
	}
	if m := (filter{After: "yesterday.x"}).parseMark(); m != (cyber.Mark{}) {
		t.Errorf("%+v", m)
	}
	d := alert.DeliveryMark{At: noon, Partner: "pt_1", Endpoint: "we_1", Seq: 7}
	difftest.Check(t, "the mark of a delivery", parseDeliveryMark(formatDeliveryMark(d)), d)
}

var (
	blockWord = regexp.MustCompile(`\{\{-? ?(range|if|with|define|block|end)\b`)
	control   = regexp.MustCompile(`(?s)<(summary|button|a) ([^>]*)>(.*?)</(?:summary|button|a)>`)
	iconCall  = regexp.MustCompile(`\{\{icon [^}]*\}\}`)
	asking    = regexp.MustCompile(`\{\{template "(?:reveal|confirm)" \(dict [^\n]*?\)\}\}`)
	// manyOf is a number with a word in the plural behind it, which nobody asked to agree.
	manyOf = regexp.MustCompile(
		`\{\{(?:number |len )?[$.][\w.$ ]*\}\} (?:[a-zçãõáéíóúâêô]+(?:as|es|os|ões|ais)|mais)\b|"[^"]*%d [a-zçãõáéíóúâêô]+s\b`,
	)
)

// repeated tells whether what stands behind a part of a template is there once for every row.
func repeated(before string) bool {
	var open []string
	for _, m := range blockWord.FindAllStringSubmatch(before, -1) {
		if m[1] != "end" {
			open = append(open, m[1])
		} else if len(open) > 0 {
			open = open[:len(open)-1]
		}
	}
	return slices.Contains(open, "range")
}

func eachTemplate(t *testing.T, look func(name, text string)) {
	t.Helper()
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil || len(names) < 50 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(templateFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		look(name, string(text))
	}
}

// TestRepeatedControlsHaveNames: a button or link that stands in every row says, to a screen reader too, which row is
// meant.
func TestRepeatedControlsHaveNames(t *testing.T) {
	seen := 0
	eachTemplate(t, func(name, text string) {
		for _, m := range control.FindAllStringSubmatchIndex(text, -1) {
			attributes, said := text[m[4]:m[5]], iconCall.ReplaceAllString(text[m[6]:m[7]], "")
			if !repeated(text[:m[0]]) || strings.Contains(attributes, "aria-label") {
				continue
			}
			if _, href, link := strings.Cut(attributes, `href="`); link && !strings.Contains(href, "{{") {
				continue // it leads to the same place from every row
			}
			if seen++; !strings.Contains(said, "{{") {
				t.Errorf("%s: %q stands in every row and names none", name, text[m[0]:m[1]])
			}
		}
		for _, m := range asking.FindAllStringIndex(text, -1) {
			if seen++; repeated(text[:m[0]]) && !strings.Contains(text[m[0]:m[1]], `"of"`) {
				t.Errorf("%s: %q stands in every row and names none", name, text[m[0]:m[1]])
			}
		}
	})
	if seen < 30 {
		t.Error("only", seen, "controls were seen: are the patterns right?")
	}
}

// TestNumbersAgree: what stands behind a number agrees with it: 1 falha seguida, 2 falhas seguidas.
func TestNumbersAgree(t *testing.T) {
	eachTemplate(t, func(name, text string) {
		for _, found := range manyOf.FindAllString(text, -1) {
			if !slices.Contains(always, found) {
				t.Errorf("%s: %q: one of them reads wrong; use plural", name, found)
			}
		}
	})
	if formatTimeLeft(time.Hour) != "falta 1 h" || formatTimeLeft(3*time.Hour) != "faltam 3 h" {
		t.Error(formatTimeLeft(time.Hour), formatTimeLeft(3*time.Hour))
	}
	for n, want := range map[int64]string{0: "0 dias", 1: "1 dia", 2: "2 dias", 1500: "1.500 dias"} {
		if got := countWithWord(n, "dia", "dias"); got != want {
			t.Error(got)
		}
	}
}

// always are numbers that are never one.
var always = []string{"{{.Data.Min}} caracteres"}

// TestPicture: parts stand on each other and fit, the numbers of the table are those of the columns, and a year is
// drawn in weeks.
func TestPicture(t *testing.T) {
	days := make([]operator.DayCount, 365)
	for i := range days {
		days[i] = operator.DayCount{Day: noon.AddDate(0, 0, i-364).Truncate(24 * time.Hour), Count: 1}
	}
	p := pictureOverTime("x", []pictureSeries{{Label: "a", Class: "c0"}, {Label: "b", Class: "c1"}}, days, days)
	if len(p.Columns) != 53 || p.Series[0].Total != 365 || p.Columns[0].Values[1] != 7 ||
		p.First != "Semana que começa em" {
		t.Fatalf("%d columns, %+v, first %+v", len(p.Columns), p.Series, p.Columns[0])
	}
	for _, c := range p.Columns {
		if low, high := c.Parts[0], c.Parts[1]; high.Y < 0 || low.Y+low.H > pictureHeight+0.2 ||
			high.Y+high.H > low.Y+0.2 ||
			c.X+columnStep > float64(p.Width)+columnMargin {
			t.Fatalf("%+v", c)
		}
	}
	if p.Lead != "a: 365, b: 365" || p.Empty() {
		t.Errorf("%q", p.Lead)
	}
	month := pictureOverTime("x", []pictureSeries{{Label: "a"}}, days[:30])
	if n := len(month.Ticks); len(month.Columns) != 30 || n != spreadTicks || month.IsCellwise ||
		month.Ticks[0] != month.Columns[0].Label[:5] || month.Ticks[n-1] != month.Columns[29].Label[:5] {
		t.Errorf("%d columns, ticks %q", len(month.Columns), month.Ticks)
	}
	week := pictureOverTime("x", []pictureSeries{{Label: "a"}}, days[:7])
	if len(week.Ticks) != 7 || !week.IsCellwise {
		t.Errorf("a week has the ticks %q", week.Ticks)
	}
	if none := newPicture("x", "y", []pictureSeries{{Label: "a"}}, nil); !none.Empty() || len(none.Lines) != 3 {
		t.Errorf("%+v", none)
	}
	for n, want := range map[int64]string{
		0: "0", 999: "999", 9999: "9.999", 12_300: "12,3 mil", 40_000: "40 mil", 2_500_000: "2,5 mi",
	} {
		if got := briefNumber(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
	if formatShare(1, 3) != "33,3%" || formatShare(0, 0) != "—" ||
		!strings.HasPrefix(truncateName("Cooperativa", 9), "Cooperat") {
		t.Error(formatShare(1, 3), formatShare(0, 0), truncateName("Cooperativa", 9))
	}
}

// TestPortalRightsFitRoutes: a right of partners' people stands where it has an effect. What comes before a session
// asks for none, and a file that is sent is refused before its form, which may name another partner, is read.
func TestPortalRightsFitRoutes(t *testing.T) {
	for _, rt := range routes {
		if rt.portal != closed && (rt.role == "" || rt.upload) {
			t.Errorf("%s: a right of partners' people has no effect", rt.tableKey())
		}
		if rt.portalRun != nil && rt.portal == closed {
			t.Errorf("%s has a page for partners' people, but is closed to them", rt.tableKey())
		}
	}
}

// TestPagesAskForKnownRoutes: a page that asks whether somebody can do something names a route.
func TestPagesAskForKnownRoutes(t *testing.T) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`\.Can "([^"]+)"`)
	seen := 0
	for _, name := range names {
		text, err := fs.ReadFile(templateFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllSubmatch(text, -1) {
			seen++
			if _, err := (&frame{}).Can(string(m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if seen < 5 {
		t.Error("only", seen, "questions: is the pattern right?")
	}
}
