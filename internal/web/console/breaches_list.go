package console

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

var breachStates = listField{Name: "state", Label: "Situação", None: "Todas", Options: []choiceOption{
	{string(leak.Published), "Publicados"},
	{string(leak.Importing), "Em importação"},
	{string(leak.Retracted), "Retirados"},
}}

var breachesList = listing{
	name:  "breaches",
	title: "Vazamentos",
	role:  operator.Viewer,
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
	header: []string{"nome", "título", "aconteceu", "tipo", "impressões", "situação", "incluído"},
	read: linesOf(filter.readBreaches, func(_ filter, _ map[partner.ID]string, b leak.Record) listLine {
		return listLine{b.Name, []string{
			b.Name,
			b.Title,
			b.Date.UTC().Format("02/01/2006"),
			listField{Options: kindOptions}.optionLabel(string(b.Kind)),
			strconv.FormatInt(b.Tally.Distinct, 10),
			breachStates.optionLabel(string(b.State)),
			formatStamp(b.AddedAt),
		}}
	}),
}

// readBreaches returns a page of breaches. They are few, so all are in memory, and the cursor is the number of lines
// before the page.
func (f filter) readBreaches(ctx context.Context, in *Rules, limit int) ([]leak.Record, string, error) {
	all, err := f.selectBreaches(ctx, in)
	if err != nil {
		return nil, "", err
	}
	from := min(int(max(0, f.parseNumber())), len(all))
	if to := from + limit; to < len(all) {
		return all[from:to], strconv.Itoa(to), nil
	}
	return all[from:], "", nil
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

// tableOfBreaches lays leaks out; people are those that each has hit.
func tableOfBreaches(list []breachRow, people map[string]int64, now time.Time) listTable {
	t := newListTable("Vazamentos", listColumn{"Vazamento", "c"}, listColumn{"Tipo", "x"},
		listColumn{"Aconteceu", "x"}, listColumn{"Impressões", "x num"}, listColumn{"Pessoas", "a num"},
		listColumn{"Situação", "d"}, listColumn{"Incluído", "b num"})
	for _, b := range list {
		size := groupedNumber(b.Tally.Distinct)
		if b.Import != nil {
			size = b.Import.Text
		}
		state := badge{"", breachStates.optionLabel(string(b.State))}
		switch {
		case b.State == leak.Published && b.HasVendorWords:
			state = badge{"warn", "Texto a aprovar"}
		case b.State == leak.Published:
			state = badge{"good", "Publicado"}
		case b.State == leak.Importing:
			state = badge{"info", "Importando"}
		case b.State == leak.Retracted:
			state = badge{"", "Retirado"}
		}
		t.addRow(listRow{Cells: []listCell{
			{Text: b.Title, Path: joinPath("breaches", b.Name), Below: b.Name},
			{Text: kindsOfSource.optionLabel(string(b.Kind))},
			{Text: b.Date.UTC().Format("02/01/2006")},
			{Text: size},
			{Text: groupedNumber(people[b.Name])},
			{Badge: state},
			ageCell(b.AddedAt, now),
		}})
	}
	return t
}

// kindsOfSource has the words for where leaked data came from.
var kindsOfSource = listField{Options: kindOptions}
