package store_test

import (
	"cmp"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// oldStatements is where scripts/record-statements puts what a release asks of the database: NNNN.txt, one statement a
// line, NNNN being the newest migration of that release. What stands there comes from that release's own code; it is
// never edited.
const oldStatements = "testdata/statements"

// TestOldStatements: while replicas are replaced one by one, those of the release before go on with its statements on a
// database that the first new one has migrated. So each of them must be understood by the schema it was written for,
// and by every one since: tables, columns, the constraints that ON CONFLICT names; and no row it inserts may lack a
// column that now has to be there.
func TestOldStatements(t *testing.T) {
	if log := os.Getenv("VIGIA_STATEMENT_LOG"); log != "" {
		recordStatements(t, log)
		return
	}
	version, statements := readStatements(t)
	migrations, err := store.MigrationList()
	if err != nil {
		t.Fatal(err)
	}
	if version > len(migrations) || len(statements) < 150 {
		t.Fatalf("%d statements of schema %d, and the newest is %d", len(statements), version, len(migrations))
	}
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			ctx := context.Background()
			address := storetest.NewAddress(t, engine, t.TempDir())
			if engine == sqldb.PostgreSQL {
				address += "&default_query_exec_mode=simple_protocol" // the test prepares by itself
			}
			db, err := sqldb.OpenDatabase(ctx, address, sqldb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			for upTo := version; upTo <= len(migrations); upTo++ {
				if _, err := db.ApplyMigrations(ctx, migrations[:upTo], storetest.Start); err != nil {
					t.Fatal(err)
				}
				for _, s := range statements {
					if err := understands(ctx, db, s); err != nil {
						t.Errorf("schema %d: %.200s: %v", upTo, s, err)
					}
				}
			}
			t.Logf("%d statements of schema %d on schemas %d to %d", len(statements), version, version, len(migrations))
		})
	}
}

func readStatements(t *testing.T) (version int, statements []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(oldStatements, "*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatal("one release is the one before:", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if version, err = strconv.Atoi(strings.TrimSuffix(filepath.Base(files[0]), ".txt")); err != nil {
		t.Fatal(err)
	}
	return version, strings.Split(strings.TrimSpace(string(text)), "\n")
}

var (
	parameter  = regexp.MustCompile(`\$(\d+)`)
	insertInto = regexp.MustCompile(`(?i)INSERT INTO (\w+) \(([^)]*)\)`)
	copyInto   = regexp.MustCompile(`(?i)^COPY "(\w+)" \(([^)]*)\)`)
	anyOf      = regexp.MustCompile(`= ANY\((\$\d+)\)`)
)

// understands tells whether a statement can be planned, and whether what it inserts is enough of a row.
func understands(ctx context.Context, db *sqldb.DB, statement string) error {
	return db.InTransaction(ctx, func(tx *sqldb.Tx) error {
		inserts := insertInto.FindAllStringSubmatch(statement, -1)
		copies := copyInto.FindAllStringSubmatch(statement, -1)
		for _, match := range slices.Concat(inserts, copies) {
			if err := enough(ctx, tx, strings.TrimPrefix(match[1], "load_"), match[2]); err != nil {
				return err
			}
		}
		if tx.EngineName() == sqldb.SQLite {
			text, marks, ok := forSQLite(statement)
			if !ok {
				return nil
			}
			return drain(tx.QueryContext(ctx, "EXPLAIN "+text, make([]any, marks)...))
		}
		if isLoad(statement) {
			return nil
		}
		marks := readStepMarks(statement)
		return errorOfFirst(
			func() error {
				_, err := tx.ExecContext(ctx, "SET LOCAL plan_cache_mode = force_generic_plan")
				return err
			},
			func() error { _, err := tx.ExecContext(ctx, "DEALLOCATE ALL"); return err },
			func() error { _, err := tx.ExecContext(ctx, "PREPARE old AS "+statement); return err },
			func() error {
				nulls := strings.TrimSuffix(strings.Repeat("NULL, ", marks), ", ")
				if marks > 0 {
					nulls = "(" + nulls + ")"
				}
				return drain(tx.Tx.QueryContext(ctx, "EXPLAIN EXECUTE old"+nulls))
			})
	})
}

// isLoad tells of statements that go through a table which only lives for a load.
func isLoad(statement string) bool {
	return copyInto.MatchString(statement) || strings.Contains(statement, "pg_temp.")
}

// readStepMarks is how many parameters a statement has.
func readStepMarks(statement string) (marks int) {
	for _, match := range parameter.FindAllStringSubmatch(statement, -1) {
		n, _ := strconv.Atoi(match[1])
		marks = max(marks, n)
	}
	return marks
}

// forSQLite is a recorded statement as it is written for that engine, if it is not the other's own.
func forSQLite(statement string) (text string, marks int, ok bool) {
	if isLoad(statement) || strings.Contains(statement, "FROM unnest(") { // the second is a small load as arrays
		return "", 0, false
	}
	text = strings.ReplaceAll(statement, " FOR UPDATE SKIP LOCKED", "")
	return anyOf.ReplaceAllString(text, "IN (SELECT value FROM json_each($1))"), readStepMarks(statement), true
}

func errorOfFirst(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	for rows.Next() { //nolint:revive // only the errors count
	}
	return cmp.Or(rows.Err(), rows.Close())
}

// enough tells whether a row of these columns may be inserted: every column that is not named has a default or may be
// null.
func enough(ctx context.Context, tx *sqldb.Tx, table, named string) (err error) {
	columns := `SELECT column_name, is_nullable = 'NO' AND column_default IS NULL FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1`
	if tx.EngineName() == sqldb.SQLite {
		columns = `SELECT name, "notnull" AND dflt_value IS NULL FROM pragma_table_info($1)`
	}
	rows, err := tx.QueryContext(ctx, columns, table)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // only read
	needed := map[string]bool{}
	for rows.Next() {
		var name string
		var needs bool
		if err := rows.Scan(&name, &needs); err != nil {
			return err
		}
		needed[name] = needs
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, name := range strings.Split(named, ",") {
		name = strings.Trim(name, ` "`)
		if _, there := needed[name]; !there {
			return fmt.Errorf("%s has no column %s", table, name)
		}
		delete(needed, name)
	}
	for name, needs := range needed {
		if needs {
			return fmt.Errorf("%s.%s has to be there and has no default", table, name)
		}
	}
	return nil
}

// contracts are the changes that break a release which does not know of them, or may: a default is what keeps an added
// column that is NOT NULL.
var contracts = regexp.MustCompile(
	`(?i)\b(DROP\s+TABLE|DROP\s+COLUMN|RENAME|ALTER\s+COLUMN|ADD\s+CONSTRAINT|` +
		`CREATE\s+UNIQUE\s+INDEX|CREATE\s+(OR\s+REPLACE\s+)?TRIGGER)\b`,
)

// TestMigrationsExpandFirst: a migration adds. One that takes away, renames or narrows says which release stopped using
// what it takes, in a line "-- contract: unused since NNNN", NNNN being the newest migration of that release;
// TestOldStatements then shows whether it is so.
func TestMigrationsExpandFirst(t *testing.T) {
	version, _ := readStatements(t)
	migrations, err := store.MigrationList()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range migrations[version:] {
		if err := expandsFirst(m.SQL, version); err != nil {
			t.Errorf("%04d_%s: %v", m.Version, m.Name, err)
		}
	}
	for text, good := range map[string]bool{
		"CREATE TABLE a (id TEXT PRIMARY KEY); CREATE UNIQUE INDEX a_id ON a (id);": true, // a table of its own
		"ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT '';":                      true,
		"DROP INDEX a_b;": true,
		"-- contract: unused since 0001\nALTER TABLE a DROP COLUMN b;":               true,
		"ALTER TABLE a DROP COLUMN b;":                                               false,
		"-- contract: unused since 9999\nALTER TABLE a DROP COLUMN b;":               false,
		"ALTER TABLE a RENAME COLUMN b TO c;":                                        false,
		"ALTER TABLE a ALTER COLUMN b SET NOT NULL;":                                 false,
		"CREATE UNIQUE INDEX a_b ON a (b);":                                          false,
		"-- DROP TABLE a is what this does not do\nCREATE INDEX a_b ON a (b);":       true,
		"CREATE TRIGGER x BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION refuse()": false,
	} {
		if err := expandsFirst(text, 10); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

var (
	excuse  = regexp.MustCompile(`(?m)^-- contract: unused since (\d+)`)
	comment = regexp.MustCompile(`(?m)--.*$`)
)

// expandsFirst judges the text of a migration beside the release whose newest migration is version.
func expandsFirst(text string, version int) error {
	code := comment.ReplaceAllString(text, "")
	for _, s := range strings.Split(code, ";") {
		found := contracts.FindString(s)
		if found == "" {
			continue
		}
		if on := regexp.MustCompile(`(?i)UNIQUE\s+INDEX\s+\w+\s+ON\s+(\w+)`).FindStringSubmatch(s); on != nil &&
			regexp.MustCompile(`(?i)CREATE\s+TABLE\s+`+on[1]+`\b`).MatchString(code) {
			continue
		}
		said := excuse.FindStringSubmatch(text)
		if said == nil {
			return fmt.Errorf(
				"%q may break the release before: add first, and take away in a later release "+
					"with a line -- contract: unused since NNNN",
				found,
			)
		}
		if since, err := strconv.Atoi(said[1]); err != nil || since > version {
			return fmt.Errorf("%q: unused since %s, and replicas of schema %d may still run", found, said[1], version)
		}
	}
	return nil
}

// recordStatements writes the file of this tree from the log of a PostgreSQL that its tests have used:
// scripts/record-statements. Tests also ask questions of their own; only what begins like a text in the store's sources
// is the store's.
func recordStatements(t *testing.T, log string) {
	t.Helper()
	sources := ""
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, "_test.go") {
			sources += oneLine(string(text)) + "\n"
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	executed := regexp.MustCompile(`(?s)^LOG:  (?:execute [^:]*|statement): (.*)$`)
	lists := regexp.MustCompile(`\$(, \$)+`)
	shortest := map[string]string{} // lists of many lengths are one statement
	for _, entry := range strings.Split(string(text), "\n@@ ") {
		match := executed.FindStringSubmatch(entry)
		if match == nil {
			continue
		}
		s := strings.TrimSuffix(oneLine(match[1]), ";")
		word, _, _ := strings.Cut(s, " ")
		switch strings.ToUpper(word) {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
			start := s
			if len(s) >= 60 {
				start = s[:28] // the rest may be put together from parts
			}
			if !strings.Contains(sources, start) {
				continue
			}
		case "COPY":
			if !copyInto.MatchString(s) {
				continue
			}
		default:
			continue
		}
		key := lists.ReplaceAllString(parameter.ReplaceAllString(s, "$$"), "$$")
		if kept := shortest[key]; kept == "" || len(s) < len(kept) {
			shortest[key] = s
		}
	}
	migrations, err := store.MigrationList()
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Sorted(maps.Values(shortest))
	file := filepath.Join(oldStatements, fmt.Sprintf("%04d.txt", len(migrations)))
	if err := os.MkdirAll(oldStatements, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d statements in %s", len(lines), file)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var updateReleased = flag.Bool("update-released", false, "write down the migrations of this tree as released")

// TestReleasedMigrations: a migration that was released is never changed, because databases out there have applied it.
// Before a release: go test ./internal/store -run TestReleasedMigrations -update-released.
func TestReleasedMigrations(t *testing.T) {
	const path = "testdata/released.txt"
	migrations, err := store.MigrationList()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range migrations {
		lines = append(lines, fmt.Sprintf("%04d_%s %s", m.Version, m.Name, m.Checksum))
	}
	if *updateReleased {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, released := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i >= len(lines) || lines[i] != released {
			t.Errorf("migration %s was released with other text: add a new one instead", strings.Fields(released)[0])
		}
	}
}
