package reader

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/vigiahq/vigia/internal/dump/container"
)

// walkInput opens the input at hand and searches the texts in it.
func (c *reading) walkInput(ctx context.Context) (Report, error) {
	if c.in.Rows != nil {
		if err := json.Unmarshal(c.in.Rows, &c.rows); err != nil {
			return Report{}, err
		}
	}
	source, err := c.openSource()
	if err != nil {
		return Report{}, err
	}
	file, _ := source.(*os.File)
	size := fileSize(file)
	options := container.Options{Limits: c.job.Limits, Passwords: c.in.Passwords, Layer: c.beginLayer}
	before := c.read.Load()
	walked, err := container.WalkSource(
		ctx,
		c.in.Name,
		meterReads(source, &c.read),
		options,
		func(entry container.Entry, r io.Reader) error {
			if c.mapping == nil {
				c.searchName(entry.Name)
			}
			if entry.Binary {
				return c.searchBinary(ctx, r)
			}
			if entry.Depth > 0 {
				return c.searchStream(ctx, entry.Name, r, nil, 0)
			}
			return c.searchStream(ctx, entry.Name, r, file, before)
		},
	)
	report := Report{Report: walked, Records: c.records, NoRecords: c.noText}
	switch {
	case fileSize(file) < size:
		report.Changed = true
	// what it held so far stays, the rest of it is given up, the other inputs go on
	case errors.Is(err, container.ErrBomb):
		reason := err.Error()
		report.Skips = append(
			report.Skips,
			container.Skip{Name: c.in.Name, Reason: reason[strings.LastIndex(reason, ": ")+2:]},
		)
		report.Skipped++
	case err != nil:
		report.Failed = err.Error()
	}
	report.Skips = append(report.Skips, c.misread...)
	report.Skipped += c.misreads
	c.misread, c.misreads, c.records, c.noText = nil, 0, nil, ""
	return report, nil
}

// fileSize returns the size of a file, 0 for none.
func fileSize(f *os.File) int64 {
	if f == nil {
		return 0
	}
	stat, err := f.Stat()
	if err != nil {
		return 0
	}
	return stat.Size()
}

// beginLayer is told of every layer that is opened, before anything of it is parsed, so that the parent knows which one
// ended its reader.
func (c *reading) beginLayer() (refused string, closed func()) {
	number := c.opened
	c.opened++
	if s := c.in.Skip; s != nil && s.Layer == number {
		c.at.Stream = max(c.at.Stream, s.Streams)
		return s.Reason, nil
	}
	if c.job.Careful {
		c.sendCheckpoint()
	}
	c.open = append(c.open, number)
	exitOnError(c.out.writeJSON(factOpened, position{Layer: number, Streams: c.at.Stream}))
	return "", func() {
		c.open = c.open[:len(c.open)-1]
		outer := int64(-1)
		if len(c.open) > 0 {
			outer = c.open[len(c.open)-1]
		}
		exitOnError(c.out.writeJSON(factClosed, position{Layer: outer, Streams: c.at.Stream}))
	}
}

// pageSize is a multiple of the size of a page on any system.
const pageSize = 64 << 10

// wasSearched reports whether an earlier reader has searched the stream at a place.
func (c *reading) wasSearched(at Cursor) bool {
	from := c.in.From
	return at.Stream < from.Stream || at.Stream == from.Stream && from.Span > 0
}
