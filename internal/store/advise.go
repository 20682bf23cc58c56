package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"vigia/internal/cyber"
	"vigia/internal/identifier"
	"vigia/internal/partner"
	"vigia/internal/sqldb"
)

var _ cyber.PersonStore = (*Store)(nil)

// postureQuery reads everything about a person in one round trip: a row per watched value with the names of its open breaches,
// and a last row with the rest. Lists come as one text each, because a row costs more than a word: names of breaches, ids and
// values of the catalogue and systems hold neither spaces nor equal signs.
//
// u are the forms under which the person's rows stand: as sent, and both digests once it is known whose they are; rank 0 is the one
// that is written then.
const postureQuery = `WITH u (ix, rank) AS MATERIALIZED (
		SELECT user_512, 0 FROM person WHERE partner_id = $1 AND user_512 = $2
		UNION ALL SELECT user_256, 1 FROM person WHERE partner_id = $1 AND user_512 = $2
		UNION ALL SELECT user_512, 0 FROM person WHERE partner_id = $1 AND user_256 = $2
		UNION ALL SELECT $2, 1)
	SELECT a.id, a.kind, a.created_at, a.value, a.value_index, a.status,
		coalesce((SELECT string_agg(f.breach, ' ') FROM finding f WHERE f.asset_id = a.id AND f.resolution = ''), ''), '', ''
	FROM asset a WHERE a.partner_id = $1 AND a.user_index IN (SELECT ix FROM u)
	UNION ALL SELECT '', 0, 9223372036854775807, NULL, NULL,
		coalesce((SELECT string_agg(k.system || '=' || k.valid_until, ' ') FROM epp_key k
			WHERE k.partner_id = $1 AND k.user_index IN (SELECT ix FROM u) AND k.ended_at = 0 AND k.valid_until > $3), ''),
		coalesce((SELECT string_agg(q.content_id || '=' || q.value || '=' || q.answered_at, ' ') FROM content_answer q
			WHERE q.partner_id = $1 AND q.user_index IN (SELECT ix FROM u)), ''),
		coalesce((SELECT count(*) || ' ' || count(*) FILTER (WHERE c.status = 'Aguardando cliente') FROM support_case c
			WHERE c.partner_id = $1 AND c.user_index IN (SELECT ix FROM u) AND c.status IN ('Aberto', 'Em andamento', 'Aguardando cliente')), ''),
		coalesce((SELECT d.day || ' ' || d.breach || ' ' || d.assessment FROM score_day d JOIN u ON u.ix = d.user_index
			WHERE d.partner_id = $1 ORDER BY d.day DESC, u.rank LIMIT 1), '')
	ORDER BY 3, 1`

// Posture reads where a person stands: see cyber.PersonStore.
func (s *Store) Posture(ctx context.Context, id partner.ID, u partner.UserHash) (*cyber.Posture, error) {
	rows, err := s.reader(ctx).QueryContext(ctx, postureQuery, string(id), s.userIndex(id, u), micros(s.now()))
	if err != nil {
		return nil, classify(fmt.Errorf("read posture: %w", err))
	}
	defer func() { _ = rows.Close() }() // rows.Err below reports what matters
	p, seen := &cyber.Posture{}, map[string]bool{}
	for rows.Next() {
		if err := s.addToPosture(p, id, rows, seen); err != nil {
			return nil, fmt.Errorf("read posture: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, classify(fmt.Errorf("read posture: %w", err))
	}
	return p, nil
}

// addToPosture reads one row of postureQuery.
func (s *Store) addToPosture(p *cyber.Posture, id partner.ID, rows *sql.Rows, seen map[string]bool) error {
	a := cyber.Asset{Partner: id}
	var created, kind int64
	var sealed, index sql.RawBytes
	var first, second, third, fourth string
	if err := rows.Scan(&a.ID, &kind, &created, &sealed, &index, &first, &second, &third, &fourth); err != nil {
		return err
	}
	if a.ID == "" {
		return addRest(p, first, second, third, fourth)
	}
	if seen[string(index)] { // the same value, added under the person's other digest
		return nil
	}
	seen[string(index)] = true
	if err := s.openAsset(&a, sealed); err != nil {
		return err
	}
	p.Assets = append(p.Assets, cyber.PostureAsset{
		Kind: identifier.Kind(kind), Value: a.Value, Status: cyber.Status(first), Breaches: strings.Fields(second), //nolint:gosec // kinds are few
	})
	return nil
}

// addRest reads the last row: devices, answers, cases, the last score.
func addRest(p *cyber.Posture, devices, answers, cases, score string) error {
	for _, text := range strings.Fields(devices) {
		system, until, _ := strings.Cut(text, "=")
		at, err := strconv.ParseInt(until, 10, 64)
		if err != nil {
			return fmt.Errorf("read devices: %w", err)
		}
		p.Devices = append(p.Devices, cyber.PostureDevice{System: cyber.System(system), ValidUntil: fromMicros(at)})
	}
	latest := map[cyber.ContentID]int64{}
	for _, text := range strings.Fields(answers) {
		item, rest, _ := strings.Cut(text, "=")
		value, when, _ := strings.Cut(rest, "=")
		at, err := strconv.ParseInt(when, 10, 64)
		if err != nil {
			return fmt.Errorf("read answers: %w", err)
		}
		if id := cyber.ContentID(item); at >= latest[id] { // a person may have answered under both digests
			if p.Answers == nil {
				p.Answers = map[cyber.ContentID]string{}
			}
			latest[id], p.Answers[id] = at, value
		}
	}
	if _, err := fmt.Sscan(cases, &p.OpenCases, &p.WaitingCases); err != nil {
		return fmt.Errorf("read cases: %w", err)
	}
	if score == "" {
		return nil
	}
	if _, err := fmt.Sscan(score, &p.Last.Day, &p.Last.Breach, &p.Last.Assessment); err != nil {
		return fmt.Errorf("read last score: %w", err)
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
