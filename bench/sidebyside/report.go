package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// report is the raw result of a run, as it is committed.
type report struct {
	Date     string            `json:"date"`
	Commit   string            `json:"commit"`
	Machine  string            `json:"machine"`
	Options  options           `json:"options"`
	Versions map[string]string `json:"versions"`
	Groups   []group           `json:"groups"`
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
	// Rounds has what each round measured where there was more than one; the value is the best of them.
	Rounds map[string][]float64 `json:"rounds,omitempty"`
}

const us = "Vigia"

// best of a measure among all sides, and the best among the others.
func (m measure) best(sides []string) (side string, value float64) {
	for _, s := range sides {
		v, ok := m.Values[s]
		if ok && (side == "" || (m.Lower && v < value) || (!m.Lower && v > value)) {
			side, value = s, v
		}
	}
	return side, value
}

// figure is a number as people read it: three digits that count, thousands apart.
func figure(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 100:
		digits := 2 - int(math.Floor(math.Log10(a)))
		return strconv.FormatFloat(v, 'f', max(0, min(digits, 4)), 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	text := strconv.FormatFloat(math.Round(v/unit)*unit, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// render is the generated part of README.md.
func (r report) render() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Run of %s, commit %s, %s; raw results: [results/%s](results/%s). Best of %d rounds where rounds are taken; **bold** is the best of its line.\n\n",
		r.Date, r.Commit, r.Machine, r.file(), r.file(), r.Options.Rounds)
	b.WriteString("| Tool | Version |\n|---|---|\n")
	for _, name := range sorted(r.Versions) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, r.Versions[name])
	}
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "\n### %s\n\n![%s](results/%s)\n\n", g.Title, g.Title, r.plotFile(g))
		fmt.Fprintf(&b, "| Work | Unit | %s |\n|---|---|%s\n", strings.Join(g.Sides, " | "), strings.Repeat("---:|", len(g.Sides)))
		for _, m := range g.Measures {
			fmt.Fprintf(&b, "| %s | %s |", m.What, m.unit())
			_, best := m.best(g.Sides)
			for _, s := range g.Sides {
				v, ok := m.Values[s]
				switch {
				case !ok:
					b.WriteString(" - |")
				case v == best:
					b.WriteString(" **" + figure(v) + "** |")
				default:
					b.WriteString(" " + figure(v) + " |")
				}
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("\n### Where Vigia loses in this run\n\n")
	n := b.Len()
	for _, g := range r.Groups {
		for _, m := range g.Measures {
			ours, ok := m.Values[us]
			side, best := m.best(g.Sides)
			if !ok || ours == best {
				continue
			}
			fmt.Fprintf(&b, "- %s, %s: %s %s, Vigia %s (%s).\n", g.Title, m.What, side, figure(best), figure(ours), m.unit())
		}
	}
	if b.Len() == n {
		b.WriteString("Nowhere.\n")
	}
	return b.String()
}

func (m measure) unit() string {
	if m.Lower {
		return m.Unit + ", less is better"
	}
	return m.Unit
}

func (r report) file() string { return "side-by-side-" + r.Date[:10] + ".json" }

func (r report) plotFile(g group) string {
	return "side-by-side-" + r.Date[:10] + "-" + g.Name + ".svg"
}
