package store_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// wholePartner are the beginnings of statements that read all of a partner's rows in a table that grows, and why.
var wholePartner = map[string]string{
	"SELECT count(*) FROM subscription WHERE partner_id":            "counts them, for a check",
	"SELECT a.partner_id, a.user_index, f.id, f.breach, f.found_at": "walks a partner's people in their order",
	"SELECT id, seq, type, created_at FROM event":                   "the newest few: the index is in that order",
	"SELECT partner_id, seq FROM event_gap":                         "the first of a partner",
	"SELECT 'event":                                                 "a check of all rows",
	"SELECT id, trail FROM erasure":                                 "by one of two names of a person",
	"SELECT EXISTS (SELECT 1 FROM erasure WHERE NOT done":           "those under way: the index has no others",
	"SELECT EXISTS (SELECT 1 FROM asset WHERE partner_id = $1":      "one that waits: the index has no others",
	"SELECT id FROM asset WHERE partner_id = $1 AND look = 2":       "the oldest that wait: the index has no others, and is in that order",
	"SELECT d.partner_id, d.endpoint_id, d.event_id, d.seq":         "the first few that wait: the index is in that order",
}

var allOfPartner = regexp.MustCompile(`^SEARCH (\w+) USING .*\(partner_id=\?\)$`)

// TestExactPlans: where SQLite knows more of a row than its partner it uses that, on a database that was just made, too.
// A partner has millions of rows.
func TestExactPlans(t *testing.T) {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, storetest.NewAddress(t, sqldb.SQLite, t.TempDir()), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := store.Migrate(ctx, db, storetest.Start); err != nil {
		t.Fatal(err)
	}
	_, statements := readStatements(t)
	used := map[string]bool{}
	for _, s := range statements {
		text, _, ok := forSQLite(s)
		if !ok {
			continue
		}
		for _, step := range planned(t, db, text) {
			found := allOfPartner.FindStringSubmatch(step)
			if found == nil || store.StaysShort(tableOf(s, found[1])) {
				continue
			}
			known := false
			for beginning := range wholePartner {
				if strings.HasPrefix(s, beginning) {
					known, used[beginning] = true, true
				}
			}
			if !known {
				t.Errorf("%.300s\n\treads all of a partner: %s", s, step)
			}
		}
	}
	for beginning := range wholePartner {
		if !used[beginning] {
			t.Errorf("no statement that begins with %q reads all of a partner any more: take it off the list", beginning)
		}
	}
}

// tableOf is the table that a statement calls by an alias.
func tableOf(statement, alias string) string {
	if found := regexp.MustCompile(`(?i)\b(?:FROM|JOIN|,)\s+(\w+)\s+` + alias + `\b`).FindStringSubmatch(statement); found != nil {
		return found[1]
	}
	return alias
}
