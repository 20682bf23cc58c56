package console

import (
	"slices"
	"strings"
)

// A picture is a chart that the server draws: columns of stacked counts, with the same numbers as a table behind it.
// The drawing stretches to the width that it has and its labels are text beside it, so that they can be read on a
// telephone.
type picture struct {
	Title string
	// Lead says in words what the picture shows; it is also its name for screen readers.
	Lead    string
	Series  []pictureSeries
	Columns []pictureColumn
	Lines   []gridLine
	// Ticks stand below the columns: one for each column if IsCellwise, otherwise spread from the first to the last.
	Ticks      []string
	IsCellwise bool
	// First names what the columns are: days, weeks, partners.
	First string
	Width int
	// NoTotals says that the columns cannot be added up: they are means, hundredths of a whole, or overlap.
	NoTotals bool
	// Total is the sum of all columns, Span says over how many days.
	Total int64
	Span  string
	// Path leads to the rows that the total counts, if they have a list.
	Path string
}

// pictureSeries is one colour of a picture. Path leads to the rows that its total counts, if they have a list.
type pictureSeries struct {
	Label string
	Class string
	Total int64
	// Before is the total of as many days before, where the page compares them.
	Before int64
	Path   string
	// BeforePath leads to the rows of the days before.
	BeforePath string
}

// pictureColumn is one column of a bar chart; Values are its figures, Parts the rectangles that show them.
type pictureColumn struct {
	Label  string
	X      float64
	Values []int64
	// Paths lead to the rows of each value; nil where they have no list.
	Paths []string
	Parts []picturePart
}

// PathOf returns the list of the rows that a value counts; empty without one.
func (c pictureColumn) PathOf(i int) string {
	if c.Paths == nil || c.Values[i] == 0 {
		return ""
	}
	return c.Paths[i]
}

// picturePart is one rectangle of a column, with its text for the pointer in Title.
type picturePart struct {
	Y, H  float64
	Class string
	Title string
}

// gridLine is a horizontal line of a chart with the value that it stands for.
type gridLine struct {
	Y     float64
	Value int64
}

// Geometry of a picture, in the units of its view box. The page stretches both, each by its own.
const (
	pictureHeight = 100
	columnStep    = 10
	columnMargin  = 1.5
	// partGap is left between the parts of a column, and leastPart is how high one is that would hardly be seen.
	partGap   = 0.8
	leastPart = 1.5
	// leastCells is for how many columns there is room at least, so that one alone is no wall. Up to mostCells each has
	// its word below it; more have spreadTicks words in all.
	leastCells  = 6
	mostCells   = 10
	spreadTicks = 5
)

// pictured is a column before it is drawn.
type pictured struct {
	label, short string
	values       []int64
	// paths lead to the rows of each value; nil where they have no list.
	paths []string
}

// newPicture lays columns out. The first series stands at the bottom of each.
func newPicture(title, first string, series []pictureSeries, columns []pictured) picture {
	p := picture{
		Title:  title,
		First:  first,
		Series: slices.Clone(series),
		Width:  columnStep * max(leastCells, len(columns)),
	}
	var peak int64
	for _, c := range columns {
		var sum int64
		for i, v := range c.values {
			sum += v
			p.Series[i].Total += v
		}
		p.Total += sum
		peak = max(peak, sum)
	}
	top := niceCeiling(peak)
	for _, value := range []int64{top, top / 2, 0} {
		y := pictureHeight * (1 - float64(value)/float64(top))
		p.Lines = append(p.Lines, gridLine{Y: y, Value: value})
	}
	for i, c := range columns {
		one := pictureColumn{Label: c.label, X: columnStep*float64(i) + columnMargin, Values: c.values, Paths: c.paths}
		y := float64(pictureHeight)
		for j, of := range series {
			h := pictureHeight * float64(c.values[j]) / float64(top)
			if c.values[j] > 0 {
				h = max(h, leastPart) // one among thousands must still be seen
			}
			y -= h
			one.Parts = append(one.Parts, picturePart{
				Y:     roundToTenth(max(y, 0)),
				H:     roundToTenth(max(h-partGap, min(h, partGap))),
				Class: of.Class,
				Title: c.label + ", " + of.Label + ": " + groupedNumber(c.values[j]),
			})
		}
		p.Columns = append(p.Columns, one)
	}
	p.Ticks, p.IsCellwise = pictureTicks(columns)
	totals := make([]string, len(p.Series))
	for i, s := range p.Series {
		totals[i] = s.Label + ": " + groupedNumber(s.Total)
	}
	p.Lead = strings.Join(totals, ", ")
	return p
}

// pictureTicks returns the words below the columns, and whether each column has one.
func pictureTicks(columns []pictured) (ticks []string, isCellwise bool) {
	if len(columns) <= mostCells {
		for _, c := range columns {
			ticks = append(ticks, c.short)
		}
		return append(ticks, make([]string, max(0, leastCells-len(columns)))...), true
	}
	for i := range spreadTicks {
		ticks = append(ticks, columns[i*(len(columns)-1)/(spreadTicks-1)].short)
	}
	return ticks, false
}

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

// Empty reports whether there is nothing to draw.
func (p picture) Empty() bool {
	return !slices.ContainsFunc(p.Series, func(s pictureSeries) bool { return s.Total != 0 })
}

// FromTop returns the series in the order in which a column shows them, from its top down.
func (p picture) FromTop() []pictureSeries {
	list := slices.Clone(p.Series)
	slices.Reverse(list)
	return list
}
