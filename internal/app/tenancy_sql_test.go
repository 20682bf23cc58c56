package app_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/store"
)

var (
	statement = regexp.MustCompile(
		`^\s*(SELECT|INSERT INTO|UPDATE\s+[\w\x00]+\s+SET|DELETE FROM|WITH\s+(RECURSIVE\s+)?\w+.*\sAS|CREATE TABLE|ALTER TABLE)\b`,
	)
	createTable = regexp.MustCompile(`(?s)CREATE TABLE (\w+) \((.*?)\n\)`)
	// tableNamed also finds a table whose name is only known when the program runs: it may be a partner's.
	tableNamed = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE)\s+([\w\x00]+)`)
	// ofPartner is a condition that leaves one partner. A join by partner keeps partners apart, but reads those of all.
	ofPartner = regexp.MustCompile(`partner_id\s*(=|IN\b)\s*\(?\$\d`)
	// anyPartner is a filter that may be left open, and so no such condition.
	anyPartner = regexp.MustCompile(`\$\d+ = 0 OR (\w+\.)?partner_id = \$\d+`)
)

// ofOnePartner tells whether a statement leaves one partner.
func ofOnePartner(text string) bool {
	return ofPartner.MatchString(anyPartner.ReplaceAllString(text, ""))
}

// kept is a statement of the store.
type kept struct {
	line, function, text string
}

func storeStatements(t *testing.T) (list []kept) {
	t.Helper()
	var files []source
	for _, s := range productSources(t) {
		if s.within("internal/store") {
			files = append(files, s)
		}
	}
	known := constants(files)
	for _, s := range files {
		s.texts(known, func(at ast.Node, function, text string) {
			if statement.MatchString(text) {
				list = append(list, kept{s.line(at), function, strings.Join(strings.Fields(text), " ")})
			}
		})
	}
	if len(list) < 200 {
		t.Fatalf("only %d statements were found", len(list))
	}
	return list
}

// migrationTexts are the migrations' texts, by file.
func migrationTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range treeFiles(t) {
		if path.Dir(name) == "internal/store/migrations" {
			texts[name] = readTree(t, name)
		}
	}
	return texts
}

// partnersTables are those with a partner in every row.
func partnersTables(t *testing.T) (names []string) {
	t.Helper()
	for _, text := range migrationTexts(t) {
		for _, m := range createTable.FindAllStringSubmatch(text, -1) {
			if regexp.MustCompile(`\bpartner_id\b`).MatchString(m[2]) {
				names = append(names, m[1])
			}
		}
	}
	if len(names) < 15 {
		t.Fatal("few tables of partners were found:", names)
	}
	return names
}

// crossPartners are the functions and variables whose statements are not about one partner, with their reasons. All of
// them belong to the operator or to the service itself: no request of a partner ends in one, except where its reason
// says so.
var crossPartners = map[string]string{
	"caseQueries":           "the checks of the whole database",
	"strayWatchQuery":       "the checks of the whole database",
	"countQueries":          "the checks of the whole database",
	"eventQueries":          "the checks of the whole database",
	"referenceQueries":      "the checks of the whole database",
	"referencesOfService":   "the checks of the whole database",
	"sealedRows":            "the check of seals, over every table with sealed values",
	"FindUnopenable":        "a sample of every table with sealed values",
	"SealedUnder":           "rotation of keys, over every table with sealed values; each row names its own",
	"SealedByOlder":         "rotation of keys, over every table with sealed values; each row names its own",
	"rewriteRow":            "rotation of keys, over every table with sealed values; each row names its own",
	"named":                 "the operator's search by an id: ofEach adds a condition for each partner",
	"checkStatuses":         "the checks of the whole database",
	"checkAssetIndexes":     "the checks of the whole database",
	"erasedQueries":         "the checks of the whole database",
	"readProbes":            "a breach is probed with the values of all partners, one after the other",
	"WithdrawFindings":      "a breach concerns all partners; each row names its own",
	"RestateFindings":       "a breach concerns all partners; each row names its own",
	"RejudgeFindings":       "a breach concerns all partners; each row names its own",
	"ListDueLooks":          "values whose first look is due, of all partners; each row names its own",
	"WaitingPartners":       "which partners have values that wait for a first look",
	"WatchedEmails":         "a feed is asked about the values of all partners; each row names its own",
	"affectedGroups":        "the operator: people hit by a leak or in a period, which may be filtered by a partner",
	"CountAffected":         "the operator: people hit by a leak or in a period, which may be filtered by a partner",
	"ListAffected":          "the operator: people hit by a leak or in a period, which may be filtered by a partner",
	"ListCases":             "the operator: the newest cases, which may be filtered by a partner",
	"PersonsOfCPF":          "the operator's search: ofEach adds a condition for each partner",
	"findWatchers":          "the operator's search: ofEach adds a condition for each partner",
	"PersonsOfUser":         "the operator's search: ofEach adds a condition for each partner",
	"SubscriptionsOfHolder": "the operator's search: ofEach adds a condition for each partner",
	"ListLane":              "the operator: the desk, which may be filtered by a partner",
	"EndingCases":           "the workers: final moves that can no longer be undone",
	"ListSlots":             "hours belong to a service of ours, not to a partner",
	"ListFreeSlots":         "hours belong to a service of ours, not to a partner",
	"DeleteSlot":            "hours belong to a service of ours, not to a partner",
	"DueEndpoints":          "the dispatcher serves all partners; each row names its own",
	"EnabledEndpoints":      "the dispatcher, by the partners and ids of endpoints that it holds",
	"EndpointOwner":         "the operator: finds the partner",
	"endAsVendorSays":       "the vendor's word on a key, by its blind index, which no two partners share",
	"findDevice": "the operator names a key by its id, a device by its key; a partner's own question " +
		"names the partner too",
	"ListSources":        "counts the keys of all partners",
	"ListShares":         "the shares of all partners, for the operator and before a key is taken from a pool",
	"lockPartnerShare":   "the shares of all partners, for the operator and before a key is taken from a pool",
	"countStanding":      "figures of the whole service",
	"countDay":           "figures of the whole service",
	"countSubscriptions": "figures of the whole service",
	"countCases":         "figures of a day of the whole service; those of deliveries name their endpoint",
	"countArrivals":      "figures of a day of the whole service; those of deliveries name their endpoint",
	"countEndpoints":     "figures of a day of the whole service; those of deliveries name their endpoint",
	"CountBacklog":       "the metrics: how many deliveries of the whole service wait",
	"FindingList":        "the operator's list; narrowed to a partner by its filter",
	"selectFound":        "what FindingList and FindingByID begin with; the latter names the partner",
	"DeliveryList":       "the operator's list; narrowed to a partner by its filter",
	"ListAssets":         "the operator's list; narrowed to a partner by its filter",
	"affectedPage":       "who was met by an incident, of all partners",
	"Tombstones":         "erasures of all partners, for a restored database or to be gone on with",
	"begunErasures":      "erasures of all partners, for a restored database or to be gone on with",
	"ClaimDueErasures":   "the workers: requests of all partners that are due; each row names its own",
	"sweepCases":         "retention goes by age",
	"sweepFound":         "retention goes by age, over tables that no index leads into; each row names its own",
	"sweepDevices":       "retention goes by age",
	"SweepAnswers":       "retention goes by age",
	"sweepSubscriptions": "retention goes by age; each row names its own",
	"sweepPeople":        "retention goes by age; each row names its own",
	"sweepOldEvents":     "retention goes by age; each row names its own",
	"sweepDisabled":      "what still waits for disabled endpoints of all partners; each row names its own",
	"EndUnsubscribed":    "ends keys of all partners when a day is over",
	"KeyByDigest":        "finds whose a key is",
	"checkLookBuckets":   "the checks of the whole database",
	"TakeGuesses":        "counts of days that are over go for all partners at once",
	"checkPartnerGrants": "look at every key, text, plan and endpoint of every partner",
	"checkSpokenRows":    "look at every key, text, plan and endpoint of every partner",
	"caseOwner":          "the operator: finds whose a case is",
	"RemindSteps":        "reminds people of all partners; each row names its own",
	"GiveNotices":        "announces ends of all partners; each row names its own",
}

// TestPartnerInEveryStatement: a statement on a table of partners, or on one that is named when the program runs, names
// the partner, or stands in a function or variable on the list.
func TestPartnerInEveryStatement(t *testing.T) {
	tables, excused := partnersTables(t), map[string]bool{}
	for _, s := range storeStatements(t) {
		touches := ""
		for _, m := range tableNamed.FindAllStringSubmatch(s.text, -1) {
			if slices.Contains(tables, m[1]) || m[1] == blank {
				touches = strings.ReplaceAll(m[1], blank, "some table")
			}
		}
		inserted := strings.HasPrefix(s.text, "INSERT INTO") && strings.Contains(s.text, "partner_id")
		if touches == "" || inserted || ofOnePartner(s.text) {
			continue
		}
		if _, listed := crossPartners[s.function]; !listed {
			t.Errorf(
				"%s: %s: a statement on %s without the partner, and crossPartners does not name the function: %s",
				s.line,
				s.function,
				touches,
				s.text,
			)
		}
		excused[s.function] = true
	}
	for function, reason := range crossPartners {
		if !excused[function] {
			t.Errorf("%s is on the list (%s) and has no such statement any more: drop it", function, reason)
		}
	}
}

// TestStatementsTellTales shows that the two expressions above do find what they are there to find.
func TestStatementsTellTales(t *testing.T) {
	for text, names := range map[string]bool{
		`SELECT id FROM asset WHERE partner_id = $1`:                                true,
		`SELECT a.id FROM asset a WHERE a.partner_id IN ($1, $2)`:                   true,
		`SELECT a.id FROM finding f JOIN asset a ON a.partner_id = f.partner_id`:    false,
		`DELETE FROM attempt WHERE (partner_id, seq) IN (SELECT 1, 2)`:              false,
		`SELECT partner_id, id FROM asset WHERE id = $1`:                            false,
		`SELECT id FROM asset ORDER BY partner_id, id`:                              false,
		`UPDATE epp_key SET ended_at = $2 WHERE id = $1 RETURNING id, partner_id`:   false,
		`SELECT id FROM asset WHERE ($1 = 0 OR partner_id = $1) AND kind = $2`:      false,
		`WITH due AS (SELECT id FROM asset) SELECT partner_id FROM due GROUP BY id`: false,
	} {
		if !statement.MatchString(text) || ofOnePartner(text) != names {
			t.Errorf("%s: names the partner %t, want %t", text, !names, names)
		}
	}
	for _, text := range []string{"UPDATE " + blank + " SET n = 1", "SELECT " + blank + " FROM " + blank + " t WHERE n = 1"} {
		if m := tableNamed.FindStringSubmatch(text); !statement.MatchString(text) || m == nil || m[1] != blank {
			t.Errorf("%q: a table that is named when the program runs is not seen: %q", text, m)
		}
	}
	for _, text := range []string{"select a plan", "SELECTED", "Update the list", "WITH care"} {
		if statement.MatchString(text) {
			t.Errorf("%q is no statement", text)
		}
	}
}

// keysWithoutPartner are those of tables with a partner in every row that cannot begin with it, by table.
var keysWithoutPartner = map[string]string{
	"api_key":      "a key is looked up to learn whose it is; few rows, the same on every machine",
	"case_booking": "an hour belongs to a service of ours: no two partners may have it",
}

// TestPartnerInEveryKey: where rows of partners are spread over machines by partner, a machine can keep a key only if
// the partner is part of it; and where all are on one, it is the partner that keeps one's rows together.
func TestPartnerInEveryKey(t *testing.T) {
	tables, excused := partnersTables(t), map[string]bool{}
	var keys int
	for name, text := range migrationTexts(t) {
		for table, columns := range uniqueKeys(text) {
			if !slices.Contains(tables, table) {
				continue
			}
			for _, c := range columns {
				keys++
				if regexp.MustCompile(`\bpartner_id\b`).MatchString(c) {
					continue
				}
				if keysWithoutPartner[table] == "" {
					t.Errorf("%s: %s is unique by (%s), without the partner", name, table, c)
				}
				excused[table] = true
			}
		}
	}
	if len(excused) != len(keysWithoutPartner) || keys < 25 {
		t.Errorf("%d keys were found; %v of %v have none of the partner", keys, excused, keysWithoutPartner)
	}
	const bad = "CREATE TABLE asset (\n\tid TEXT PRIMARY KEY,\n\tpartner_id INTEGER NOT NULL,\n\tmark TEXT UNIQUE,\n\tPRIMARY KEY (id, mark)\n);\n" +
		"CREATE UNIQUE INDEX asset_mark ON asset (mark) WHERE mark <> '';"
	if got := uniqueKeys(bad)["asset"]; !slices.Equal(got, []string{"id", "mark", "id, mark", "mark"}) {
		t.Errorf("keys of a made-up table: %q", got)
	}
}

// TestSpreadTablesAreComplete: what `vigia migrate --distribute` spreads by partner refers to nothing that stays on one
// machine, and a table of partners that cannot be spread by its key is copied to all.
func TestSpreadTablesAreComplete(t *testing.T) {
	everywhere := store.CopiedTables()
	for table := range keysWithoutPartner {
		if !slices.Contains(everywhere, table) {
			t.Errorf("%s has rows of partners and would stay on the coordinator", table)
		}
	}
	tables, references := partnersTables(t), 0
	for name, text := range migrationTexts(t) {
		for _, table := range createTable.FindAllStringSubmatch(text, -1) {
			for _, to := range regexp.MustCompile(`REFERENCES (\w+)`).FindAllStringSubmatch(table[2], -1) {
				if references++; slices.Contains(tables, table[1]) && !slices.Contains(tables, to[1]) &&
					!slices.Contains(everywhere, to[1]) {
					t.Errorf("%s: %s, which is spread, refers to %s, which is not", name, table[1], to[1])
				}
			}
		}
	}
	if references < 10 {
		t.Errorf("only %d references were found", references)
	}
}

var (
	keyOfColumn = regexp.MustCompile(`(?m)^\t(\w+) .*\b(?:PRIMARY KEY|UNIQUE)\b`)
	keyOfTable  = regexp.MustCompile(`(?m)^\tPRIMARY KEY \(([^)]*)\)`)
	uniqueIndex = regexp.MustCompile(`CREATE UNIQUE INDEX \w+ ON (\w+)\s*\(([^)]*)\)`)
)

// uniqueKeys are the columns of every key of every table in a migration's text.
func uniqueKeys(text string) map[string][]string {
	keys := map[string][]string{}
	for _, m := range createTable.FindAllStringSubmatch(text, -1) {
		for _, re := range []*regexp.Regexp{keyOfColumn, keyOfTable} {
			for _, k := range re.FindAllStringSubmatch(m[2], -1) {
				if k[1] != "PRIMARY" {
					keys[m[1]] = append(keys[m[1]], k[1])
				}
			}
		}
	}
	for _, m := range uniqueIndex.FindAllStringSubmatch(text, -1) {
		keys[m[1]] = append(keys[m[1]], m[2])
	}
	return keys
}
