package console

import (
	"context"
	"strconv"

	"github.com/vigiahq/vigia/internal/notify/alert"
)

var eventsList = listOf(listing{
	name:    "events",
	title:   "Eventos",
	persons: true,
	access:  everyone,
	fields:  []listField{ofOne, typeField, fromField, toField, sortField},
}, filter.readEvents, rowOfEvent)

func rowOfEvent(e alert.Kept, f filter) listRow {
	seq, id := strconv.FormatInt(e.Seq, 10), string(e.ID)
	return listRow{Cells: []listCell{
		{Label: "Nº", Class: "m num", Export: "número", Text: seq},
		stampCell("quando", e.At),
		{
			Label:  "Tipo",
			Class:  "c",
			Export: "tipo",
			Text:   string(e.Type),
			Path:   joinPath("events", f.Partner, id),
			Hidden: "evento " + seq,
		},
		{Label: "Identificador", Class: "x", Text: shortenID(id), IsCode: true},
		exportCell("id", id),
		{Label: "Quando", Class: "d", At: e.At, Text: formatStamp(e.At)},
		ageCell("Idade", "b num", e.At, f.now),
	}}
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
