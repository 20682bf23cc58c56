package pages

import "testing"

// TestJoinLines: the indentation of a template is not seen on the page, and a space that is meant to be seen is.
func TestJoinLines(t *testing.T) {
	for source, want := range map[string]string{
		"<ul>\n\t<li>um</li>\n\t<li>dois</li>\n</ul>\n":            "<ul><li>um</li><li>dois</li></ul>",
		"<p>\n\tCrie o primeiro\n\tparceiro.\n</p>":                "<p>Crie o primeiro parceiro.</p>",
		"<b>a</b> <i>b</i>":                                        "<b>a</b> <i>b</i>",
		"<b>a</b>{{\" \"}}\n<i>b</i>":                              `<b>a</b>{{" "}}<i>b</i>`,
		"{{if .A}}\n\tsim\n{{else}}\n\tnão\n{{end}}":               "{{if .A}}sim{{else}}não{{end}}",
		"<input name=\"a\"\n\tvalue=\"b\">":                        `<input name="a" value="b">`,
		"<form {{.Post \"/x\"}}\n\tclass=\"stack\">":               `<form {{.Post "/x"}} class="stack">`,
		"<a title=\"um\n dois\">x</a>":                             "<a title=\"um\n dois\">x</a>",
		"<a href=\"{{at \"x\" .ID}}\">\n\t{{.Name}}</a>":           `<a href="{{at "x" .ID}}">{{.Name}}</a>`,
		"{{template \"head\"\n\t(dict \"text\" \"}} fim\")}}\n<p>": "{{template \"head\"\n\t(dict \"text\" \"}} fim\")}}<p>",
		"<br>\n  texto": "<br>texto",
		"{{broken":      "{{broken",
	} {
		if got := joinLines(source); got != want {
			t.Errorf("%q\nbecame %q\nwant   %q", source, got, want)
		}
	}
}
