package cyber

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
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
	// Returns is whether the vendor lets a revoked key that no device used be issued again.
	Returns bool
	// Free and Taken count the pool's keys; Expired those that the vendor ended before they were issued.
	Free, Taken, Expired int64
	// Live counts live keys of the system, whatever they came from; Active those that protect a device.
	Live, Active int64
}

// Low reports whether the operator should order keys.
func (s Source) Low() bool { return s.Pooled && s.Free < s.LowMark }

// SourceChange is what an operator changes of a source; nil leaves a setting as it is.
type SourceChange struct {
	Pooled  *bool
	LowMark *int64
	Returns *bool
}

// DefaultLowMark is when a pool counts as low unless the operator says otherwise.
const DefaultLowMark = 100

// VendorKey is a key as the vendor delivered it.
type VendorKey struct {
	Key string
	// Expires is when the vendor ends it; zero where the file does not say.
	Expires time.Time
}

// EndsAt returns when a key from the pool is over: when the plan says so, and never later than the vendor does.
func (k VendorKey) EndsAt(plan time.Time) time.Time {
	if k.Expires.IsZero() || plan.Before(k.Expires) {
		return plan
	}
	return k.Expires
}

// PoolStore keeps vendors' keys.
type PoolStore interface {
	// LoadKeyPool keeps the keys that are not known yet, switches the system to its pool, and returns how many were new. A
	// known key that comes with a date of its end ends then, issued or not.
	LoadKeyPool(ctx context.Context, system System, keys []VendorKey) (int, error)
	// ListSources returns every system's source, in the order of Systems.
	ListSources(ctx context.Context) ([]Source, error)
	// UpdateSource changes where a system's keys come from.
	UpdateSource(ctx context.Context, system System, change SourceChange) error
	// PoolsTurnedLow returns the pools that became low, or full again, since the last call in any replica.
	PoolsTurnedLow(ctx context.Context) ([]Source, error)
}

// ErrPoolFile means that a file of vendor keys cannot be read as such.
var ErrPoolFile = fault.New(fault.Invalid, "pool.file_invalid")

const poolBatch = 500

// Loaded says how far a load has come.
type Loaded struct {
	// Read are keys of the file, New those that were not known before.
	Read, New int
}

// LoadKeyPool reads a vendor's file, one key a line, or a CSV whose column "key" (or else the first) holds the keys, and
// puts what is new into the system's pool. A column "expires" says when the vendor ends each key. It may be repeated:
// known keys are passed over, but for a date that they did not have. progress may be nil.
func (e *Endpoints) LoadKeyPool(ctx context.Context, system System, file io.Reader, progress func(Loaded)) (Loaded, error) {
	var done Loaded
	rows := newPoolReader(file)
	batch := make([]VendorKey, 0, poolBatch)
	keep := func() error {
		n, err := e.store.LoadKeyPool(ctx, system, batch)
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
		key, err := rows.readNextKey()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return done, err
		}
		if batch = append(batch, key); len(batch) == poolBatch {
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
		return done, ErrPoolFile.With("file", fault.NoKeysInIt)
	}
	return done, nil
}

// ListSources returns where each system's keys come from, and what is left.
func (e *Endpoints) ListSources(ctx context.Context) ([]Source, error) {
	return e.store.ListSources(ctx)
}

// UpdateSource changes where a system's keys come from.
func (e *Endpoints) UpdateSource(ctx context.Context, system System, change SourceChange) error {
	if mark := change.LowMark; mark != nil && (*mark < 0 || *mark > 1_000_000_000) {
		return ErrPoolFile.With("low mark", fault.KeysUpTo)
	}
	return e.store.UpdateSource(ctx, system, change)
}

// PoolsTurnedLow returns the pools that became low, or full again, since the last call.
func (e *Endpoints) PoolsTurnedLow(ctx context.Context) ([]Source, error) {
	return e.store.PoolsTurnedLow(ctx)
}
