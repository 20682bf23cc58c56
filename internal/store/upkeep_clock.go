package store

import (
	"context"
	"strconv"
	"time"
)

// clockNote is the row of meta that says by how many microseconds the machine's clock is ahead of the server's time.
const clockNote = "clock_skew"

// NoteClockSkew stores by how much the clock of a server's machine is ahead of the time that the server goes by. It is
// for the embedded database, on which one server runs.
func (s Upkeep) NoteClockSkew(ctx context.Context, skew time.Duration) error {
	return s.execAlone(
		ctx,
		`INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		clockNote,
		strconv.AppendInt(nil, skew.Microseconds(), 10),
	)
}

// ClockSkew returns what NoteClockSkew stored last.
func (s Upkeep) ClockSkew(ctx context.Context) (time.Duration, error) {
	micros, err := readRow(
		ctx,
		s.readQuerier(),
		scanValue[int64],
		nil,
		`SELECT value FROM meta WHERE name = $1`,
		clockNote,
	) // digits
	return time.Duration(micros) * time.Microsecond, err
}
