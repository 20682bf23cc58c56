package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// Check is one kind of look at the whole database. It may run while others write: each statement sees one moment, and a
// check never compares what two statements saw.
type Check struct {
	Name, About string
	// Run calls found for each problem, and seen as it goes with how many rows it has looked at.
	Run func(ctx context.Context, found func(Problem), seen func(rows int64)) error
}

// ListChecks are all looks at the database, in the order of what depends on what.
func (s Upkeep) ListChecks() []Check {
	return []Check{
		{"files", "pages, indexes, references and constraints, by the engine itself", s.checkFiles},
		{"seals", "every sealed value opens where it stands", s.checkSeals},
		{"indexes", "keyed indexes and fingerprints are those of the values they stand for", s.checkIndexes},
		{
			"references",
			"what refers to something refers to something that is there",
			s.checkByQueries("references", referenceQueries()),
		},
		{"counts", "kept counts are what a plain count gives", s.checkByQueries("counts", countQueries)},
		{
			"events",
			"events are numbered without gaps, deliveries and attempts have theirs",
			s.checkByQueries("events", eventQueries),
		},
		{"statuses", "the status and open breaches of every watched value follow from its findings", s.checkStatuses},
		{"watches", "what subscriptions watch is watched, and nothing else in their name", s.checkWatches},
		{"cases", "a case is where its last move left it", s.checkByQueries("cases", caseQueries)},
		{"erasures", "nobody who was erased is back", s.checkByQueries("erasures", erasedQueries())},
		{"grants", "every row that gives power or speaks to people was written by this program", s.checkGrants},
		{"audit", "the audit trail is the one that was written", s.checkAudit},
	}
}

// maxDamage bounds what the engine is asked to list.
const maxDamage = 100

// checkFiles reports the damage that the engine itself finds, at most maxDamage lines of it.
func (s Upkeep) checkFiles(ctx context.Context, found func(Problem), _ func(int64)) error {
	damage, err := s.db.FindDamage(ctx, maxDamage)
	for _, text := range damage {
		found(Problem{"files", "database", text})
	}
	return err
}

// checkAudit reports the first place where the audit trail's chain breaks; later places say nothing new.
func (s Upkeep) checkAudit(ctx context.Context, found func(Problem), seen func(int64)) error {
	_, err := Audit(s).VerifyAudit(ctx, operator.Head{}, seen)
	if errors.Is(err, operator.ErrTrailBroken) {
		found(Problem{"audit", "audit", err.Error()})
		return nil
	}
	return err
}

// checkByQueries makes a check of statements that return a place and what is wrong there, and nothing when all is well.
func (s Upkeep) checkByQueries(
	name string,
	statements []string,
) func(context.Context, func(Problem), func(int64)) error {
	return func(ctx context.Context, found func(Problem), seen func(int64)) error {
		for i, statement := range statements {
			problems, err := collectRows(ctx, s.readQuerier(), func(row scanner, p *Problem) error {
				*p = Problem{Check: name}
				err := row.Scan(&p.Where, &p.What)
				p.Where = withPartner(p.Where)
				return err
			}, statement)
			if err != nil {
				return fmt.Errorf("check %s: %w", name, err)
			}
			for _, p := range problems {
				found(p)
			}
			seen(int64(i + 1))
		}
		return nil
	}
}

// ofNumber is a place that begins with its table and a partner's number.
var ofNumber = regexp.MustCompile(`^(\w+ (?:of )?)(\d+)`)

// withPartner puts the ID that operators know in the place of the number.
func withPartner(where string) string {
	m := ofNumber.FindStringSubmatch(where)
	if m == nil {
		return where
	}
	n, err := strconv.ParseInt(m[2], 10, 32)
	if err != nil {
		return where
	}
	return m[1] + string(partner.NumberedID(n)) + where[len(m[0]):]
}
