package sqldb_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestLogIsCarriedBesideWriters: what was committed reaches the file itself soon, though no writer has to carry it, and
// closing twice is no harm.
func TestLogIsCarriedBesideWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vigia.db")
	db, err := sqldb.OpenDatabase(t.Context(), path, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	exec := func(text string) {
		t.Helper()
		err := db.InTransaction(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(context.Background(), text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT NOT NULL)`)
	for i := range 10 {
		exec(fmt.Sprintf(`INSERT INTO line (id, text) VALUES (%d, hex(zeroblob(50000)))`, i))
	}
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	polltest.Watch(t, func() (string, bool) {
		return fmt.Sprintf("%d bytes in the file", size()), size() >= 1_000_000
	})
	for range 2 {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLogBeginsAnew: once the rest was carried while nobody wrote, the next writer begins the log from its start,
// though others never stop writing.
func TestLogBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vigia.db")
	db, err := sqldb.OpenDatabase(t.Context(), path, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.StopCarrying() // two at once would keep each other out
	own, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	write := func(text string) error {
		return db.InTransaction(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(t.Context(), text)
			return err
		})
	}
	if err := write(`CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := write(`INSERT INTO line (text) VALUES (hex(zeroblob(20000)))`); err != nil {
				t.Error(err)
				return
			}
		}
	})
	pages := func() (n int64) {
		for n = -1; n < 0; { // less than nothing: it was busy and did not count
			var busy, moved int64
			if err := own.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &n, &moved); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	begun := func() uint32 { // how often the log began anew: the fourth number of its header
		f, err := os.Open(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		header := make([]byte, 16)
		if _, err := io.ReadFull(f, header); err != nil {
			t.Fatal(err)
		}
		return binary.BigEndian.Uint32(header[12:])
	}
	for range 10 {
		// Other processes of this machine decide how long that takes.
		polltest.Until(t, "100 pages in the log", func() bool { return pages() >= 100 })
		before := begun()
		db.CarryRest(t.Context(), own)
		if err := write(`INSERT INTO line (text) VALUES ('next')`); err != nil {
			t.Fatal(err)
		}
		if begun() == before {
			t.Error("the log did not begin anew")
		}
	}
	close(stop)
	writers.Wait()
}

// TestAwaitLog: whoever writes much waits while the log is long, and no longer.
func TestAwaitLog(t *testing.T) {
	db, err := sqldb.OpenDatabase(t.Context(), filepath.Join(t.TempDir(), "vigia.db"), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.AwaitCheckpoint(t.Context()) // short: at once
	db.NoteLog(true)
	done, began := make(chan struct{}), time.Now()
	go func() {
		db.AwaitCheckpoint(t.Context())
		close(done)
	}()
	select {
	case <-done:
		if waited := time.Since(
			began,
		); waited < sqldb.LongestWait { // on a machine that stood still it may be over already
			t.Fatal("nobody waited for a long log but for", waited)
		}
	case <-time.After(20 * time.Millisecond):
	}
	db.NoteLog(false)
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("they wait for a log that was carried")
	}
	db.NoteLog(true)
	gone, leave := context.WithCancel(t.Context())
	leave()
	db.AwaitCheckpoint(gone) // does not wait for those who left
}
