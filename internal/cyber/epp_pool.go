package cyber

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// Source says where the keys of a system come from and how many are left.
type Source struct {
	System System
	// Pooled keys are taken from what the vendor delivered; otherwise the service generates them.
	Pooled bool
	// LowMark is the number of free keys below which a pool is low.
	LowMark int64
	// ToldLow is whether the operator was last told that the pool is low.
	ToldLow bool
	// Free and Taken count the pool's keys.
	Free, Taken int64
	// Live counts live keys of the system, whatever they came from.
	Live int64
}

// Low tells whether the operator should order keys.
func (s Source) Low() bool { return s.Pooled && s.Free < s.LowMark }

// DefaultLowMark is when a pool counts as low unless the operator says otherwise.
const DefaultLowMark = 100

// PoolStore keeps vendors' keys.
type PoolStore interface {
	// LoadPool keeps the keys that are not known yet, switches the system to its pool, and returns how many were new.
	LoadPool(ctx context.Context, system System, keys []string) (int, error)
	// Sources returns every system's source, in the order of Systems.
	Sources(ctx context.Context) ([]Source, error)
	// SetSource changes where a system's keys come from; nil leaves a setting as it is.
	SetSource(ctx context.Context, system System, pooled *bool, lowMark *int64) error
	// TurnedLow returns the pools that became low, or full again, since the last call in any replica.
	TurnedLow(ctx context.Context) ([]Source, error)
}

// ErrPoolFile means that a file of vendor keys cannot be read as such.
var ErrPoolFile = fault.New(fault.Invalid, "pool.file_invalid")

const (
	maxVendorKey = 200
	poolBatch    = 1000
)

// Loaded says how far a load has come.
type Loaded struct {
	// Read are keys of the file, New those that were not known before.
	Read, New int
}

// LoadPool reads a vendor's file, one key a line, or a CSV whose column "key" (or else the first) holds the keys, and puts
// what is new into the system's pool. It may be repeated: known keys are passed over. progress may be nil.
func (e *Endpoints) LoadPool(ctx context.Context, system System, file io.Reader, progress func(Loaded)) (Loaded, error) {
	var done Loaded
	rows := csv.NewReader(withoutMark(file))
	rows.FieldsPerRecord, rows.ReuseRecord, rows.TrimLeadingSpace = -1, true, true
	batch, column := make([]string, 0, poolBatch), -1
	keep := func() error {
		n, err := e.store.LoadPool(ctx, system, batch)
		if err != nil {
			return fmt.Errorf("load keys: %w", err)
		}
		done.Read, done.New, batch = done.Read+len(batch), done.New+n, batch[:0]
		if progress != nil {
			progress(done)
		}
		return nil
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return done, ErrPoolFile.With("file: not a list of keys or CSV").Because(err)
		}
		if column < 0 {
			var header bool
			if column, header = keyColumn(row); header {
				continue
			}
		}
		line, _ := rows.FieldPos(0)
		if column >= len(row) || !partner.Printable(strings.TrimSpace(row[column]), maxVendorKey) {
			return done, ErrPoolFile.With("line %d: a key of 1 to %d printable characters expected", line, maxVendorKey)
		}
		if batch = append(batch, strings.TrimSpace(row[column])); len(batch) == poolBatch {
			if err := keep(); err != nil {
				return done, err
			}
		}
	}
	if len(batch) > 0 {
		if err := keep(); err != nil {
			return done, err
		}
	}
	if done.Read == 0 {
		return done, ErrPoolFile.With("file: no keys in it")
	}
	return done, nil
}

// withoutMark skips the byte order mark that spreadsheets write.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	if mark, err := b.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = b.Discard(3) // just seen by Peek
	}
	return b
}

// keyColumn finds the keys in the first row, and tells whether that row is a heading.
func keyColumn(row []string) (column int, header bool) {
	for i, cell := range row {
		switch strings.ToLower(strings.TrimSpace(cell)) {
		case "key", "eppkey", "epp_key", "chave", "license", "licence", "activation_key":
			return i, true
		}
	}
	return 0, false
}

// Sources returns where each system's keys come from, and what is left.
func (e *Endpoints) Sources(ctx context.Context) ([]Source, error) { return e.store.Sources(ctx) }

// SetSource changes where a system's keys come from; nil leaves a setting as it is.
func (e *Endpoints) SetSource(ctx context.Context, system System, pooled *bool, lowMark *int64) error {
	if lowMark != nil && (*lowMark < 0 || *lowMark > 1_000_000_000) {
		return ErrPoolFile.With("low mark: 0 to 1000000000 keys")
	}
	return e.store.SetSource(ctx, system, pooled, lowMark)
}

// TurnedLow returns the pools that became low, or full again, since somebody last asked.
func (e *Endpoints) TurnedLow(ctx context.Context) ([]Source, error) { return e.store.TurnedLow(ctx) }
