package sqldb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vigiahq/vigia/internal/platform/durable"
)

// Holder holds names that no other holder of the same database holds, in this process or another. The operating system
// or the server releases the names of a process that dies, so other processes do not have to wait for a lease to
// expire.
//
// On PostgreSQL a name is an advisory lock of a session of its own, on Citus with the coordinator, since nodes do not
// know each other's locks; on SQLite, where all processes are on one machine,
// a lock on a file beside the database is the hold of every name: one process has them all. After an error nothing is
// held any more, and the next Take begins anew.
type Holder struct {
	db *DB

	mu      sync.Mutex
	session *pgx.Conn // nil: nothing is held
	file    *os.File  // nil: nothing is held
	names   map[string]bool
}

// HolderSilence is how long a PostgreSQL session lives whose holder says nothing: a process that is stopped, or whose
// machine or network is gone, has lost what it held after that. A holder that has heard nothing for less knows that it
// still has what it has.
const HolderSilence = 8 * time.Second

// holderPatience bounds each question to the server: a network that swallows everything does not keep a holder waiting.
const holderPatience = HolderSilence / 2

// NewHolder makes a holder, which has nothing yet.
func (d *DB) NewHolder() *Holder { return &Holder{db: d, names: map[string]bool{}} }

// TakeNames takes names and returns those of them that the holder has now.
func (h *Holder) TakeNames(ctx context.Context, names []string) ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var held, free []string
	for _, name := range names {
		if h.names[name] {
			held = append(held, name)
		} else {
			free = append(free, name)
		}
	}
	if len(free) == 0 {
		return held, nil
	}
	take := h.takeInSession
	if h.db.engine == SQLite {
		take = h.takeByFile
	}
	ctx, cancel := context.WithTimeout(ctx, holderPatience)
	defer cancel()
	taken, err := take(ctx, free)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take holds: %w", err), h.dropSession())
	}
	for _, name := range taken {
		h.names[name] = true
	}
	return append(held, taken...), nil
}

// ReleaseNames lets go of names.
func (h *Holder) ReleaseNames(ctx context.Context, names []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var keys []int64
	for _, name := range names {
		if h.names[name] {
			delete(h.names, name)
			keys = append(keys, lockNumber(name))
		}
	}
	if h.session == nil {
		if len(h.names) == 0 {
			return h.dropSession() // the file is for all
		}
		return nil
	}
	if len(keys) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, holderPatience)
	defer cancel()
	_, err := h.session.Exec(ctx, `SELECT pg_advisory_unlock(name) FROM unnest($1::bigint[]) AS name`, keys)
	if err != nil {
		return errors.Join(fmt.Errorf("release holds: %w", err), h.dropSession())
	}
	return nil
}

// ConfirmHeld makes sure that what was taken is still held.
func (h *Holder) ConfirmHeld(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session == nil { // a file stays locked while it is open
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, holderPatience)
	defer cancel()
	if err := h.session.Ping(ctx); err != nil {
		return errors.Join(fmt.Errorf("holds are lost: %w", err), h.dropSession())
	}
	return nil
}

// Close lets go of everything.
func (h *Holder) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	if h.session != nil { // the server takes its time to end a session
		ctx, cancel := context.WithTimeout(context.Background(), holderPatience)
		defer cancel()
		_, err = h.session.Exec(ctx, `SELECT pg_advisory_unlock_all()`)
	}
	return errors.Join(err, h.dropSession())
}

// dropSession ends the session or closes the file, and all holds with it.
func (h *Holder) dropSession() (err error) {
	clear(h.names)
	if h.session != nil {
		// A session that is broken cannot be told that it is over.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = h.session.Close(ctx)
		h.session = nil
	}
	if h.file != nil {
		err = h.file.Close()
		h.file = nil
	}
	return err
}

// takeByFile takes all names or none: the lock on the file stands for every name.
func (h *Holder) takeByFile(_ context.Context, names []string) ([]string, error) {
	if h.file != nil {
		return names, nil
	}
	f, err := os.OpenFile(h.db.path+".holds", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := durable.TryLockFile(f)
	if err != nil || !locked {
		return nil, errors.Join(err, f.Close())
	}
	h.file = f
	return names, nil
}

// takeInSession takes those names whose advisory lock is free and returns them; it does not wait for the others.
func (h *Holder) takeInSession(ctx context.Context, names []string) ([]string, error) {
	if h.session == nil {
		if err := h.openSession(ctx); err != nil {
			return nil, err
		}
	}
	keys, nameOf := make([]int64, len(names)), make(map[int64]string, len(names))
	for i, name := range names {
		keys[i] = lockNumber(name)
		nameOf[keys[i]] = name
	}
	rows, err := h.session.Query(
		ctx,
		`SELECT name FROM unnest($1::bigint[]) AS name WHERE pg_try_advisory_lock(name)`,
		keys,
	)
	if err != nil {
		return nil, err
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	taken := make([]string, len(got))
	for i, key := range got {
		taken[i] = nameOf[key]
	}
	return taken, nil
}

// openSession begins the holder's session.
func (h *Holder) openSession(ctx context.Context) error {
	cfg := h.db.holds.Copy()
	cfg.RuntimeParams["application_name"] = "vigia holds"
	session, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	// Servers before 14 do not know the setting: there a machine that vanishes keeps its holds until the server's
	// keepalive notices.
	_, err = session.Exec(
		ctx,
		`SELECT set_config(name, $1, false) FROM pg_settings WHERE name = 'idle_session_timeout'`,
		fmt.Sprint(HolderSilence.Milliseconds()),
	)
	if err != nil {
		return errors.Join(err, session.Close(ctx))
	}
	h.session = session
	return nil
}

// lockNumber returns the number of a name's lock. Two names with the same number can only be held by the same
// holder: that is harmless, but they are not spread over processes.
func lockNumber(name string) int64 {
	sum := sha256.Sum256([]byte("hold " + name))
	return int64(binary.BigEndian.Uint64(sum[:8])) // any 64 bits will do
}
