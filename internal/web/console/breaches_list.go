package console

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/leak"
)

var breachStates = listField{Name: "state", Label: "Situação", None: "Todas", Options: []choiceOption{
	{string(leak.Published), "Publicados"},
	{string(leak.Importing), "Em importação"},
	{string(leak.Retracted), "Retirados"},
}}

var breachesList = listOf(listing{
	name:   "breaches",
	title:  "Vazamentos",
	access: viewers,
	fields: []listField{
		breachStates,
		{Name: "kind", Label: "Tipo", None: "Todos", Options: kindOptions},
		fromField,
		toField,
		{Name: "sort", Label: "Ordem", Options: []choiceOption{
			{"new", "Mais novos primeiro"},
			{"old", "Mais antigos primeiro"},
			{"size", "Maiores primeiro"},
			{"name", "Por nome"},
		}},
	},
	gather: (*Console).gatherBreaches,
	show:   showBreaches,
}, filter.readBreaches, rowOfBreach)

// breachRow is a breach in the list. How far its import is, and the people that it has hit, are only on the page.
type breachRow struct {
	leak.Record
	progress string
	people   int64
}

var breachBadges = map[leak.State]badge{
	leak.Published: {"good", "Publicado"},
	leak.Importing: {"info", "Importando"},
	leak.Retracted: {"", "Retirado"},
}

func rowOfBreach(b breachRow, f filter) listRow {
	day, state := b.Date.UTC().Format("02/01/2006"), labelOf(breachStates.Options, string(b.State))
	shown := breachBadges[b.State]
	if b.State == leak.Published && b.HasVendorWords {
		shown = badge{"warn", "Texto a aprovar"}
	}
	return listRow{Cells: []listCell{
		exportCell("nome", b.Name),
		{
			Label:  "Vazamento",
			Class:  "c",
			Export: "título",
			Text:   b.Title,
			Path:   joinPath("breaches", b.Name),
			Below:  b.Name,
		},
		exportCell("aconteceu", day),
		{Label: "Tipo", Class: "x", Export: "tipo", Text: labelOf(kindOptions, string(b.Kind))},
		{Label: "Aconteceu", Class: "x", Text: day},
		exportCell("impressões", strconv.FormatInt(b.Tally.Distinct, 10)),
		{Label: "Impressões", Class: "x num", Text: cmp.Or(b.progress, groupedNumber(b.Tally.Distinct))},
		{Label: "Pessoas", Class: "a num", Text: groupedNumber(b.people)},
		{Label: "Situação", Class: "d", Export: "situação", Text: state, Badge: shown},
		ageCell("Incluído", "b num", b.AddedAt, f.now),
		stampCell("incluído", b.AddedAt),
	}}
}

// readBreaches returns a page of breaches. They are few, so all are in memory, and the cursor is the number of lines
// before the page.
func (f filter) readBreaches(ctx context.Context, in *Rules, limit int) ([]breachRow, string, error) {
	all, err := f.selectBreaches(ctx, in)
	if err != nil {
		return nil, "", err
	}
	list, next := all[min(int(max(0, f.parseNumber())), len(all)):], ""
	if len(list) > limit {
		list, next = list[:limit], strconv.Itoa(len(all)-len(list)+limit)
	}
	rows := make([]breachRow, len(list))
	for i, one := range list {
		rows[i].Record = one
	}
	return rows, next, nil
}

// selectBreaches returns all breaches that fit, in order.
func (f filter) selectBreaches(ctx context.Context, in *Rules) ([]leak.Record, error) {
	all, err := in.Breaches.ListBreaches(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(b leak.Record) bool {
		return f.valueOfName("state") != "" && string(b.State) != f.valueOfName("state") ||
			f.valueOfName("kind") != "" && string(b.Kind) != f.valueOfName("kind") ||
			b.AddedAt.Before(f.From) ||
			!f.To.IsZero() && !b.AddedAt.Before(f.To)
	})
	switch f.valueOfName("sort") {
	case "old":
	case "size":
		slices.SortStableFunc(
			all, func(a, b leak.Record) int { return cmp.Compare(b.Tally.Distinct, a.Tally.Distinct) },
		)
	case "name":
		slices.SortStableFunc(all, func(a, b leak.Record) int { return strings.Compare(a.Name, b.Name) })
	default:
		slices.Reverse(all)
	}
	return all, nil
}
