package app_test

import (
	"go/ast"
	"go/token"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// exceptions are places that a rule does not hold for, each with its reason. One that is not needed any more is an
// error: the list must not outlive what it excuses.
type exceptions struct {
	reasons map[string]string
	used    map[string]bool
}

func except(reasons map[string]string) *exceptions {
	return &exceptions{reasons, map[string]bool{}}
}

// covers tells whether a place, or a folder above it, is on the list.
func (e *exceptions) covers(place string) bool {
	for ; place != "." && place != "/"; place = path.Dir(place) {
		if _, ok := e.reasons[place]; ok {
			e.used[place] = true
			return true
		}
	}
	return false
}

func (e *exceptions) checkUsed(t *testing.T) {
	t.Helper()
	for place, reason := range e.reasons {
		if !e.used[place] {
			t.Errorf("%s is on the list (%s) and needs no exception any more: drop it", place, reason)
		}
	}
}

// TestRulesKnowNoHTTP: net/http is for the rooms that serve or ask.
func TestRulesKnowNoHTTP(t *testing.T) {
	may := except(map[string]string{
		"cmd/vigia":                    "a command asks a running service",
		"internal/app":                 "starts and stops the servers",
		"internal/api":                 "partner HTTP",
		"internal/console":             "the operator's pages",
		"internal/person":              "people's own pages",
		"internal/page":                "what pages answer",
		"internal/supply":              "where vendors send records to",
		"internal/assistant":           "tools for assistants over HTTP",
		"internal/caller":              "reads who sent a request",
		"internal/webhook":             "sends over HTTP",
		"internal/telemetry":           "serves metrics",
		"internal/password":            "downloads published sets of passwords",
		"internal/intake":              "dumps are fetched from addresses",
		"internal/feed":                "sources are asked over HTTP",
		"internal/bucket":              "buckets are asked over HTTP",
		"internal/kms":                 "key management services are asked over HTTP",
		"internal/alert/dispatcher.go": "hands a client on to webhook.Send",
		"internal/alert/endpoint.go":   "hands a client on to webhook.Send",
	})
	for _, s := range productSources(t) {
		for _, imported := range []string{"net/http", "net/http/httptest", "net/http/httputil"} {
			if packageOf(s.file, imported) != "" && !may.covers(s.name) {
				t.Errorf("%s imports %s: rules know no HTTP", s.name, imported)
			}
		}
	}
	may.checkUsed(t)
}

// TestTimeAndChanceComeIn: what starts, serves and measures reads the clock; rules and the store are given one. Chance
// is the same, and a constructor that is given none takes the system's. Ids (UUIDv7) are made where they are needed.
func TestTimeAndChanceComeIn(t *testing.T) {
	may := except(map[string]string{
		"cmd/vigia":                        "a command is where time begins",
		"internal/app":                     "hands the clock out, and times what it runs itself",
		"internal/telemetry":               "measures; makes request ids",
		"internal/api/intake.go":           "a connection's deadline is the system's",
		"internal/console/jobs.go":         "a connection's deadline is the system's",
		"internal/webhook/send.go":         "how long an attempt took is shown to people, no rule asks for it",
		"internal/sqldb":                   "spreads repeats, and bounds how long a busy file is waited for",
		"internal/bucket/s3_send.go":       "spreads repeats",
		"internal/job/job.go":              "progress that is told too often is dropped",
		"internal/job/runner.go":           "a worker's name",
		"internal/seal":                    "keys and nonces come from the system and from nowhere else",
		"internal/partner/partner.go":      "default of a constructor",
		"internal/partner/gate.go":         "the secret under which this process remembers keys",
		"internal/operator":                "default of a constructor",
		"internal/cyber/epp.go":            "default of a constructor",
		"internal/cyber/portal_session.go": "default of a constructor",
		"internal/alert/endpoint.go":       "default of a constructor; the name of a worker for one test",
		"internal/alert/dispatcher.go":     "default of the options: a worker's name",
		"internal/password/download.go":    "default of the options: spreads tries",
		"internal/reader/child.go":         "how often a reader tells how far it is",
		"internal/intake/preview.go":       "a preview keeps no time",
	})
	for _, s := range productSources(t) {
		var found []ast.Node
		found = append(found, s.uses("time", "Now", "Since", "Until")...)
		for _, imported := range []string{"math/rand", "math/rand/v2", "crypto/rand"} {
			found = append(found, s.uses(imported, "Reader", "Read", "Text", "Int", "Prime", "Float64", "N", "IntN", "Int64N", "Uint64", "Perm", "Shuffle")...)
		}
		for _, node := range found {
			if !may.covers(s.name) {
				t.Errorf("%s reads the system's clock or chance: they come in through constructors", s.line(node))
			}
		}
	}
	may.checkUsed(t)
}

var engineName = regexp.MustCompile(`(?i)sqlite|postgres|pgx|pragma `)

// TestContextsCarryNoTransaction: what commits together is seen in the code, so a context carries nothing but what logs
// say of a request.
func TestContextsCarryNoTransaction(t *testing.T) {
	may := except(map[string]string{
		"internal/telemetry": "the id of a request, for its log lines",
		"cmd/vigia/audit.go": "which command was called, for its line in the trail",
	})
	for _, s := range productSources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "WithValue" && !may.covers(s.name) {
				t.Errorf("%s: a value travels in a context", s.line(sel))
			}
			return true
		})
	}
	may.checkUsed(t)
}

// TestOnlySqldbKnowsEngines: names of engines stand in sqldb, in the settings and commands that people name them by,
// and in few other places. Comments may speak of them.
func TestOnlySqldbKnowsEngines(t *testing.T) {
	may := except(map[string]string{
		"internal/sqldb":           "knows which engine answers",
		"internal/config":          "the operator names one",
		"cmd/vigia":                "the operator names one",
		"internal/container":       "opens files that engines wrote, as dumps",
		"internal/scan/record":     "knows dumps of engines by their first words",
		"internal/app/backup.go":   "a SQLite file is part of the archive, a PostgreSQL is not",
		"internal/app/clock.go":    "replicas share the clock of an engine that runs elsewhere",
		"internal/app/replicas.go": "replicas need an engine that others can reach",
	})
	for _, s := range productSources(t) {
		note := func(n ast.Node, text string) {
			if engineName.MatchString(text) && !may.covers(s.name) {
				t.Errorf("%s: %q names an engine: only sqldb knows which one answers", s.line(n), text)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				note(n, n.Name)
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					note(n, n.Value)
				}
			}
			return true
		})
	}
	may.checkUsed(t)
}

// TestTagsStandOnWires: a struct tag says how something is written outside of the program. Wires are listed; all other
// types carry none.
func TestTagsStandOnWires(t *testing.T) {
	wires := except(map[string]string{
		"cmd/vigia":                      "what commands print with --json",
		"internal/api":                   "requests and answers of partners",
		"internal/assistant":             "what tools take and answer",
		"internal/console/passkeys.go":   "what the script of a page reads",
		"internal/passkey":               "what browsers answer, and what is kept of a passkey",
		"internal/alert/event.go":        "bodies of events, which partners receive",
		"internal/alert/monitoring.go":   "bodies of events",
		"internal/alert/protection.go":   "bodies of events",
		"internal/alert/subscription.go": "bodies of events",
		"internal/subject/subject.go":    "the archive that a person is given",
		"internal/subject/statement.go":  "the archive that a person is given",
		"internal/draft/rejects.go":      "records that were refused, for whoever sent them",
		"internal/plan/coverage.go":      "the coverage that a plan keeps and a partner is shown",
		"internal/backup/backup.go":      "the list inside an archive",
		"internal/seal/keyfile.go":       "the key file",
		"internal/bucket/s3.go":          "answers of a bucket",
		"internal/kms":                   "requests and answers of key management services",
		"internal/telemetry/otlp.go":     "traces, as a collector reads them",
		"internal/password/journal.go":   "the journal of an import",
		"internal/password/library.go":   "the list of sets, a file",
		"internal/feed/feed.go":          "what a feed remembers between runs",
		"internal/feed/hibp.go":          "a published list",
		"internal/supply/supply.go":      "answers to vendors",
		"internal/leak/tally.go":         "what an import counted, kept with its breach",
		"internal/leak/match.go":         "progress of jobs",
		"internal/intake/spread.go":      "progress of jobs",
		"internal/intake/work.go":        "arguments and progress of jobs",
		"internal/store":                 "what sealed columns hold",
		"internal/cyber/content_yaml.go": "the catalogue's file",
		"internal/cyber/step_yaml.go":    "the file of steps",
		"internal/message/catalogue.go":  "the file of texts",
		"internal/message/words.go":      "bodies of events, as they are read again",
		"internal/reader/reader.go":      "what the reader of dumps and its parent tell each other",
		"internal/intake/import_read.go": "what is kept of an import to go on from",
	})
	for _, s := range productSources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			text, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"json", "yaml", "xml", "db", "sql"} {
				if _, there := reflect.StructTag(text).Lookup(key); there && !wires.covers(s.name) {
					t.Errorf("%s: a %s tag: domain types carry none; a wire is private to the file that speaks it", s.line(field), key)
				}
			}
			return true
		})
	}
	wires.checkUsed(t)
}

// TestEndpointsNeverSeeTheWriter: an endpoint returns a value or an error.
func TestEndpointsNeverSeeTheWriter(t *testing.T) {
	may := except(map[string]string{
		"internal/api/server.go":  "the adapter",
		"internal/api/intake.go":  "takes the body in for the adapter",
		"internal/api/openapi.go": "serves the description",
		"internal/api/events.go":  "serves the schemas of events",
		"internal/api/reference":  "serves the reference page",
	})
	for _, s := range productSources(t) {
		if !s.within("internal/api") {
			continue
		}
		for _, n := range s.uses("net/http", "ResponseWriter") {
			if !may.covers(s.name) {
				t.Errorf("%s: only the adapter sees the response writer", s.line(n))
			}
		}
	}
	may.checkUsed(t)
}

// TestDetailsAreASCII: what a fault says for the log names a field and a rule in plain ASCII. Portuguese is the API's
// and the console's.
func TestDetailsAreASCII(t *testing.T) {
	may := except(map[string]string{
		"internal/plan/coverage.go": "fields of the contract are called so",
	})
	seen := 0
	for _, s := range productSources(t) {
		if s.within("internal/api", "internal/console") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "With" {
				return true
			}
			if text, ok := leaf(call.Args[0], nil); ok {
				if seen++; !isASCII(text) && !may.covers(s.name) {
					t.Errorf("%s: %q is not plain ASCII", s.line(call), text)
				}
			}
			return true
		})
	}
	if seen < 100 {
		t.Errorf("only %d details were found", seen)
	}
	may.checkUsed(t)
}

// badName is how a type that says nothing ends.
var badName = regexp.MustCompile(`(Manager|Helper|Impl|Info|Data)$`)

// TestNames: packages and types say what they hold.
func TestNames(t *testing.T) {
	may := except(map[string]string{"internal/kms/kms.go": "tink's interface names a method so"})
	for _, s := range productSources(t) {
		switch s.file.Name.Name {
		case "util", "utils", "common", "helper", "helpers", "model", "models", "types", "core", "base", "shared":
			t.Errorf("%s: a package called %s holds anything", s.name, s.file.Name.Name)
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if kind, ok := spec.(*ast.TypeSpec); ok && badName.MatchString(kind.Name.Name) && !may.covers(s.name) {
						t.Errorf("%s: a type called %s", s.line(kind), kind.Name.Name)
					}
				}
			case *ast.FuncDecl:
				if rest, cut := strings.CutPrefix(d.Name.Name, "Get"); cut && rest != "" && rest[:1] == strings.ToUpper(rest[:1]) && !may.covers(s.name) {
					t.Errorf("%s: %s: Go has no Get in names", s.line(d), d.Name.Name)
				}
			}
		}
	}
	may.checkUsed(t)
}

// TestSegmentsNameFiles: /cyber/services is services.go in the partner API, the rules and the store.
func TestSegmentsNameFiles(t *testing.T) {
	elsewhere := except(map[string]string{
		"cyber/password_check": "the sets of passwords are files and a package of their own",
		"store/password_check": "as above: nothing of it is in the database",
		"cyber/cover":          "what /cyber/insurance tells of, as a list: insurance.go",
		"store/cover":          "as above",
		"cyber/findings":       "findings are monitoring's: finding.go and monitoring.go",
		"store/findings":       "a file named after the noun: finding.go",
		"api/cases":            "a person's cases: case_person.go",
		"cyber/cases":          "as above",
		"store/cases":          "a file named after the noun: case.go",
		"store/breaches":       "a file named after the noun: breach_catalogue.go",
		"api/scores":           "of many people: score.go",
		"cyber/scores":         "as above",
		"store/scores":         "as above",
		"cyber/assets":         "many values at once, by the rules of one: monitoring_bulk.go",
		"store/assets":         "as above: each is kept by itself, in monitoring.go",
	})
	segment := regexp.MustCompile(`"/cyber/([a-z-]+)`)
	var names []string
	for _, m := range segment.FindAllStringSubmatch(readTree(t, "internal/api/routes.go"), -1) {
		if name := strings.ReplaceAll(m[1], "-", "_"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 8 {
		t.Fatal("few segments were found:", names)
	}
	for _, name := range names {
		for _, folder := range []string{"api", "cyber", "store"} {
			if !inTree("internal/"+folder+"/"+name+".go") && !elsewhere.covers(folder+"/"+name) {
				t.Errorf("/cyber/%s has no file internal/%s/%s.go", name, folder, name)
			}
		}
	}
	elsewhere.checkUsed(t)
}
