package console

import (
	"cmp"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// rowMaker makes a row of what a list reads. It is the one definition of the list's columns, and also takes the zero
// value: its row has the names of the columns of a list without rows.
type rowMaker[T any] func(one T, f filter) listRow

// head returns the row that has the names of the columns.
func (row rowMaker[T]) head(f filter) listRow {
	var none T
	return row(none, f)
}

// listRow is a row of a list. Personal values in it are masked.
type listRow struct {
	// Key names the row in forms: ids, never a value. Name is for screen readers.
	Key, Name string
	// Group is the title that the row stands under; empty in a list without groups.
	Group string
	Cells []listCell
}

// listCell is a column in one row: on the page where it has a label, in exports and in the preview of a bulk action
// where it has a name for them.
type listCell struct {
	// Label is the column's heading. Class is its place on a telephone: m mark, a who, c what, d state, b age, x only
	// where there is room.
	Label, Class string
	// Export is the column's name in exports, which have Text there, or else the badge's.
	Export, Text string
	// Path is the page that the row opens: one cell of a row has it. Hidden tells the row apart for screen readers, and
	// Below is what stands beside the link.
	Path, Hidden, Below string
	IsCode              bool
	// Tone is how a text is said: soft, or waits for what waits for an answer.
	Tone string
	// Avatar stands before the text.
	Avatar *avatar
	// Severity and Badge stand in the place of the text.
	Severity cyber.Severity
	Badge    badge
	At       time.Time
}

// avatar are the initials of a person or an operator. Says tells screen readers what stands in no text beside it.
type avatar struct{ Initials, Class, Says string }

// Shown returns the cells that the page has.
func (r listRow) Shown() (cells []listCell) {
	for _, c := range r.Cells {
		if c.Label != "" {
			cells = append(cells, c)
		}
	}
	return cells
}

// exported returns the columns that exports have, and what the row has there.
func (r listRow) exported() (names, texts []string) {
	for _, c := range r.Cells {
		if c.Export != "" {
			names, texts = append(names, c.Export), append(texts, cmp.Or(c.Text, c.Badge.Text))
		}
	}
	return names, texts
}

// ageCell tells how long ago something was.
func ageCell(label, class string, at, now time.Time) listCell {
	cell := listCell{Label: label, Class: class, At: at}
	if !at.IsZero() {
		cell.Text = formatDuration(max(0, now.Sub(at)))
	}
	return cell
}

// exportCell is a column that only exports have.
func exportCell(name, text string) listCell { return listCell{Export: name, Text: text} }

// stampCell is a time in an export.
func stampCell(name string, at time.Time) listCell { return exportCell(name, formatStamp(at)) }

// partnerCell names a partner. A partner's people need not read on a page which partner it is.
func (f filter) partnerCell(class string, id partner.ID) listCell {
	cell := listCell{Label: "Parceiro", Class: class, Export: "parceiro", Text: f.partners[id]}
	if f.confined {
		cell.Label = ""
	}
	return cell
}
