package subject

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Tombstone is what stays of an erasure: keyed indexes, by which a restored backup is cleaned again. It is safe to keep
// anywhere.
type Tombstone struct {
	ID       string     `json:"id"`
	Partner  partner.ID `json:"partner_id"`
	Person   string     `json:"person"` // the audit trail's name
	CPF      []byte     `json:"cpf"`
	User256  []byte     `json:"user_256"`
	User512  []byte     `json:"user_512"`
	Watched  []byte     `json:"watched"`   // the CPF as a value that others watch
	ErasedAt int64      `json:"erased_at"` // microseconds
	// MAC shows that this service wrote the line.
	MAC []byte `json:"mac"`
}

// WriteErasureLog writes the tombstones of all erasures, one JSON object a line.
func (d *Rights) WriteErasureLog(ctx context.Context, w io.Writer) (int, error) {
	stones, err := d.store.Tombstones(ctx)
	if err != nil {
		return 0, err
	}
	return len(stones), WriteTombstones(w, stones)
}

// WriteTombstones writes tombstones, one JSON object a line.
func WriteTombstones(w io.Writer, stones []Tombstone) error {
	enc := json.NewEncoder(w)
	for _, s := range stones {
		if err := enc.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// Replayed is what a replay came to.
type Replayed struct {
	Lines int
	// Rows is how many rows were back and were taken away again.
	Rows     int64
	Scrubbed bool
}

// maxLogLine bounds a line of an erasure log that is replayed.
const maxLogLine = 64 << 10

// ReplayLog reads a log of erasures and erases again whatever has come back since, as it does when a backup older than
// the erasure is restored. What a partner enrolled after the erasure stays. A line that this service did not write ends
// the replay.
func (d *Rights) ReplayLog(ctx context.Context, log io.Reader) (Replayed, error) {
	var done Replayed
	in := bufio.NewScanner(log)
	in.Buffer(make([]byte, 0, 4096), maxLogLine)
	for in.Scan() {
		if len(strings.TrimSpace(in.Text())) == 0 {
			continue
		}
		var t Tombstone
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			return done, ErrLogLine.With("", fault.ErasureLineUnreadable, done.Lines+1).Because(err)
		}
		erased, err := d.store.ReplayErasure(ctx, t)
		if err != nil {
			return done, fmt.Errorf("line %d of the erasure log: %w", done.Lines+1, err)
		}
		done.Lines++
		done.Rows += erased.Total()
	}
	if err := in.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return done, ErrLogLine.With("", fault.ErasureLineTooLong, done.Lines+1)
		}
		return done, fmt.Errorf("read the erasure log: %w", err)
	}
	if done.Rows == 0 {
		done.Scrubbed = true
		return done, nil
	}
	err := d.store.ScrubErased(ctx)
	done.Scrubbed = err == nil
	return done, err
}
