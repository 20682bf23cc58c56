package console

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// listWriter writes lines as a table for spreadsheets or as JSON.
type listWriter struct {
	bytes.Buffer
	format operator.Format
	header []string
	lines  int
}

// appendText writes to the buffer, which takes everything.
func (w *listWriter) appendText(text string) { _, _ = w.WriteString(text) }

// writeRow writes a line of a table; nothing in it is taken for a formula.
func (w *listWriter) writeRow(cells []string) {
	out := csv.NewWriter(&w.Buffer)
	out.Comma = ';'
	plain := make([]string, len(cells))
	for i, cell := range cells {
		plain[i] = plainCell(cell)
	}
	_ = out.Write(plain) // a buffer takes everything
	out.Flush()
}

func (w *listWriter) writeLine(cells []string) {
	if w.format != operator.JSON {
		w.writeRow(cells)
		return
	}
	mark := ",\n{"
	if w.lines++; w.lines == 1 {
		mark = "\n{"
	}
	for i, cell := range cells {
		name, _ := json.Marshal(w.header[i]) // texts can always be written
		value, _ := json.Marshal(cell)
		w.appendText(mark + string(name) + ":" + string(value))
		mark = ","
	}
	w.appendText("}")
}

// formula is how one begins, in the usual and the full-width form: at the start of a cell, and behind anything that a
// spreadsheet may take for the end of one, since it is the reader who chooses the separator.
var formula = regexp.MustCompile(
	`(^|[,;|:\t\r\n])([\s"'\x{feff}\x{200b}\x{3000}]*)([=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}\x{2212}\x{fe63}])`,
)

// plainCell returns the text so that a spreadsheet does not run it as a formula; people and partners choose these
// texts.
func plainCell(text string) string {
	text = formula.ReplaceAllString(text, "$1$2'$3")
	if text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
