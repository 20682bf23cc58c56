package console

import (
	"context"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

var eventsList = listing{
	name:    "events",
	title:   "Eventos",
	persons: true,
	role:    operator.Viewer,
	portal:  look,
	fields:  []listField{ofOne, typeField, fromField, toField, sortField},
	header:  []string{"número", "quando", "tipo", "id"},
	read: linesOf(filter.readEvents, func(f filter, _ map[partner.ID]string, e alert.Kept) listLine {
		return listLine{
			string(f.Partner) + "/" + string(e.ID),
			[]string{strconv.FormatInt(e.Seq, 10), formatStamp(e.At), string(e.Type), string(e.ID)},
		}
	}),
}

func (f filter) readEvents(ctx context.Context, in *Rules, limit int) ([]alert.Kept, string, error) {
	list, next, err := in.Events.ListEvents(ctx, f.Partner, alert.EventFilter{
		User:        f.user,
		Type:        alert.Type(f.valueOfName("type")),
		From:        f.From,
		To:          f.To,
		OldestFirst: f.isOldestFirst(),
		After:       f.parseNumber(),
		Limit:       limit,
	})
	return list, formatSeq(next), err
}

// tableOfEvents lays a partner's events out.
func tableOfEvents(id partner.ID, list []alert.Kept, now time.Time) listTable {
	t := newListTable("Eventos", listColumn{"Nº", "m num"}, listColumn{"Tipo", "c"}, listColumn{"Identificador", "x"},
		listColumn{"Quando", "d"}, listColumn{"Idade", "b num"})
	for _, e := range list {
		seq := strconv.FormatInt(e.Seq, 10)
		t.addRow(listRow{Cells: []listCell{
			{Text: seq},
			{Text: string(e.Type), Path: joinPath("events", string(id), string(e.ID)), Hidden: "evento " + seq},
			{Text: shortenID(string(e.ID)), IsCode: true},
			{At: e.At, Text: formatTime(e.At, "02/01/2006 15:04:05")},
			ageCell(e.At, now),
		}})
	}
	return t
}
