package sqldb_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	process "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// openerFolder, when set in the environment, makes the test binary a process that opens databases on command.
const openerFolder = "SQLDB_TEST_OPEN"

func TestMain(m *testing.M) {
	if folder := os.Getenv(openerFolder); folder != "" {
		openOnCommand(folder)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// openOnCommand reads a letter, opens the database of that name, writes to it, closes it, and answers with a line.
func openOnCommand(folder string) {
	name := make([]byte, 1)
	for {
		if _, err := io.ReadFull(os.Stdin, name); err != nil {
			return
		}
		answer := "ok"
		if err := openAndWrite(filepath.Join(folder, string(name)+".db")); err != nil {
			answer = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		fmt.Println(answer)
	}
}

func openAndWrite(path string) error {
	ctx := context.Background()
	d, err := sqldb.OpenDatabase(ctx, path, sqldb.Options{})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { _ = d.Close() }()
	err = d.InTransaction(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS t (x BIGINT)`)
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO t VALUES (1)`)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	var n int
	if err := d.ReadPool().QueryRowContext(ctx, `SELECT count(*) FROM t`).Scan(&n); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	return d.Close()
}

// TestOpenTogether: processes that come to one new file at the same moment, and leave it again, wait for each other.
func TestOpenTogether(t *testing.T) {
	const processes = 6
	folder := t.TempDir()
	var in [processes]io.Writer
	var out [processes]io.Reader
	for i := range processes {
		c := process.Command(os.Args[0])
		c.Env = append(os.Environ(), openerFolder+"="+folder)
		c.Stderr = os.Stderr
		stdin, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = stdin.Close()
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		})
		in[i], out[i] = stdin, stdout
	}
	for name := 'a'; name <= 'z'; name++ {
		for i := range processes {
			if _, err := io.WriteString(in[i], string(name)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range processes {
			if answer := line(t, out[i]); answer != "ok" {
				t.Errorf("database %c, process %d: %s", name, i, answer)
			}
		}
		db, err := sql.Open("sqlite", filepath.Join(folder, string(name)+".db"))
		if err != nil {
			t.Fatal(err)
		}
		var rows int
		var mode string
		err = db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM t), (SELECT journal_mode FROM pragma_journal_mode)`).Scan(&rows, &mode)
		if err != nil || rows != processes || mode != "wal" {
			t.Errorf("database %c: %d rows, %s, %v", name, rows, mode, err)
		}
		_ = db.Close()
	}
}

// line reads up to the end of a line and no further.
func line(t *testing.T, from io.Reader) string {
	t.Helper()
	var text []byte
	for b := make([]byte, 1); ; text = append(text, b[0]) {
		if _, err := io.ReadFull(from, b); err != nil {
			t.Fatal(err)
		}
		if b[0] == '\n' {
			return string(text)
		}
	}
}
