package store_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/store"
)

// contracts are the changes that break a release which does not know of them, or may: a default is what keeps an added
// column that is NOT NULL.
var contracts = regexp.MustCompile(
	`(?i)\b(DROP\s+TABLE|DROP\s+COLUMN|RENAME|ALTER\s+COLUMN|ADD\s+CONSTRAINT|` +
		`CREATE\s+UNIQUE\s+INDEX|CREATE\s+(OR\s+REPLACE\s+)?TRIGGER)\b`,
)

// TestMigrationsExpandFirst: a migration after a release adds, because replicas of that release still run while the first
// new one migrates. One that takes away, renames or narrows says which release stopped using what it takes, in a line
// "-- contract: unused since NNNN", NNNN being the newest migration of that release.
func TestMigrationsExpandFirst(t *testing.T) {
	migrations, err := store.MigrationList()
	if err != nil {
		t.Fatal(err)
	}
	if version := len(releasedMigrations(t)); version > 0 {
		for _, m := range migrations[version:] {
			if err := expandsFirst(m.SQL, version); err != nil {
				t.Errorf("%04d_%s: %v", m.Version, m.Name, err)
			}
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

const releasedFile = "testdata/released.txt"

var updateReleased = flag.Bool("update-released", false, "write down the migrations of this tree as released")

// releasedMigrations returns the lines of the migrations that a release has; none before the first one.
func releasedMigrations(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(releasedFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// TestReleasedMigrations: a migration that was released is never changed, because databases out there have applied it.
// At a release: go test ./internal/store -run TestReleasedMigrations -update-released.
func TestReleasedMigrations(t *testing.T) {
	migrations, err := store.MigrationList()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range migrations {
		lines = append(lines, fmt.Sprintf("%04d_%s %s", m.Version, m.Name, m.Checksum))
	}
	if *updateReleased {
		if err := os.WriteFile(releasedFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, released := range releasedMigrations(t) {
		if i >= len(lines) || lines[i] != released {
			t.Errorf("migration %s was released with other text: add a new one instead", strings.Fields(released)[0])
		}
	}
}
