package main

import (
	"fmt"
	"html"
	"strings"
)

// colours of the sides: ours first, then ones that are told apart in grey as well.
var colours = []string{"#0b6e4f", "#c8553d", "#8d99ae", "#e0a458", "#5c4d7d", "#a3b18a"}

// plot draws a group as bars lying down, each measure on a scale of its own: its longest bar is as long as the picture
// allows.
func plot(g group) string {
	const (
		width, left, longest = 820, 190, 470
		bar, gap, title      = 14, 3, 30
	)
	var b strings.Builder
	y := 14
	for _, m := range g.Measures {
		most := 0.0
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
			length := 0.0
			if most > 0 {
				length = v / most * longest
			}
			fmt.Fprintf(&b, `<text x="%d" y="%d" class="s">%s</text><rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/><text x="%.1f" y="%d">%s</text>`+"\n",
				left-8, y+bar-3, html.EscapeString(side), left, y, max(length, 1), bar, colours[i%len(colours)], left+max(length, 1)+6, y+bar-3, figure(v))
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
