package console

import (
	"html/template"
)

// icons are drawn with strokes on a grid of 24; all of them are ours.
var icons = map[string]string{
	"chart":    `<path d="M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6"/>`,
	"building": `<path d="M5 20V5l7-2v17M12 20V9l7 2v9M3 20h18M8 8h1M8 12h1M8 16h1M15 14h1M15 17h1"/>`,
	"plan":     `<path d="M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h5"/>`,
	"people": `<path d="M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0` +
		`M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6.5 6.5 0 0 1 3.5 5.5"/>`,
	"card": `<path d="M3 6h18v12H3zM3 10h18M7 15h4"/>`,
	"eye": `<path d="M2 12s3.5-6.5 10-6.5S22 12 22 12s-3.5 6.5-10 6.5S2 12 2 12z` +
		`M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z"/>`,
	"leak":  `<path d="M12 3s6 6.5 6 11a6 6 0 0 1-12 0c0-4.500 6-11 6-11zM9.500 15a2.500 2.500 0 0 0 2.500 2.500"/>`,
	"key":   `<path d="M8 15a4 4 0 1 1 3.500-6H21v4h-3v3h-3v-3h-3.500A4 4 0 0 1 8 15zM8 11h.01"/>`,
	"board": `<path d="M3 4h18v16H3zM9 4v16M15 4v16"/>`,
	"phone": `<path d="M7 3h10v18H7zM11 18h2"/>`,
	"text":  `<path d="M4 5h16M4 10h16M4 15h10M4 20h7"/>`,
	"send":  `<path d="M21 4 3 11l7 3 3 7zM10 14 21 4"/>`,
	"bell":  `<path d="M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4"/>`,
	"feed":  `<path d="M5 19h.01M4 12a8 8 0 0 1 8 8M4 5a15 15 0 0 1 15 15"/>`,
	"list":  `<path d="M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01"/>`,
	"lifebuoy": `<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z` +
		`M12 15.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7z` +
		`M5.600 5.600l4 4M14.400 14.400l4 4M18.400 5.600l-4 4M9.600 14.400l-4 4"/>`,
	"gear": `<path d="M12 15.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM12 3v3M12 18v3M3 12h3M18 12h3` +
		`M5.600 5.600l2.100 2.100M16.300 16.300l2.100 2.100M18.400 5.600l-2.100 2.100M7.700 16.300l-2.100 2.100"/>`,
	"plus":   `<path d="M12 5v14M5 12h14"/>`,
	"check":  `<path d="M5 13l4 4L19 7"/>`,
	"warn":   `<path d="M12 4 2.500 20h19zM12 10v4M12 17h.01"/>`,
	"out":    `<path d="M10 4H5v16h5M15 8l4 4-4 4M19 12H9"/>`,
	"menu":   `<path d="M4 7h16M4 12h16M4 17h16"/>`,
	"person": `<path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.500 21a7.500 7.500 0 0 1 15 0"/>`,
	"search": `<path d="M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM15.500 15.500 21 21"/>`,
	"siren":  `<path d="M7 18v-5a5 5 0 0 1 10 0v5M5 21h14v-3H5zM12 3v2M4 6l1.500 1.500M20 6l-1.500 1.500"/>`,
	"lock":   `<path d="M6 11h12v10H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3M12 15v2"/>`,
	"clock":  `<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2"/>`,
	"done":   `<path d="M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM8.500 12.500l2.500 2.500 4.500-5"/>`,
	"down":   `<path d="M6 9l6 6 6-6"/>`,
	"close":  `<path d="M6 6l12 12M18 6 6 18"/>`,
	"next":   `<path d="M9 6l6 6-6 6"/>`,
	"book":   `<path d="M12 6v14M12 6c-2-1.500-5-2-9-2v14c4 0 7 .5 9 2 2-1.500 5-2 9-2V4c-4 0-7 .5-9 2z"/>`,
	"flask":  `<path d="M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M7.500 15h9"/>`,
	"again":  `<path d="M20 11a8 8 0 1 0-2 6M20 5v6h-6"/>`,
	"shield": `<path d="M12 3l8 3v6c0 5-3.500 8-8 9-4.500-1-8-4-8-9V6zM8.500 12l2.500 2.500 4.500-5"/>`,
}

// iconHTML is decoration beside a word: screen readers skip it.
func iconHTML(name string) template.HTML {
	text := `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">` + icons[name] + `</svg>`
	return template.HTML(text) //nolint:gosec // our own constants
}
