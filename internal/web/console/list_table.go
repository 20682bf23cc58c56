package console

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// listTable is the table of a list. Every list has the same: rows with one link, under columns that take two lines on
// a telephone.
type listTable struct {
	Head   listRow
	Groups []listGroup
}

// listGroup is rows under one title.
type listGroup struct {
	Title, Path string
	Notes       []string
	// Share says how many of the rows of the group are on the page.
	Share string
	Rows  []listRow
}

// newListTable returns a table of rows. A group has the place of its first row.
func newListTable[T any](f filter, list []T, makeRow rowMaker[T]) listTable {
	t := listTable{Head: makeRow.head(f)}
	for _, one := range list {
		row := makeRow(one, f)
		i := slices.IndexFunc(t.Groups, func(g listGroup) bool { return g.Title == row.Group })
		if i < 0 {
			i = len(t.Groups)
			t.Groups = append(t.Groups, listGroup{Title: row.Group})
		}
		t.Groups[i].Rows = append(t.Groups[i].Rows, row)
	}
	return t
}

// IsGrouped reports whether each group has a title of its own.
func (t listTable) IsGrouped() bool { return !t.Empty() && t.Groups[0].Title != "" }

// Empty reports whether there are no rows.
func (t listTable) Empty() bool { return len(t.Groups) == 0 }

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
