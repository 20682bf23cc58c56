package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
)

// scanAnswer reads a ready answer and checks its MAC: it is text that people are sent.
func (c core) scanAnswer(row scanner, into *checked[cyber.ReadyAnswer]) error {
	a := &into.value
	err := row.Scan(
		&a.Title,
		&a.Text,
		c.checksMAC(&into.forged, "case_answer", func() *grant { return answerGrant(*a) }),
	)
	into.row = "case_answer " + a.Title
	return err
}

// answerGrant covers the title and the text of a ready answer.
func answerGrant(a cyber.ReadyAnswer) *grant { return new(grant).addTexts(a.Title, a.Text) }

// ReadyAnswers returns the answers that are kept ready, by title.
func (s Cases) ReadyAnswers(ctx context.Context) ([]cyber.ReadyAnswer, error) {
	return collectGenuine(ctx, s.readQuerier(), s.scanAnswer, `SELECT title, body, mac FROM case_answer ORDER BY title`)
}

// SaveReadyAnswer stores an answer in the place of the one that has its title.
func (s Cases) SaveReadyAnswer(ctx context.Context, a cyber.ReadyAnswer) error {
	return s.execAlone(ctx, `INSERT INTO case_answer (title, body, mac) VALUES ($1, $2, $3)
			ON CONFLICT (title) DO UPDATE SET body = excluded.body, mac = excluded.mac`,
		a.Title,
		a.Text,
		s.grantMAC("case_answer", answerGrant(a)),
	)
}

// DeleteReadyAnswer removes an answer; one that is not there is as good as removed.
func (s Cases) DeleteReadyAnswer(ctx context.Context, title string) error {
	return s.execAlone(ctx, `DELETE FROM case_answer WHERE title = $1`, title)
}
