package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Problem is something in the database that is not as it should be. It names tables and ids, never a person's value.
type Problem struct {
	// Check is the name of the check that found it.
	Check string
	// Where is the table and the row.
	Where string
	What  string
}

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

// countQueries return rows whose counters differ from what they count.
var countQueries = []string{
	`SELECT 'subscription_counter ' || c.partner_id, 'says that ' || c.active || ' have not ended; there are ' ||
	coalesce(n.active, 0)
	FROM subscription_counter c LEFT JOIN (
		SELECT partner_id, count(*) AS active FROM subscription WHERE ended_at = 0
		GROUP BY partner_id) n ON n.partner_id = c.partner_id
	WHERE c.active <> coalesce(n.active, 0) ORDER BY 1`,
	`SELECT 'subscription_counter ' || n.partner_id, 'says that the last number is ' || coalesce(c.last, 0) ||
	'; there is a ' || n.last
	FROM (SELECT partner_id, max(seq) AS last FROM subscription GROUP BY partner_id) n
	LEFT JOIN subscription_counter c ON c.partner_id = n.partner_id WHERE n.last > coalesce(c.last, 0) ORDER BY 1`,
	`SELECT 'subscription_block ' || coalesce(b.partner_id, n.partner_id) || ' block ' || coalesce(b.block, n.block),
		'says that ' || coalesce(b.active, 0) || ' have not ended; there are ' || coalesce(n.active, 0)
	FROM subscription_block b FULL JOIN (
		SELECT partner_id, seq / 4096 AS block, count(*) AS active FROM subscription
		WHERE ended_at = 0 GROUP BY partner_id, seq / 4096) n
		ON n.partner_id = b.partner_id AND n.block = b.block
	WHERE coalesce(b.active, 0) <> coalesce(n.active, 0) ORDER BY 1`,
	`SELECT 'subscription_expiry ' || coalesce(b.partner_id, n.partner_id) || ' block ' || coalesce(b.block, n.block) ||
			' day ' || coalesce(b.expiry_day, n.expiry_day),
		'says that ' || coalesce(b.active, 0) || ' have not ended; there are ' || coalesce(n.active, 0)
	FROM subscription_expiry b FULL JOIN (
		SELECT partner_id, seq / 4096 AS block, expiry_day, count(*) AS active FROM subscription
		WHERE ended_at = 0 AND expiry_day > 0 GROUP BY partner_id, seq / 4096, expiry_day) n
		ON n.partner_id = b.partner_id AND n.block = b.block AND n.expiry_day = b.expiry_day
	WHERE coalesce(b.active, 0) <> coalesce(n.active, 0) ORDER BY 1`,
}

// numberedEvents are the numbers of events that are there, or were erased with their person since the oldest that is
// there.
const numberedEvents = `(SELECT partner_id, seq FROM event UNION SELECT g.partner_id, g.seq FROM event_gap g
	WHERE g.seq > (SELECT min(o.seq) FROM event o WHERE o.partner_id = g.partner_id))`

// eventQueries return gaps and strays in the events of a partner.
var eventQueries = []string{
	`SELECT 'event ' || partner_id, 'numbers ' || (before + 1) || ' to ' || (seq - 1) || ' are missing' FROM (
		SELECT partner_id, seq, lag(seq) OVER (PARTITION BY partner_id ORDER BY seq) AS before
		FROM ` + numberedEvents + ` e) g
	WHERE seq > before + 1 ORDER BY 1`,
	`SELECT 'event_counter ' || e.partner_id, 'says that the last number is ' || coalesce(c.last, 0) ||
	'; the last event is ' || e.last
	FROM (SELECT partner_id, max(seq) AS last FROM ` + numberedEvents + ` n GROUP BY partner_id) e
	LEFT JOIN event_counter c ON c.partner_id = e.partner_id WHERE e.last <> coalesce(c.last, 0) ORDER BY 1`,
	`SELECT 'delivery ' || d.partner_id || '/' || d.endpoint_id || '/' || d.seq, 'its event ' || d.event_id ||
	' is not there'
	FROM delivery d WHERE NOT EXISTS (SELECT 1 FROM event e
	WHERE e.partner_id = d.partner_id AND e.seq = d.seq AND e.id = d.event_id)
	ORDER BY 1 LIMIT 1000`,
	`SELECT 'attempt ' || a.partner_id || '/' || a.endpoint_id || '/' || a.seq, 'its delivery is not there'
	FROM attempt a WHERE NOT EXISTS (SELECT 1 FROM delivery d
	WHERE d.partner_id = a.partner_id AND d.endpoint_id = a.endpoint_id
		AND d.seq = a.seq) ORDER BY 1 LIMIT 1000`,
}

// caseQueries return cases whose parts contradict each other.
var caseQueries = []string{
	`SELECT 'support_case ' || c.id, 'is ' || c.status || '; its last move left it ' || coalesce(m.to_status, 'nowhere')
	FROM support_case c LEFT JOIN case_move m ON m.partner_id = c.partner_id AND m.case_id = c.id AND m.number = (
		SELECT max(l.number) FROM case_move l WHERE l.partner_id = c.partner_id AND l.case_id = c.id)
	WHERE m.to_status IS NULL OR m.to_status <> c.status ORDER BY 1 LIMIT 1000`,
	`SELECT 'case_move ' || case_id, 'has ' || count(*) || ' moves up to number ' || max(number) FROM case_move
	GROUP BY partner_id, case_id HAVING count(*) <> max(number) ORDER BY 1 LIMIT 1000`,
}

// ofPartners are the tables whose rows belong to a partner without the engine seeing to it.
var ofPartners = []string{
	"idempotency",
	"person",
	"person_name",
	"event",
	"event_counter",
	"event_pull",
	"delivery",
	"attempt",
	"subscription",
	"subscription_counter",
	"subscription_block",
	"subscription_expiry",
	"asset",
	"finding",
	"finding_step",
	"epp_key",
	"epp_holder",
	"support_case",
	"case_move",
	"content_answer",
	"score_day",
}

// refers is a reference that a table makes without the engine seeing to it, or that the engine may have missed.
type refers struct{ table, row, what, where string }

// references are the rows that refer to another, each with the condition under which that one is missing.
var references = []refers{
	{
		"finding",
		"id",
		"its watched value is not there",
		`NOT EXISTS (SELECT 1 FROM asset p WHERE p.partner_id = t.partner_id AND p.id = t.asset_id)`,
	},
	{"finding", "id", "its breach is not there", `NOT EXISTS (SELECT 1 FROM breach p WHERE p.name = t.breach)`},
	{
		"finding_step",
		"finding_id",
		"its finding is not there",
		`NOT EXISTS (SELECT 1 FROM finding p WHERE p.partner_id = t.partner_id AND p.id = t.finding_id)`,
	},
	{
		"asset_history",
		"asset_id",
		"its watched value is not there",
		`NOT EXISTS (SELECT 1 FROM asset p WHERE p.partner_id = t.partner_id AND p.id = t.asset_id)`,
	},
	{
		"subscription",
		"partner_id || '/' || t.seq",
		"its plan is not there",
		`NOT EXISTS (SELECT 1 FROM plan p WHERE p.partner_id = t.partner_id AND p.id = t.plan_id)`,
	},
	{
		"subscription",
		"partner_id || '/' || t.seq",
		"its person is not there",
		`NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = t.partner_id AND p.cpf = t.cpf)`,
	},
	{
		"support_case",
		"id",
		"its service is not there",
		`NOT EXISTS (SELECT 1 FROM service p WHERE p.id = t.service_id)`,
	},
	{
		"case_move",
		"case_id",
		"its case is not there",
		`NOT EXISTS (SELECT 1 FROM support_case p WHERE p.id = t.case_id AND p.partner_id = t.partner_id)`,
	},
}

// Where what refers is the service's and not a partner's, both sides are joined: such a table may be on one machine,
// and what it refers to on many.
var referencesOfService = []string{
	`SELECT 'case_booking ' || t.case_id, 'its case is not there' FROM case_booking t
	LEFT JOIN support_case p ON p.partner_id = t.partner_id AND p.id = t.case_id WHERE p.id IS NULL
	ORDER BY 1 LIMIT 1000`,
	`SELECT 'epp_pool ' || t.id, 'the key that took it is not there' FROM (
		SELECT id, taken_by FROM epp_pool WHERE taken_by NOT IN ('', '` + takenByErased + `')) t
	LEFT JOIN epp_key p ON p.id = t.taken_by WHERE p.id IS NULL ORDER BY 1 LIMIT 1000`,
}

// referenceQueries returns one query per reference. Each returns the row at fault and what is wrong with it.
func referenceQueries() []string {
	list := slices.Clone(referencesOfService)
	for _, table := range ofPartners {
		list = append(
			list,
			`SELECT '`+table+` of ' || t.partner_id, count(*) || ' rows of a partner that is not there' FROM `+table+` t
			WHERE NOT EXISTS (SELECT 1 FROM partner p WHERE p.id = t.partner_id) GROUP BY t.partner_id ORDER BY 1`,
		)
	}
	for _, r := range references {
		list = append(
			list,
			`SELECT '`+r.table+` ' || t.`+r.row+`, '`+strings.ReplaceAll(r.what, "'", "''")+`' FROM `+r.table+` t
			WHERE `+r.where+` ORDER BY 1 LIMIT 1000`,
		)
	}
	return list
}

// restating are the breaches whose statuses a job is about to bring in line.
const restating = `SELECT subject FROM job
	WHERE kind IN ('` + leak.KindRestate + `', '` + leak.KindWithdraw + `') AND state IN ('ready', 'running')`

// checkBatch is how many rows a check reads at once.
const checkBatch = 500

// checkSeals opens every sealed value where it stands. Values whose key is not in the ring are counted by column.
func (s Upkeep) checkSeals(ctx context.Context, found func(Problem), seen func(int64)) error {
	if _, err := s.FollowRing(ctx); err != nil {
		return fmt.Errorf("check seals: %w", err)
	}
	var looked int64
	for _, c := range sealedColumns {
		lacking := map[uint32]int{}
		var after []any
		for most := c.rowsAtOnce(checkBatch); ; {
			rows, err := s.sealedRows(ctx, c, after, most, false)
			if err != nil {
				return err
			}
			for _, row := range rows {
				what := s.sealProblem(c, row)
				if id, lacks := s.keys.LacksKeyOf(row.sealed); what != "" && lacks {
					lacking[id]++
				} else if what != "" {
					found(Problem{"seals", c.table + "." + c.column + " " + showRowKey(row.key), what})
				}
			}
			looked += int64(len(rows))
			seen(looked)
			if len(rows) < most {
				break
			}
			after = rows[len(rows)-1].key
		}
		for id, n := range lacking {
			found(Problem{"seals", c.table + "." + c.column, fmt.Sprintf(
				"%d values are sealed under key %08x, which the ring does not hold: nobody can open them", n, id)})
		}
	}
	return nil
}

// sealProblem returns why a sealed value cannot be opened, in words for the operator; empty when it opens.
func (s Upkeep) sealProblem(c sealedColumn, row oldRow) string {
	if _, err := s.keys.Unseal(c.place(row.key), row.sealed); err == nil {
		return ""
	}
	if _, ok := seal.SealedWith(row.sealed); !ok {
		return "is no sealed value"
	}
	return "does not open: altered, or moved here from elsewhere"
}

// showRowKey shows a primary key; keyed indexes and digests in hexadecimal.
func showRowKey(key []any) string {
	parts := make([]string, len(key))
	for i, v := range key {
		if b, ok := v.([]byte); ok {
			parts[i] = hex.EncodeToString(b)
		} else {
			parts[i] = formatKeyPart(v)
		}
	}
	return strings.Join(parts, "/")
}

// checkIndexes compares keyed indexes with the values behind them. What does not open is the business of checkSeals.
func (s Upkeep) checkIndexes(ctx context.Context, found func(Problem), seen func(int64)) error {
	partners, err := Partners(s).ListPartners(ctx)
	if err != nil {
		return err
	}
	modes := map[partner.ID]partner.Mode{}
	var looked int64
	walk := func(page func(mark *checkMark) (int, error)) error {
		for mark := (checkMark{}); ; {
			n, err := page(&mark)
			if err != nil {
				return fmt.Errorf("check indexes: %w", err)
			}
			looked += int64(n)
			if seen(looked); n < checkBatch {
				return nil
			}
		}
	}
	for _, p := range partners {
		modes[p.ID] = p.Mode
		if err := walk(
			func(mark *checkMark) (int, error) { return s.checkSubscriptionIndexes(ctx, p.ID, mark, found) },
		); err != nil {
			return err
		}
	}
	return walk(func(mark *checkMark) (int, error) { return s.checkAssetIndexes(ctx, modes, mark, found) })
}

// checkMark is how far a check has come in a table.
type checkMark struct {
	seq     int64
	partner partner.ID
	id      string
}

// checkSubscriptionIndexes checks one page of a partner's subscriptions and advances after. It returns how many rows it
// read. Bodies that cannot be unsealed are left to the check of seals.
func (s Upkeep) checkSubscriptionIndexes(
	ctx context.Context,
	id partner.ID,
	after *checkMark,
	found func(Problem),
) (int, error) {
	type row struct {
		subscription.Subscription
		cpf, holder, body []byte
	}
	rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner, r *row) error {
		return sc.Scan(&r.Seq, &r.Plan, &r.cpf, &r.holder, &r.body, &r.CreatedAt)
	}, `SELECT seq, plan_id, cpf, holder, body, created_at FROM subscription WHERE partner_id = $1 AND seq > $2
		ORDER BY seq LIMIT $3`,
		id,
		after.seq,
		checkBatch,
	)
	for _, r := range rows {
		after.seq = r.Seq
		where := fmt.Sprintf("subscription %s/%d", id, r.Seq)
		switch err := Subscriptions(s).unsealBody(id, r.cpf, r.body, &r.Subscription); {
		case errors.Is(err, errBody):
			found(Problem{"indexes", where, "its body has an unknown layout"})
		case err != nil:
		case !bytes.Equal(r.holder, Subscriptions(s).holderIndex(id, r.Holder)):
			found(Problem{"indexes", where, "its index is not that of its holder"})
		}
	}
	return len(rows), err
}

// checkAssetIndexes checks that the index and the fingerprint of one page of watched values follow from the sealed
// value, and advances after. Values that cannot be unsealed are left to the check of seals.
func (s Upkeep) checkAssetIndexes(
	ctx context.Context,
	modes map[partner.ID]partner.Mode,
	after *checkMark,
	found func(Problem),
) (int, error) {
	type row struct {
		cyber.Asset
		index, value []byte
		fingerprint  sql.NullInt64
		look         int64
	}
	rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner, r *row) error {
		return sc.Scan(&r.ID, &r.Partner, &r.Kind, &r.index, &r.fingerprint, &r.look, &r.value)
	}, `SELECT id, partner_id, kind, value_index, fingerprint, look, value FROM asset
		WHERE (partner_id, id) > ($1, $2) ORDER BY partner_id, id LIMIT $3`,
		after.partner,
		after.id,
		checkBatch,
	)
	for _, r := range rows {
		after.partner, after.id = r.Partner, string(r.ID)
		check := identifier.Required
		if modes[r.Partner].Has(partner.AnyCheckDigits) {
			check = identifier.Waived
		}
		if Monitoring(s).openAssetValue(&r.Asset, r.value) != nil {
			continue
		}
		normal, err := identifier.ParseValue(r.Kind, r.Value, check)
		switch {
		case err != nil:
			found(Problem{"indexes", "asset " + string(r.ID), "its value is not valid any more"})
		case !bytes.Equal(r.index, Monitoring(s).valueIndex(r.Partner, r.Kind, normal)):
			found(Problem{"indexes", "asset " + string(r.ID), "its index is not that of its value"})
		case r.fingerprint.Valid && s.unveilFingerprint(r.Partner, r.fingerprint.Int64) !=
			s.keys.Fingerprint(byte(r.Kind), identifier.MatchForm(r.Kind, normal)):
			found(
				Problem{
					"indexes",
					"asset " + string(r.ID),
					"its fingerprint is not that of its value: leaks are not found",
				},
			)
		case r.fingerprint.Valid && r.look == lookWaiting:
			found(
				Problem{
					"indexes",
					"asset " + string(r.ID),
					"it waits for its first look and can be matched all the same",
				},
			)
		case !r.fingerprint.Valid && r.look != lookWaiting && !modes[r.Partner].Has(partner.MagicValues):
			found(Problem{"indexes", "asset " + string(r.ID), "it has no fingerprint: leaks are not found"})
		}
	}
	return len(rows), err
}

// checkStatuses computes the status and the open breaches of every watched value from its findings, value and findings
// read at one moment. Values whose status a job is about to bring in line are left to it.
func (s Upkeep) checkStatuses(ctx context.Context, found func(Problem), seen func(int64)) error {
	type row struct {
		partner partner.ID
		id      string
		status  cyber.Status
		open    string
		waiting bool
		finding cyber.Finding
	}
	var looked int64
	for after := (checkMark{}); ; {
		rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner, r *row) error {
			var classes sql.NullInt64
			var status, resolution string // as they are: an unknown one is to be told of, not refused
			b := &r.finding.Breach
			err := sc.Scan(
				&r.partner,
				&r.id,
				&status,
				&r.open,
				&r.finding.ID,
				&b.Name,
				&resolution,
				&b.Kind,
				splitsTexts(&b.Exposes),
				&b.Fabricated,
				&b.SpamList,
				&classes,
				&r.waiting,
				&r.finding.Quiet,
			)
			r.status, r.finding.Resolution = cyber.Status(status), cyber.Resolution(resolution)
			*b = b.ForTrace(cyber.Trace{Told: classes.Valid, Classes: cyber.Classes(classes.Int64)})
			return err
		}, `SELECT a.partner_id, a.id, a.status, a.open_breaches, coalesce(f.id, ''), coalesce(f.breach, ''),
			coalesce(f.resolution, ''), coalesce(b.kind, ''), coalesce(b.exposes, ''),
				coalesce(b.fabricated, FALSE), coalesce(b.spam_list, FALSE), f.classes,
				coalesce(f.breach IN (`+restating+`), FALSE), coalesce(f.quiet, FALSE)
			FROM (SELECT partner_id, id, status, open_breaches FROM asset WHERE (partner_id, id) > ($1, $2)
			ORDER BY partner_id, id LIMIT $3) a
			LEFT JOIN finding f ON f.partner_id = a.partner_id AND f.asset_id = a.id
			LEFT JOIN breach b ON b.name = f.breach ORDER BY a.partner_id, a.id, f.found_at, f.id`,
			after.partner,
			after.id,
			checkBatch,
		)
		if err != nil {
			return err
		}
		n := 0
		for len(rows) > 0 {
			first, waiting := rows[0], false
			var findings []cyber.Finding
			for len(rows) > 0 && rows[0].id == first.id && rows[0].partner == first.partner {
				if waiting = waiting || rows[0].waiting; rows[0].finding.ID != "" {
					findings = append(findings, rows[0].finding)
				}
				rows = rows[1:]
			}
			if want := cyber.ComputeStatus(findings); want != first.status && !waiting {
				found(
					Problem{
						"statuses",
						"asset " + first.id,
						fmt.Sprintf("is %s; from its findings it is %s", first.status, want),
					},
				)
			}
			if sortedWords(cyber.JoinBreachNames(findings)) != sortedWords(first.open) {
				found(Problem{"statuses", "asset " + first.id, "its list of open breaches is not that of its findings"})
			}
			n, after.partner, after.id = n+1, first.partner, first.id
		}
		looked += int64(n)
		seen(looked)
		if n < checkBatch {
			return nil
		}
	}
}

// sortedWords returns the words in a fixed order, so that two lists of names can be compared as sets.
func sortedWords(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}
