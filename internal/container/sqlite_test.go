package container

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // makes the databases that are read here
)

// sqliteFile makes a database by statements and returns it, and its write-ahead log if it keeps one.
func sqliteFile(t testing.TB, statements ...string) (file, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		_, err := db.Exec(s)
		must(t, err)
	}
	if log, err = os.ReadFile(path + "-wal"); err != nil {
		log = nil
	}
	if log == nil {
		must(t, db.Close())
	}
	file, err = os.ReadFile(path)
	must(t, err)
	if log != nil {
		must(t, db.Close())
	}
	return file, log
}

// texts are what a walk hands out.
func texts(t testing.TB, source io.Reader, options Options) (string, Report) {
	t.Helper()
	var all strings.Builder
	report, err := Walk(context.Background(), "dump", source, options, func(_ Entry, r io.Reader) error {
		_, err := io.Copy(&all, r)
		return err
	})
	must(t, err)
	return all.String(), report
}

// TestSQLite: every row of every table comes out, a line each, with its columns' names before, whatever the size of
// pages, the encoding, the length of rows and the kind of table.
func TestSQLite(t *testing.T) {
	for _, pragma := range []string{
		"PRAGMA page_size=512", "PRAGMA page_size=4096", "PRAGMA page_size=65536", "PRAGMA encoding='UTF-16le'", "PRAGMA encoding='UTF-16be'", "PRAGMA auto_vacuum=1",
	} {
		t.Run(pragma, func(t *testing.T) {
			statements := []string{
				pragma, `CREATE TABLE clientes (id INTEGER PRIMARY KEY, [nome] TEXT, "e-mail" VARCHAR(80), numero INTEGER, saldo REAL DEFAULT (1.0), nada TEXT, UNIQUE(numero))`,
				`CREATE TABLE chaves (chave TEXT PRIMARY KEY, valor TEXT) WITHOUT ROWID`, "BEGIN",
			}
			var want []string
			for i := range 400 {
				long := strings.Repeat("ação ", i%7*i)
				number := int64(i) * int64(i) * 12345678
				statements = append(statements,
					fmt.Sprintf("INSERT INTO clientes(nome, \"e-mail\", numero, saldo) VALUES ('%s', 'pessoa%d@exemplo.com.br', %d, %d.5)", long, i, number, i),
					fmt.Sprintf("INSERT INTO chaves VALUES ('chave%d', 'valor%d@exemplo.com.br')", i, i))
				want = append(want, fmt.Sprintf("%d\t%s\tpessoa%d@exemplo.com.br\t%d\t%d.5\t\n", i+1, long, i, number, i), fmt.Sprintf("chave%d\tvalor%d@exemplo.com.br\n", i, i))
			}
			file, _ := sqliteFile(t, append(statements, "COMMIT")...)
			got, report := texts(t, bytes.NewReader(file), Options{})
			if report.Skipped != 0 || !strings.Contains(got, "id\tnome\te-mail\tnumero\tsaldo\tnada\n") || !strings.Contains(got, "chave\tvalor\n") {
				t.Errorf("%+v, %.200s", report, got)
			}
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Fatalf("missing: %q", w)
				}
			}
			if n := strings.Count(got, "\n"); n != len(want)+4 {
				t.Errorf("%d lines, %d rows", n, len(want))
			}
		})
	}
}

// TestSQLiteLog: what was written last stands in the log beside the database.
func TestSQLiteLog(t *testing.T) {
	_, log := sqliteFile(t, "PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0", "CREATE TABLE a (x, y)", "INSERT INTO a VALUES ('maria@exemplo.com', 52998224725)")
	if got, report := texts(t, bytes.NewReader(log), Options{}); report.Skipped != 0 || !strings.Contains(got, "maria@exemplo.com\t52998224725\n") {
		t.Errorf("%q, %+v", got, report)
	}
}

// TestSQLiteCut: what a cut or damaged database still has is read, and that something is missing is said. No bytes
// bring about a panic or endless reading.
func TestSQLiteCut(t *testing.T) {
	statements := []string{"PRAGMA page_size=512", "CREATE TABLE a (x, y)", "BEGIN"}
	for i := range 500 {
		statements = append(statements, fmt.Sprintf("INSERT INTO a VALUES ('pessoa%d@exemplo.com.br', %d)", i, i))
	}
	file, _ := sqliteFile(t, append(statements, "COMMIT")...)
	got, report := texts(t, bytes.NewReader(file[:len(file)/2]), Options{})
	if n := strings.Count(got, "@"); n < 200 || report.Verdict() != Partly {
		t.Errorf("%d of 500, %+v", n, report)
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		bad := bytes.Clone(file)
		for range 1 + random.IntN(20) {
			bad[random.IntN(len(bad))] = byte(random.Uint32())
		}
		_, report := texts(t, bytes.NewReader(bad), Options{})
		for _, s := range report.Skips {
			if strings.Contains(s.Reason, "runtime error") {
				t.Fatal(s.Reason)
			}
		}
	}
}

func FuzzSQLite(f *testing.F) {
	file, _ := sqliteFile(f, "PRAGMA page_size=512", "CREATE TABLE a (x, y)", "INSERT INTO a VALUES ('maria@exemplo.com', 52998224725)")
	f.Add(file)
	fuzzDocument(f)
}

// fuzzDocument: no panic in our own readers, and an end.
func fuzzDocument(f *testing.F) {
	f.Fuzz(func(t *testing.T, file []byte) {
		report, err := Walk(context.Background(), "dump", bytes.NewReader(file), Options{Limits: Limits{Memory: 1 << 25, Bytes: 1 << 23, Derivations: 1 << 10}}, func(_ Entry, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		for _, s := range report.Skips {
			if strings.Contains(s.Reason, "runtime error") {
				t.Errorf("%s, %v", s.Reason, err)
			}
		}
	})
}
