package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vigia/internal/cyber"
	"vigia/internal/identifier"
	"vigia/internal/partner"
	"vigia/internal/sqldb"
)

var _ cyber.PersonStore = (*Store)(nil)

// postureQuery reads everything about a person in one round trip: a row per watched value with the names of its open breaches,
// and a last row with the rest; first what stands under the digest as sent, then what stands under the person's other digest, which
// is NULL until it is known whose the hash is: nothing stands under that, and nothing is looked for. Both digests in one condition
// would make SQLite build a list on the fly for each table, which costs more than all it finds.
//
// Lists come as one text each, because a row costs more than a word: names of breaches, ids and values of the catalogue and systems
// hold neither spaces nor equal signs.
var postureQuery = `WITH other (digest) AS MATERIALIZED (SELECT user_256 FROM person WHERE partner_id = $1 AND user_512 = $2
		UNION ALL SELECT user_512 FROM person WHERE partner_id = $1 AND user_256 = $2 LIMIT 1) ` +
	strings.ReplaceAll(postureUnder, "{user}", "$2") + ` UNION ALL ` + strings.ReplaceAll(postureUnder, "{user}", "(SELECT digest FROM other)")

const postureUnder = `SELECT a.id, a.kind, a.created_at, a.value, a.value_index, a.status, a.open_breaches, '', ''
	FROM asset a WHERE a.partner_id = $1 AND a.user_index = {user}
	UNION ALL SELECT '', 0, 0, NULL, NULL,
		coalesce((SELECT string_agg(k.system || '=' || k.valid_until, ' ') FROM epp_key k
			WHERE k.partner_id = $1 AND k.user_index = {user} AND k.ended_at = 0 AND k.valid_until > $3), ''),
		coalesce((SELECT string_agg(q.content_id || '=' || q.value || '=' || q.answered_at, ' ') FROM content_answer q
			WHERE q.partner_id = $1 AND q.user_index = {user}), ''),
		(SELECT count(*) FILTER (WHERE c.status = 'Aberto' OR c.status = 'Em andamento' OR c.status = 'Aguardando cliente') || ' ' ||
			count(*) FILTER (WHERE c.status = 'Aguardando cliente') FROM support_case c WHERE c.partner_id = $1 AND c.user_index = {user}),
		coalesce((SELECT d.day || ' ' || d.breach || ' ' || d.assessment || ' ' || d.kept_at FROM score_day d
			WHERE d.partner_id = $1 AND d.user_index = {user} ORDER BY d.day DESC LIMIT 1), '')`

// Posture reads where a person stands: see cyber.PersonStore.
func (s *Store) Posture(ctx context.Context, id partner.ID, sent partner.UserHash) (*cyber.Posture, error) {
	rows, err := s.query(ctx, postureQuery, string(id), s.userIndex(id, sent), micros(s.now()))
	if err != nil {
		return nil, classify(fmt.Errorf("read posture: %w", err))
	}
	defer func() { _ = rows.Close() }() // rows.Err below reports what matters
	var r postureReader
	for rows.Next() {
		if err := r.add(s, id, rows); err != nil {
			return nil, fmt.Errorf("read posture: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, classify(fmt.Errorf("read posture: %w", err))
	}
	return r.posture(), nil
}

// postureReader gathers the rows of postureQuery.
type postureReader struct {
	p      cyber.Posture
	assets []postureAsset
	// answered and kept are when what stands in p was said: the later of two counts.
	answered map[cyber.ContentID]int64
	kept     int64
}

type postureAsset struct {
	cyber.PostureAsset
	id      cyber.AssetID
	created int64
	twin    string // the value's index
}

// posture puts the values in the order they were added; one that was added under both digests counts once.
func (r *postureReader) posture() *cyber.Posture {
	slices.SortFunc(r.assets, func(a, b postureAsset) int { return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id)) })
	seen := make(map[string]bool, len(r.assets))
	for _, a := range r.assets {
		if !seen[a.twin] {
			seen[a.twin] = true
			r.p.Assets = append(r.p.Assets, a.PostureAsset)
		}
	}
	return &r.p
}

// add reads one row.
func (r *postureReader) add(s *Store, id partner.ID, rows *sql.Rows) error {
	a := cyber.Asset{Partner: id}
	var created, kind int64
	var sealed, index sql.RawBytes
	var first, second, third, fourth string
	if err := rows.Scan(&a.ID, &kind, &created, &sealed, &index, &first, &second, &third, &fourth); err != nil {
		return err
	}
	if a.ID == "" {
		return r.addRest(first, second, third, fourth)
	}
	if err := s.openAsset(&a, sealed); err != nil {
		return err
	}
	r.assets = append(r.assets, postureAsset{
		PostureAsset: cyber.PostureAsset{
			Kind: identifier.Kind(kind), Value: a.Value, Status: cyber.Status(first), Breaches: second,
		},
		id: a.ID, created: created, twin: string(index),
	})
	return nil
}

// addRest reads a last row: devices, answers, cases, the last score. A person may have some of each under both digests.
func (r *postureReader) addRest(devices, answers, cases, score string) error {
	for text := range strings.FieldsSeq(devices) {
		system, until, _ := strings.Cut(text, "=")
		at, err := strconv.ParseInt(until, 10, 64)
		if err != nil {
			return fmt.Errorf("read devices: %w", err)
		}
		r.p.Devices = append(r.p.Devices, cyber.PostureDevice{System: cyber.System(system), ValidUntil: fromMicros(at)})
	}
	for text := range strings.FieldsSeq(answers) {
		item, rest, _ := strings.Cut(text, "=")
		value, when, _ := strings.Cut(rest, "=")
		at, err := strconv.ParseInt(when, 10, 64)
		if err != nil {
			return fmt.Errorf("read answers: %w", err)
		}
		if r.answered == nil {
			r.p.Answers, r.answered = map[cyber.ContentID]string{}, map[cyber.ContentID]int64{}
		}
		if id := cyber.ContentID(item); at >= r.answered[id] {
			r.answered[id], r.p.Answers[id] = at, value
		}
	}
	var open, waiting int64
	if err := readNumbers(cases, &open, &waiting); err != nil {
		return fmt.Errorf("read cases: %w", err)
	}
	r.p.OpenCases += int(open)
	r.p.WaitingCases += int(waiting)
	if score == "" {
		return nil
	}
	var last cyber.ScoreDay
	var kept int64
	if err := readNumbers(score, &last.Day, &last.Breach, &last.Assessment, &kept); err != nil {
		return fmt.Errorf("read last score: %w", err)
	}
	if last.Day > r.p.Last.Day || last.Day == r.p.Last.Day && kept > r.kept {
		r.p.Last, r.kept = last, kept
	}
	return nil
}

// readNumbers reads numbers with spaces between them.
func readNumbers(text string, into ...*int64) (err error) {
	for _, n := range into {
		var word string
		word, text, _ = strings.Cut(text, " ")
		if *n, err = strconv.ParseInt(word, 10, 64); err != nil {
			return err
		}
	}
	return nil
}

// BreachesByName returns the named breaches.
func (s *Store) BreachesByName(ctx context.Context, names []string) ([]cyber.Breach, error) {
	var args []any
	found, err := collect(ctx, s.reader(ctx), func(row scanner) (cyber.Breach, error) {
		var b breachRow
		err := row.Scan(b.dest()...)
		return b.breach(), err
	}, `SELECT `+breachColumns+` FROM breach b WHERE b.name IN (`+list(&args, names)+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("read breaches: %w", err)
	}
	return found, nil
}

// KeepAnswer keeps a person's answer to a validation question.
func (s *Store) KeepAnswer(ctx context.Context, id partner.ID, sent partner.UserHash, item cyber.ContentID, value string) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		u, err := s.userOf(ctx, tx, id, sent)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO content_answer (partner_id, user_index, content_id, value, answered_at)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (partner_id, user_index, content_id)
			DO UPDATE SET value = excluded.value, answered_at = excluded.answered_at`,
			string(id), u.write, string(item), value, micros(s.now()))
		if err != nil {
			return fmt.Errorf("keep answer: %w", err)
		}
		return nil
	})
}
