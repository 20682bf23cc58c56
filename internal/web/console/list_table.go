package console

import (
	"context"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// listTable is the table of a list. Every list has the same: rows with one link, under columns that take two lines on
// a telephone.
type listTable struct {
	Caption string
	Columns []listColumn
	Groups  []listGroup
	// Layout is the class of the table: how its cells take their places on a telephone.
	Layout string
	// IsGrouped says that each group has a title of its own.
	IsGrouped bool
}

// listColumn is a column; Class is its place on a telephone: m mark, a who, c what, d state, b age, x only where there
// is room.
type listColumn struct{ Label, Class string }

// listGroup is rows under one title.
type listGroup struct {
	Title, Path string
	Notes       []string
	// Share says how many of the rows of the group are on the page.
	Share string
	Rows  []listRow
}

// listRow is a row; Key names it in forms, and Name for screen readers.
type listRow struct {
	Key, Name string
	Cells     []listCell
}

// listCell is a cell: a text, or what has a shape of its own.
type listCell struct {
	Text string
	// Path is the page that the row opens: one cell of a row has it. Hidden tells the row apart for screen readers, and
	// Below is what stands beside the link.
	Path, Hidden, Below string
	IsCode              bool
	// Tone is how a text is said: soft, or waits for what waits for an answer.
	Tone string
	// Avatar stands before the text.
	Avatar   *avatar
	Severity cyber.Severity
	Badge    badge
	At       time.Time
}

// avatar are the initials of a person or an operator. Says tells screen readers what stands in no text beside it.
type avatar struct{ Initials, Class, Says string }

// Dict returns a badge as the template of badges takes it.
func (b badge) Dict() map[string]any { return map[string]any{"kind": b.Kind, "text": b.Text} }

// newListTable returns a table without rows.
func newListTable(caption string, columns ...listColumn) listTable {
	return listTable{Caption: caption, Columns: columns, Layout: "one-list"}
}

// Width returns how many columns the table has, with that of the check boxes if something can be done to many rows.
func (t listTable) Width(picks bool) int {
	if picks {
		return len(t.Columns) + 1
	}
	return len(t.Columns)
}

// Empty reports whether there are no rows.
func (t listTable) Empty() bool { return len(t.Groups) == 0 }

// addRow appends a row to the only group of a table that is not grouped.
func (t *listTable) addRow(row listRow) {
	if len(t.Groups) == 0 {
		t.Groups = append(t.Groups, listGroup{})
	}
	t.Groups[0].Rows = append(t.Groups[0].Rows, row)
}

// addToGroup appends a row to the group of a title, which is made with the first row.
func (t *listTable) addToGroup(title string, row listRow, newGroup func() listGroup) {
	t.IsGrouped = true
	i := slices.IndexFunc(t.Groups, func(g listGroup) bool { return g.Title == title })
	if i < 0 {
		i = len(t.Groups)
		t.Groups = append(t.Groups, newGroup())
	}
	t.Groups[i].Rows = append(t.Groups[i].Rows, row)
}

// withoutPartner takes out the column of partners: a partner's people need not read which partner it is.
func (t *listTable) withoutPartner() {
	i := slices.IndexFunc(t.Columns, func(c listColumn) bool { return c.Label == "Parceiro" })
	if i < 0 {
		return
	}
	t.Columns = slices.Delete(t.Columns, i, i+1)
	for g := range t.Groups {
		for r := range t.Groups[g].Rows {
			row := &t.Groups[g].Rows[r]
			row.Cells = slices.Delete(row.Cells, i, i+1)
		}
	}
}

// ageCell tells how long ago something was.
func ageCell(at, now time.Time) listCell {
	if at.IsZero() {
		return listCell{Text: "–"}
	}
	return listCell{At: at, Text: formatDuration(max(0, now.Sub(at)))}
}

// namesOfOwners returns the masked names of the people whose values are given, as far as their partners enrolled them.
func (c *Console) namesOfOwners(ctx context.Context, assets []cyber.Asset) (map[cyber.AssetID]string, error) {
	users := map[partner.ID][]partner.UserHash{}
	for _, a := range assets {
		users[a.Partner] = append(users[a.Partner], a.User)
	}
	masked := make(map[cyber.AssetID]string, len(assets))
	for id, of := range users {
		names, err := c.Rules.FindSubscriptions.NamesOfUsers(ctx, id, of)
		if err != nil {
			return nil, err
		}
		for _, a := range assets {
			if name := names[a.User]; a.Partner == id && name != "" {
				masked[a.ID] = maskPersonName(name)
			}
		}
	}
	return masked, nil
}

// orDash returns a text, or what stands for none.
func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
