package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/operator"
)

// A picture is a chart that the server draws: columns of stacked counts, as SVG, with the same numbers as a table behind it.
// It is narrow, so that its letters can be read on a telephone.
type picture struct {
	Title string
	// Lead says in words what the picture shows; it is also its name for screen readers.
	Lead    string
	Series  []pictureSeries
	Columns []pictureColumn
	Lines   []gridLine
	// First names what the columns are: days, weeks, partners.
	First                     string
	Width, Height, Left, Base int
	// NoTotals says that the columns cannot be added up: they are means, or hundredths of a whole.
	NoTotals bool
}

// pictureSeries is one colour of a picture.
type pictureSeries struct {
	Label string
	Class string
	Total int64
}

// pictureColumn is one column of a bar chart; Values are its figures, Parts the rectangles that show them.
type pictureColumn struct {
	Label string
	// Short stands below the column, around Tick; empty where there is no room.
	Short  string
	Tick   float64
	X      float64
	Values []int64
	Parts  []picturePart
}

// picturePart is one rectangle of a column, with its text for the pointer in Title.
type picturePart struct {
	Y, W, H float64
	Class   string
	Title   string
}

// gridLine is a horizontal line of a chart with the value that it stands for.
type gridLine struct {
	Y     float64
	Value int64
}

// roundToTenth rounds to one decimal.
func roundToTenth(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }

// niceCeiling returns the least of 2, 4, 10, 20, 40, 100, ... that is not below n: halves of it are whole numbers.
func niceCeiling(n int64) int64 {
	for scale := int64(1); ; scale *= 10 {
		for _, m := range []int64{2, 4, 10} {
			if m*scale >= n {
				return m * scale
			}
		}
	}
}

// Geometry of a picture, in the units of its view box.
const (
	pictureWidth  = 360
	pictureHeight = 190
	pictureLeft   = 44
	pictureTop    = 10
	pictureBase   = 158
	// letterWidth is how much room a letter below a column takes.
	letterWidth = 6.2
)

// pictured is a column before it is drawn.
type pictured struct {
	label, short string
	values       []int64
}

// newPicture lays columns out. Ticks are written below as many columns as have room for their words.
func newPicture(title, first string, series []pictureSeries, columns []pictured) picture {
	p := picture{Title: title, First: first, Series: slices.Clone(series), Width: pictureWidth, Height: pictureHeight, Left: pictureLeft, Base: pictureBase}
	var peak int64
	for _, c := range columns {
		var sum int64
		for i, v := range c.values {
			sum += v
			p.Series[i].Total += v
		}
		peak = max(peak, sum)
	}
	top := niceCeiling(peak)
	for i := range int64(3) {
		value := top * i / 2
		p.Lines = append(p.Lines, gridLine{Y: pictureBase - float64(pictureBase-pictureTop)*float64(value)/float64(top), Value: value})
	}
	if len(columns) == 0 {
		return p
	}
	step := float64(pictureWidth-pictureLeft) / float64(len(columns))
	every := max(1, (len(columns)+5)/6)
	room := step * float64(every)
	for i, c := range columns {
		one := pictureColumn{Label: c.label, X: roundToTenth(pictureLeft + step*float64(i) + step*0.1), Values: c.values}
		if (len(columns)-1-i)%every == 0 {
			one.Short = truncateName(c.short, max(3, int(room/letterWidth)))
			half := float64(utf8.RuneCountInString(one.Short)) * letterWidth / 2
			one.Tick = roundToTenth(min(one.X+step*0.4, pictureWidth-half))
		}
		y := float64(pictureBase)
		for j, of := range series {
			v := c.values[j]
			h := float64(pictureBase-pictureTop) * float64(v) / float64(top)
			if v > 0 {
				h = max(h, 1.5) // one among thousands must still be seen
			}
			y -= h
			one.Parts = append(one.Parts, picturePart{
				Y: roundToTenth(y), W: roundToTenth(step * 0.8), H: roundToTenth(h), Class: of.Class, Title: c.label + ", " + of.Label + ": " + groupedNumber(c.values[j]),
			})
		}
		p.Columns = append(p.Columns, one)
	}
	p.Lead = p.describeInWords()
	return p
}

// describeInWords tells what there is in all, series by series.
func (p picture) describeInWords() string {
	text := ""
	for i, s := range p.Series {
		if i > 0 {
			text += ", "
		}
		text += s.Label + ": " + groupedNumber(s.Total)
	}
	return text
}

// Empty reports whether there is nothing to draw.
func (p picture) Empty() bool {
	return !slices.ContainsFunc(p.Series, func(s pictureSeries) bool { return s.Total != 0 })
}

// pictures are those of a page, over one period.
type pictures struct {
	List    []picture
	Periods []period
}

// period is a link that shows a chart over another span of time.
type period struct {
	Label, Path string
	Current     bool
}

// periods are what pictures can be asked over, in days.
var periods = []struct {
	days  int
	label string
}{{7, "7 dias"}, {30, "30 dias"}, {90, "90 dias"}, {365, "1 ano"}}

const defaultPeriod = 30

// parsePeriod reads over how many days the pictures of a page are.
func parsePeriod(r *request) int {
	days, _ := strconv.Atoi(r.URL.Query().Get("dias")) // anything else is the usual period
	if slices.ContainsFunc(periods, func(p struct {
		days  int
		label string
	}) bool {
		return p.days == days
	}) {
		return days
	}
	return defaultPeriod
}

// addPictures hands pictures to the page that is answered.
func (r *request) addPictures(list ...picture) {
	days, path := parsePeriod(r), r.URL.Path
	if r.Method == http.MethodPost { // an action that shows its page again
		path = path[:strings.LastIndexByte(path, '/')]
	}
	r.pictures = &pictures{List: list}
	for _, p := range periods {
		q := url.Values{}
		for name, values := range r.URL.Query() {
			if name != "done" {
				q[name] = values
			}
		}
		q.Set("dias", strconv.Itoa(p.days))
		r.pictures.Periods = append(r.pictures.Periods, period{p.label, path + "?" + q.Encode() + "#graficos", p.days == days})
	}
}

// pictureOverTime returns a picture of days, or of weeks when there are more days than columns can be told apart.
func pictureOverTime(title string, series []pictureSeries, counts ...[]operator.DayCount) picture {
	each, first := 1, "Dia"
	if len(counts[0]) > 92 {
		each, first = 7, "Semana que começa em"
	}
	var columns []pictured
	for i := 0; i < len(counts[0]); i += each {
		day := counts[0][i].Day
		c := pictured{label: day.Format("02/01/2006"), short: day.Format("02/01"), values: make([]int64, len(counts))}
		for j, days := range counts {
			for _, d := range days[i:min(i+each, len(days))] {
				c.values[j] += d.Count
			}
		}
		columns = append(columns, c)
	}
	return newPicture(title, first, series, columns)
}

// formatShare writes a part of a whole as a percentage; "—" of nothing.
func formatShare(part, whole int64) string {
	if whole == 0 {
		return "—"
	}
	return formatTenths(part*1000/whole) + "%"
}

// formatTenths writes a number of tenths with a comma.
func formatTenths(n int64) string { return fmt.Sprintf("%d,%d", n/10, n%10) }

// largestColumns keeps the columns with the most, the largest first.
func largestColumns(columns []pictured, most int) []pictured {
	slices.SortStableFunc(columns, func(a, b pictured) int { return cmp.Compare(b.values[0], a.values[0]) })
	columns = slices.DeleteFunc(columns, func(c pictured) bool { return c.values[0] == 0 })
	return columns[:min(len(columns), most)]
}

// meanDuration returns how long one of n took.
func meanDuration(micros, n int64) time.Duration {
	if n == 0 {
		return 0
	}
	return time.Duration(micros/n) * time.Microsecond
}
