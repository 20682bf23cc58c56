package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
)

var _ cyber.PersonStore = Advice{}

// ReadPosture reads where a person stands: see cyber.PersonStore.
func (s Advice) ReadPosture(
	ctx context.Context, id partner.ID, sent partner.UserHash, scored bool,
) (*cyber.Posture, error) {
	text := postureQuery
	if scored {
		text = scoredQuery
	}
	var r postureReader
	err := eachRow(
		ctx,
		s.readQuerier(),
		func(row scanner) error { return r.addRow(s, id, row) },
		text,
		id,
		s.blindUserIndex(id, sent),
		s.now(),
	)
	if err != nil {
		return nil, err
	}
	return r.buildPosture(), nil
}

// postureQuery reads what advice is made from in one round trip: rows of watched values with the names of their open
// breaches, and, without an id, rows of devices, answers and cases: part tells which. Those stand under the digest as
// sent or under the person's other digest, which is NULL until it is known whose the hash is. A live key counts as a
// protected device unless devices report to the vendor of the partner's keys: then one that did not is not installed.
// Plain rows are what both
// engines give at the least cost: an aggregate for each list, or a half of the statement for each digest, took
// PostgreSQL half as long again.
const postureQuery = `WITH other (digest) AS MATERIALIZED (SELECT user_256 FROM person
	WHERE partner_id = $1 AND user_512 = $2
		UNION ALL SELECT user_512 FROM person WHERE partner_id = $1 AND user_256 = $2 LIMIT 1)
	SELECT a.id, a.kind, a.created_at, a.value, a.value_index, a.status, a.open_breaches, a.look
		FROM asset a WHERE a.partner_id = $1 AND a.user_index IN ($2, (SELECT digest FROM other))
	UNION ALL SELECT '', 1, k.valid_until, NULL, NULL, k.system, '', 0
		FROM epp_key k WHERE k.partner_id = $1 AND k.user_index IN ($2, (SELECT digest
		FROM other)) AND k.ended_at = 0 AND k.valid_until > $3
			AND (k.activated_at > 0 OR NOT EXISTS (SELECT 1 FROM epp_key r
			WHERE r.partner_id = $1 AND r.system = k.system AND r.activated_at > 0))
	UNION ALL SELECT '', 2, q.answered_at, q.value, q.user_index, q.content_id, '', 0
		FROM content_answer q WHERE q.partner_id = $1 AND q.user_index IN ($2, (SELECT digest FROM other))
	UNION ALL SELECT '', 3, 0, NULL, NULL, c.status, '', 0
		FROM support_case c WHERE c.partner_id = $1 AND c.user_index IN ($2, (SELECT digest FROM other))`

// scoredQuery reads the last score as well.
const scoredQuery = postureQuery + `
	UNION ALL SELECT '', 4, l.day, l.sealed, l.user_index, '', '', 0 FROM (
		SELECT d.day, d.sealed, d.user_index FROM score_day d
		WHERE d.partner_id = $1 AND d.user_index IN ($2, (SELECT digest FROM other))
		ORDER BY d.day DESC, d.kept_at DESC LIMIT 1) l`

// The parts of a posture that are not watched values.
const (
	devicePart = 1 + iota
	answerPart
	casePart
	scorePart
)

// postureReader gathers the rows of postureQuery.
type postureReader struct {
	p      cyber.Posture
	assets []postureAsset
	// answered is when what stands in p was said: a person may have answered under both digests, and the later one
	// counts.
	answered map[cyber.ContentID]int64
}

func (r *postureReader) addRow(s Advice, id partner.ID, row scanner) error {
	a := cyber.Asset{Partner: id}
	var at, kind, look int64
	var sealed, index sql.RawBytes
	var first, second string
	if err := row.Scan(&a.ID, &kind, &at, &sealed, &index, &first, &second, &look); err != nil {
		return err
	}
	if a.ID == "" {
		switch kind {
		case scorePart:
			r.p.Last.Day = at
			return s.openDayScore(id, index, &r.p.Last, sealed)
		case answerPart:
			var value string
			err := s.openSealed(sealedAnswerPlace(id, index, cyber.ContentID(first)), sealed, &value)
			r.addAnswer(at, cyber.ContentID(first), value)
			return err
		}
		r.addDeviceOrCase(kind, at, first)
		return nil
	}
	if err := Monitoring(s).openAssetValue(&a, sealed); err != nil {
		return err
	}
	r.assets = append(r.assets, postureAsset{
		PostureAsset: cyber.PostureAsset{
			Kind:     identifier.Kind(kind),
			Value:    a.Value,
			Status:   cyber.Status(first),
			AddedAt:  fromMicros(at),
			Waits:    look != lookDone,
			Breaches: second,
		},
		id: a.ID, created: at, twin: string(index),
	})
	return nil
}

// addAnswer reads what a person said; the later of two counts.
func (r *postureReader) addAnswer(at int64, id cyber.ContentID, value string) {
	if r.answered == nil {
		r.p.Answers, r.answered = map[cyber.ContentID]string{}, map[cyber.ContentID]int64{}
	}
	if at >= r.answered[id] {
		r.answered[id], r.p.Answers[id] = at, value
	}
}

// addDeviceOrCase reads a row of a device or a case.
func (r *postureReader) addDeviceOrCase(part, at int64, first string) {
	switch part {
	case devicePart:
		r.p.Devices = append(r.p.Devices, cyber.PostureDevice{System: cyber.System(first), ValidUntil: fromMicros(at)})
	case casePart:
		if status := cyber.CaseStatus(first); status.Open() {
			r.p.OpenCases++
			if status == cyber.CaseWaiting {
				r.p.WaitingCases++
			}
		}
	}
}

// postureAsset is one watched value of a person, with what is needed to sort the values and to find duplicates.
type postureAsset struct {
	cyber.PostureAsset
	id      cyber.AssetID
	created int64
	twin    string // the value's index
}

// buildPosture puts the values in the order they were added; one that was added under both digests counts once.
func (r *postureReader) buildPosture() *cyber.Posture {
	slices.SortFunc(
		r.assets,
		func(a, b postureAsset) int { return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id)) },
	)
	seen := make(map[string]bool, len(r.assets))
	for _, a := range r.assets {
		if !seen[a.twin] {
			seen[a.twin] = true
			r.p.Assets = append(r.p.Assets, a.PostureAsset)
		}
	}
	return &r.p
}
