package store

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// keptRow is a kept answer as it stands.
type keptRow struct {
	claim, sealed []byte
}

// answersAbout calls fn with the kept answers to requests about the person that mention anything of them. They are
// looked up by the person: answers to requests about many people hold nothing of anybody.
func (s Subjects) answersAbout(
	ctx context.Context, h subject.Held, p subject.Person, fn func(keptRow, keptAnswer, mentions) error,
) error {
	m, err := s.mentionsOf(ctx, h, p)
	if err != nil {
		return err
	}
	var needles [][]byte
	for _, text := range m.naming {
		quoted, err := json.Marshal(text)
		if err != nil {
			return err
		}
		needles = append(needles, []byte(text), quoted[1:len(quoted)-1])
	}
	x, err := s.computeIndexes(ctx, s.readQuerier(), h.Partner.ID, p)
	if err != nil {
		return err
	}
	return s.eachKeptAnswer(ctx, x, func(r keptRow, a keptAnswer) error {
		if !a.holdsAny(needles) {
			return nil
		}
		return fn(r, a, m)
	})
}

// eachKeptAnswer calls fn with the kept answers to requests about the person.
func (s Subjects) eachKeptAnswer(ctx context.Context, x indexes, fn func(keptRow, keptAnswer) error) error {
	for after := []byte{}; ; {
		rows, err := collectRows(
			ctx,
			s.readQuerier(),
			func(row scanner, r *keptRow) error { return row.Scan(&r.claim, &r.sealed) },
			`SELECT claim, answer FROM idempotency WHERE partner_id = $1 AND person IN ($4, $5) AND length(person) > 0
			AND claim > $2 AND answer IS NOT NULL ORDER BY claim LIMIT $3`,
			x.partner,
			after,
			checkBatch,
			x.user256,
			x.user512,
		)
		if err != nil {
			return err
		}
		for _, r := range rows {
			after = r.claim
			var a keptAnswer
			if err := s.openSealed(answerPlace(x.partner, r.claim), r.sealed, &a); err != nil {
				return err
			}
			if err := fn(r, a); err != nil {
				return err
			}
		}
		if len(rows) < checkBatch {
			return nil
		}
	}
}

// holdsAny reports whether a header or the body contains one of the texts, byte for byte.
func (a keptAnswer) holdsAny(needles [][]byte) bool {
	texts := [][]byte{a.Body}
	for _, value := range a.Headers {
		texts = append(texts, []byte(value))
	}
	return slices.ContainsFunc(texts, func(text []byte) bool {
		return slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(text, n) })
	})
}

// countAnswers returns how many stored answers mention the person; it changes none.
func (s Subjects) countAnswers(ctx context.Context, h subject.Held, p subject.Person) (n int, err error) {
	err = s.answersAbout(ctx, h, p, func(keptRow, keptAnswer, mentions) error { n++; return nil })
	return n, err
}

// RedactAnswers takes the person out of the partner's kept answers. The claims stay, so that a request which is
// repeated is not carried out a second time: that would bring the person back.
func (s Subjects) RedactAnswers(ctx context.Context, h subject.Held, p subject.Person) (int64, error) {
	var total int64
	err := s.answersAbout(ctx, h, p, func(r keptRow, a keptAnswer, m mentions) error {
		n, err := s.rewriteAnswer(ctx, h.Partner.ID, r, a, m)
		total += n
		return err
	})
	if err != nil {
		return total, err
	}
	x, err := s.computeIndexes(ctx, s.readQuerier(), h.Partner.ID, p)
	if err == nil {
		err = s.forgetAskedAbout(ctx, x)
	}
	return total, err
}

// forgetAskedAbout removes the person from stored answers, once the answers no longer say anything about the person.
func (s Subjects) forgetAskedAbout(ctx context.Context, x indexes) error {
	_, err := s.runInBatches(ctx, sweepBatch, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
		return execCounting(ctx, tx, `UPDATE idempotency SET person = $4 WHERE partner_id = $1 AND claim IN (
			SELECT claim FROM idempotency WHERE partner_id = $1 AND person IN ($2, $3) AND length(person) > 0
			LIMIT $5)`,
			x.partner,
			x.user256,
			x.user512,
			[]byte{},
			limit,
		)
	})
	return err
}

// emptyAnswers takes every text out of the kept answers to requests about a person.
func (s Subjects) emptyAnswers(ctx context.Context, x indexes) error {
	err := s.eachKeptAnswer(ctx, x, func(r keptRow, a keptAnswer) error {
		_, err := s.rewriteAnswer(ctx, x.partner, r, a, mentions{all: true})
		return err
	})
	if err != nil {
		return err
	}
	return s.forgetAskedAbout(ctx, x)
}

// rewriteAnswer keeps an answer without what is mentioned, unless it has changed.
func (s Subjects) rewriteAnswer(
	ctx context.Context, id partner.ID, r keptRow, a keptAnswer, m mentions,
) (n int64, err error) {
	a.Body = m.redactBody(a.Body)
	for name, value := range a.Headers {
		a.Headers[name] = m.redactText(value)
	}
	sealed, err := s.sealValue(answerPlace(id, r.claim), a)
	if err != nil {
		return 0, err
	}
	return s.countAlone(
		ctx,
		`UPDATE idempotency SET answer = $4 WHERE partner_id = $1 AND claim = $2 AND answer = $3`,
		id,
		r.claim,
		r.sealed,
		sealed,
	)
}
