package app_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	statement   = regexp.MustCompile(`^\s*(SELECT|INSERT INTO|UPDATE\s+[\w\x00]+\s+SET|DELETE FROM|WITH\s+(RECURSIVE\s+)?\w+.*\sAS|CREATE TABLE|ALTER TABLE)\b`)
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

// forAllPartners are the functions and variables whose statements are not about one partner, with their reasons: the table of
// docs/citus.md is the list. All of them belong to the operator or to the service itself: no request of a partner ends
// in one, but for what its reason names.
func forAllPartners(t *testing.T) map[string]string {
	t.Helper()
	_, section, _ := strings.Cut(readTree(t, "docs/citus.md"), "\n## Statements that cross partners\n")
	section, _, _ = strings.Cut(section, "\n## ")
	list := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| ([^|]+) \\|").FindAllStringSubmatch(section, -1) {
		for _, name := range strings.Split(row[1], ", ") {
			name = strings.Trim(name, "`")
			if _, twice := list[name]; twice {
				t.Errorf("docs/citus.md names %s twice", name)
			}
			list[name] = row[2]
		}
	}
	return list
}

// TestPartnerInEveryStatement: a statement on a table of partners, or on one that is named when the program runs, names
// the partner, or stands in a function or variable on the list.
func TestPartnerInEveryStatement(t *testing.T) {
	tables, excused, crossing := partnersTables(t), map[string]bool{}, forAllPartners(t)
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
		if _, listed := crossing[s.function]; !listed {
			t.Errorf("%s: %s: a statement on %s without the partner, and no row of docs/citus.md names the function: %s", s.line, s.function, touches, s.text)
		}
		excused[s.function] = true
	}
	for function, reason := range crossing {
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

// TestStatementsSuitBothEngines: one text, numbered parameters, named columns, and no clock but ours.
func TestStatementsSuitBothEngines(t *testing.T) {
	for _, s := range storeStatements(t) {
		for what, bad := range map[string]*regexp.Regexp{
			"a parameter without a number": regexp.MustCompile(`[=(,<>] ?\?`),
			"SELECT *":                     regexp.MustCompile(`SELECT \*`),
			"the database's clock":         regexp.MustCompile(`(?i)\b(now\(\)|current_timestamp|current_date|strftime|datetime\()`),
			"ids of the database":          regexp.MustCompile(`(?i)\b(gen_random_uuid|randomblob|last_insert_rowid|nextval|rowid)\b`),
		} {
			if bad.MatchString(s.text) {
				t.Errorf("%s: %s: %s", s.line, what, s.text)
			}
		}
	}
}

var columnLine = regexp.MustCompile(`(?m)^\s+(\w+)\s+([A-Z]+)\b|ADD COLUMN (\w+) ([A-Z]+)`)

// TestColumnTypes: only types that mean the same on both engines.
func TestColumnTypes(t *testing.T) {
	columns := 0
	for name, text := range migrationTexts(t) {
		for _, body := range append(createTable.FindAllString(text, -1), regexp.MustCompile(`ALTER TABLE[^;]*`).FindAllString(text, -1)...) {
			for _, m := range columnLine.FindAllStringSubmatch(body, -1) {
				column, kind := m[1]+m[3], m[2]+m[4]
				if column == strings.ToUpper(column) { // PRIMARY KEY, UNIQUE, FOREIGN KEY
					continue
				}
				if columns++; !slices.Contains([]string{"TEXT", "INTEGER", "BIGINT", "BOOLEAN", "BYTEA"}, kind) {
					t.Errorf("%s: column %s is a %s", name, column, kind)
				}
			}
		}
	}
	if columns < 150 {
		t.Errorf("only %d columns were found", columns)
	}
}

// TestNoSQLOutsideTheStore: statements stand in the store; sqldb has those that are about the engine.
func TestNoSQLOutsideTheStore(t *testing.T) {
	may := except(map[string]string{"internal/scan/record": "reads statements in dumps and runs none"})
	for _, s := range productSources(t) {
		if s.within("internal/store", "internal/sqldb") {
			continue
		}
		s.texts(nil, func(at ast.Node, _, text string) {
			if statement.MatchString(text) && !may.covers(s.name) {
				t.Errorf("%s: SQL outside the store: %s", s.line(at), text)
			}
		})
	}
	may.checkUsed(t)
}

// TestPartnerComesAfterTheContext: in every exported method of the store that takes a partner.
func TestPartnerComesAfterTheContext(t *testing.T) {
	methods := 0
	for _, s := range productSources(t) {
		if s.folder() != "internal/store" {
			continue
		}
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || !fn.Name.IsExported() {
				continue
			}
			place := 0
			for _, field := range fn.Type.Params.List {
				kind, ok := field.Type.(*ast.SelectorExpr)
				if ok && kind.Sel.Name == "ID" && isNamed(kind.X, "partner") {
					if methods++; place != 1 {
						t.Errorf("%s: %s takes the partner at place %d: it comes right after the context", s.line(fn), fn.Name.Name, place)
					}
				}
				place += max(len(field.Names), 1)
			}
		}
	}
	if methods < 40 {
		t.Errorf("only %d methods with a partner were found", methods)
	}
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
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
	list := regexp.MustCompile(`everywhere = \[\]string\{([^}]*)\}`).FindStringSubmatch(readTree(t, "internal/store/distribute.go"))
	if list == nil {
		t.Fatal("the list of tables that are everywhere was not found")
	}
	everywhere := strings.Split(strings.ReplaceAll(list[1], `"`, ""), ", ")
	for table := range keysWithoutPartner {
		if !slices.Contains(everywhere, table) {
			t.Errorf("%s has rows of partners and would stay on the coordinator", table)
		}
	}
	tables, references := partnersTables(t), 0
	for name, text := range migrationTexts(t) {
		for _, table := range createTable.FindAllStringSubmatch(text, -1) {
			for _, to := range regexp.MustCompile(`REFERENCES (\w+)`).FindAllStringSubmatch(table[2], -1) {
				if references++; slices.Contains(tables, table[1]) && !slices.Contains(tables, to[1]) && !slices.Contains(everywhere, to[1]) {
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
