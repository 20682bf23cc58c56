package console

import (
	"io"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/plan"
)

var noon = time.Date(2026, 11, 15, 15, 0, 0, 0, time.UTC) // 12:00 in Brasília

// TestWords: numbers, sizes, times and names as pages write them.
func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{groupedNumber(0), "0"}, {groupedNumber(999), "999"}, {groupedNumber(1000), "1.000"}, {groupedNumber(1234567), "1.234.567"}, {groupedNumber(-1234), "-1.234"},
		{formatByteSize(0), "0 B"}, {formatByteSize(999), "999 B"}, {formatByteSize(1000), "1,0 kB"}, {formatByteSize(12_340_000), "12,3 MB"},
		{formatByteSize(5e15), "5000,0 TB"},
		{formatDuration(850 * time.Microsecond), "850 µs"}, {formatDuration(12_340 * time.Microsecond), "12,3 ms"}, {formatDuration(time.Second), "1,0 s"},
		{formatDuration(time.Minute), "1 min"}, {formatDuration(time.Hour), "1 h"}, {formatDuration(47 * time.Hour), "47 h"}, {formatDuration(48 * time.Hour), "2 dias"},
		{formatReais(0), "0"}, {formatReais(5_000_000), "50.000"}, {formatReais(5_000_050), "50.000,50"}, {formatReais(101), "1,01"},
		{formatTime(time.Time{}, time.DateOnly), "—"}, {formatTime(noon, "02/01/2006 15:04"), "15/11/2026 12:00"},
		{formatDayField(time.Time{}), ""}, {formatDayField(noon), "15/11/2026"},
		{shortenID("op_1"), "op_1"}, {shortenID("op_0123456789abcdef"), "op_…89abcdef"}, {shortenID("plano ouro da cooperativa"), "plan…perativa"},
		{lastFourDigits("4111111111111111"), "****1111"}, {lastFourDigits("1234567"), "****"}, {lastFourDigits(""), "****"},
		{maskPersonName("Ana Élida  Souza"), "An••• S."}, {maskPersonName("Élida"), "Él•••"}, {maskPersonName(""), ""}, {monogramOf("ana.prado@x.br"), "AP"}, {monogramOf("Élida de Souza"), "ÉS"}, {monogramOf(""), ""},
		{groupInFours("ABCDEFGHI"), "ABCD EFGH I"}, {joinPath("breaches", "a/b c"), "/breaches/a%2Fb%20c"},
		{withoutQuery("https://x.example/h?token=1"), "https://x.example/h"},
		{kindCounts(map[identifier.Kind]int{identifier.CPF: 2, identifier.Email: 1}), "1 e-mail, 2 CPF"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestPagesParse: every page's template is right, and none is parsed before it is shown: together they are most of what an
// idle server would hold.
func TestPagesParse(t *testing.T) {
	t.Parallel()
	all, err := parsePages(templateFiles)
	if err != nil || len(all.byName) < 40 {
		t.Fatalf("%d pages: %v", len(all.byName), err)
	}
	for name, parsed := range all.byName {
		if one, err := parsed(); err != nil || one.Lookup("layout") == nil || one.Lookup("page") == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	files := fstest.MapFS{"templates/page.html": {Data: []byte(`{{define "page"}}{{`)}}
	for _, name := range partials {
		files["templates/"+name] = &fstest.MapFile{Data: []byte(`{{define "layout"}}{{template "page" .}}{{end}}`)}
	}
	broken, err := parsePages(files)
	if err != nil {
		t.Fatalf("a page was parsed before it was shown: %v", err)
	}
	if err := broken.renderPage(io.Discard, &frame{}, "page"); err == nil {
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
		"=1+1": "'=1+1", "+55": "'+55", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "Ana": "Ana", "": "", "a=b": "a=b",
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

// TestDeadline: a case is late when its clock runs and its time is over, due today when that is before midnight; a clock that
// stands makes nothing late.
func TestDeadline(t *testing.T) {
	now := time.Date(2026, 11, 17, 15, 0, 0, 0, time.UTC) // noon in Brasília
	for name, c := range map[string]struct {
		clock cyber.Clock
		want  deadline
	}{
		"late":         {cyber.Clock{Target: 4 * time.Hour, Since: now.Add(-7 * time.Hour)}, deadline{"bad", "Atrasado há 3 h"}},
		"soon":         {cyber.Clock{Target: 4 * time.Hour, Since: now.Add(-215 * time.Minute)}, deadline{"warn", "Vence em 25 min"}},
		"today":        {cyber.Clock{Target: 4 * time.Hour, Since: now.Add(time.Hour)}, deadline{"warn", "Vence hoje, 17:00"}},
		"tomorrow":     {cyber.Clock{Target: 20 * time.Hour, Since: now}, deadline{"", "Faltam 20 h"}},
		"stands, late": {cyber.Clock{Target: 4 * time.Hour, Used: 7 * time.Hour}, deadline{"", "Prazo parado"}},
		"no target":    {cyber.Clock{Since: now}, deadline{"", "Sem prazo"}},
	} {
		one := cyber.Case{Status: cyber.CaseInProgress, Clock: c.clock}
		if got := deadlineOf(one, now); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
		one.Status = cyber.CaseClosed
		if got := deadlineOf(one, now); got != (deadline{}) {
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
	if got := (filter{After: deliveryMark(d)}).deliveries(1).Before; !got.At.Equal(noon) || got.Partner != d.Partner || got.Endpoint != d.Endpoint || got.Seq != 7 {
		t.Errorf("%+v", got)
	}
}
