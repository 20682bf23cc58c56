package main

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/bench/load"
)

// report is the raw result of a run, as it is committed.
type report struct {
	Date     string            `json:"date"`
	Commit   string            `json:"commit"`
	Machine  string            `json:"machine"`
	Options  map[string]int    `json:"options"` // what was asked for
	Versions map[string]string `json:"versions"`
	Groups   []*group          `json:"groups"`
}

// group is one comparison: the sides are the columns of its table.
type group struct {
	Name     string    `json:"name"` // of the plot's file
	Title    string    `json:"title"`
	Sides    []string  `json:"sides"` // ours first
	Measures []measure `json:"measures"`
}

// measure is one line of the table. A side that cannot do the work has no value.
type measure struct {
	What   string             `json:"what"`
	Unit   string             `json:"unit"`
	Lower  bool               `json:"lower_is_better"`
	Values map[string]float64 `json:"values"`
	// Rounds has what each round measured where there was more than one; the value is their median.
	Rounds map[string][]float64 `json:"rounds,omitempty"`
}

const us = "Vigia"

// group begins a comparison with rivals.
func (r *report) group(name, title string, rivals ...string) *group {
	g := &group{Name: name, Title: title, Sides: append([]string{us}, rivals...)}
	r.Groups = append(r.Groups, g)
	return g
}

// compare lets rivals and then ours take turns. Ours has to reach so many times what the first rival does. It returns
// how to judge the same by another one.
func (g *group) compare(what, unit string, least float64, worth func(load.Result) float64,
	run func(side string) load.Result, rivals ...string,
) (judge func(rival string, least float64)) {
	var sides []load.Side
	m := measure{What: what, Unit: unit, Values: map[string]float64{}, Rounds: map[string][]float64{}}
	for _, s := range append(rivals, us) {
		sides = append(sides, load.Side{Name: s, Run: func() load.Result { return run(s) }})
	}
	sides[len(rivals)].Least = least
	all := map[string]load.Series{}
	for i, took := range load.Compare(g.Title+", "+what, unit, worth, sides...) {
		name := sides[i].Name
		all[name], m.Rounds[name] = took, took.Values(worth)
		m.Values[name] = load.Median(m.Rounds[name])
	}
	g.Measures = append(g.Measures, m)
	return func(rival string, least float64) {
		load.Side{Name: us, Least: least}.Judge(rival, all[us].Ratios(all[rival], worth))
	}
}

// add puts figures that are taken once into a line; less is better, but of per cent.
func (g *group) add(what, unit string, values map[string]float64) {
	for _, m := range g.Measures {
		if m.What == what {
			maps.Copy(m.Values, values)
			return
		}
	}
	g.Measures = append(g.Measures, measure{What: what, Unit: unit, Lower: unit != "%", Values: values})
}

// best of a measure among all sides, and the best among the others.
func (m measure) best(sides []string) (side string, value float64) {
	for _, s := range sides {
		v, ok := m.Values[s]
		if ok && (side == "" || v != value && v < value == m.Lower) {
			side, value = s, v
		}
	}
	return side, value
}

// render is the generated part of README.md.
func (r report) render() string {
	var b, losses strings.Builder
	fmt.Fprintf(&b, "Run of %s, commit %s, %s; raw results: [results/%s](results/%[4]s). "+
		"Median of %[5]d rounds where rounds are taken; **bold** is the best of its line.\n\n",
		r.Date, r.Commit, r.Machine, r.file(), r.Options["rounds"])
	b.WriteString("| Tool | Version |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, r.Versions[name])
	}
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "\n### %s\n\n![%[1]s](results/%s)\n\n| Work | Unit | %s |\n|---|---|%s\n", g.Title, r.plotFile(g),
			strings.Join(g.Sides, " | "), strings.Repeat("---:|", len(g.Sides)))
		for _, m := range g.Measures {
			fmt.Fprintf(&b, "| %s | %s |", m.What, m.unit())
			side, best := m.best(g.Sides)
			for _, s := range g.Sides {
				cell := "-"
				if v, ok := m.Values[s]; ok && v == best {
					cell = "**" + load.Figure(v) + "**"
				} else if ok {
					cell = load.Figure(v)
				}
				b.WriteString(" " + cell + " |")
			}
			b.WriteByte('\n')
			if ours, ok := m.Values[us]; ok && ours != best {
				fmt.Fprintf(&losses, "- %s, %s: %s %s, Vigia %s (%s).\n", g.Title, m.What, side, load.Figure(best), load.Figure(ours), m.unit())
			}
		}
	}
	return b.String() + "\n### Where Vigia loses in this run\n\n" + cmp.Or(losses.String(), "Nowhere.\n")
}

func (m measure) unit() string {
	if m.Lower {
		return m.Unit + ", less is better"
	}
	return m.Unit
}

func (r report) file() string { return "side-by-side-" + r.Date[:10] + ".json" }

func (r report) plotFile(g *group) string {
	return strings.TrimSuffix(r.file(), ".json") + "-" + g.Name + ".svg"
}

// colours of the sides: ours first, then ones that are told apart in grey as well.
var colours = []string{"#0b6e4f", "#c8553d", "#8d99ae", "#e0a458", "#5c4d7d", "#a3b18a"}

// plot draws a group as bars lying down, each measure on a scale of its own: its longest bar is as long as the picture
// allows.
func plot(g *group) string {
	const (
		width, left, longest = 820, 190, 470
		bar, gap, title      = 14, 3, 30
	)
	var b strings.Builder
	y := 14
	for _, m := range g.Measures {
		most := 1e-9 // so that a bar of nothing has a length
		for _, v := range m.Values {
			most = max(most, v)
		}
		fmt.Fprintf(&b, `<text x="12" y="%d" class="t">%s (%s)</text>`+"\n", y+16, html.EscapeString(m.What), html.EscapeString(m.unit()))
		y += title - 6
		for i, side := range g.Sides {
			v, ok := m.Values[side]
			if !ok {
				continue
			}
			length := max(1, v/most*longest)
			fmt.Fprintf(&b, `<text x="%d" y="%d" class="s">%s</text><rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/><text x="%.1f" y="%d">%s</text>`+"\n",
				left-8, y+bar-3, html.EscapeString(side), left, y, length, bar, colours[i%len(colours)], left+length+6, y+bar-3, load.Figure(v))
			y += bar + gap
		}
		y += 8
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">
<style>text{font:12px system-ui,sans-serif;fill:#222}.t{font-weight:600}.s{text-anchor:end}</style>
<rect width="100%%" height="100%%" fill="#fff"/>
%s</svg>
`, width, y+6, width, y+6, html.EscapeString(g.Title), b.String())
}
