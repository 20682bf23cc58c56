package console

import (
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
)

// TestPicture: parts stand on each other and fit, the numbers of the table are those of the columns, and a year is drawn in
// weeks.
func TestPicture(t *testing.T) {
	days := make([]operator.DayCount, 365)
	for i := range days {
		days[i] = operator.DayCount{Day: noon.AddDate(0, 0, i-364).Truncate(24 * time.Hour), Count: 1}
	}
	p := pictureOverTime("x", []pictureSeries{{Label: "a", Class: "c0"}, {Label: "b", Class: "c1"}}, days, days)
	if len(p.Columns) != 53 || p.Series[0].Total != 365 || p.Columns[0].Values[1] != 7 || p.First != "Semana que começa em" {
		t.Fatalf("%d columns, %+v, first %+v", len(p.Columns), p.Series, p.Columns[0])
	}
	for _, c := range p.Columns {
		if low, high := c.Parts[0], c.Parts[1]; high.Y < pictureTop-1 || low.Y+low.H > pictureBase+0.2 || high.Y+high.H > low.Y+0.2 || c.X+low.W > pictureWidth {
			t.Fatalf("%+v", c)
		}
	}
	if p.Lead != "a: 365, b: 365" || p.Empty() {
		t.Errorf("%q", p.Lead)
	}
	month := pictureOverTime("x", []pictureSeries{{Label: "a"}}, days[:30])
	ticks := 0
	for _, c := range month.Columns {
		if c.Short != "" {
			ticks++
		}
	}
	if len(month.Columns) != 30 || ticks > 6 || month.Columns[29].Short == "" {
		t.Errorf("%d columns, %d ticks", len(month.Columns), ticks)
	}
	if none := newPicture("x", "y", []pictureSeries{{Label: "a"}}, nil); !none.Empty() || len(none.Lines) != 3 {
		t.Errorf("%+v", none)
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 9999: "9.999", 12_300: "12,3 mil", 40_000: "40 mil", 2_500_000: "2,5 mi"} {
		if got := briefNumber(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
	if formatShare(1, 3) != "33,3%" || formatShare(0, 0) != "—" || !strings.HasPrefix(truncateName("Cooperativa", 9), "Cooperat") {
		t.Error(formatShare(1, 3), formatShare(0, 0), truncateName("Cooperativa", 9))
	}
}
