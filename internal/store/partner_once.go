package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// keptAnswer is what the sealed column holds.
type keptAnswer struct {
	Status  int               `json:"status"`
	Body    []byte            `json:"body"`
	Headers map[string]string `json:"headers,omitempty"`
	Created string            `json:"created,omitempty"`
}

// errReplay carries a kept answer out of the transaction that found it.
type errReplay struct{ answer partner.Answer }

func (errReplay) Error() string { return "answered before" }

// AnswerOnce keeps claim, effect and answer in one transaction, which work is given. When work fails nothing is kept;
// when it answers with a refusal (400 to 499) the refusal is kept and its writes are undone. The first answer comes
// back, and replayed is true, when the claim has been answered before. Of an answer with a secret only Created comes
// back.
func (s Answers) AnswerOnce(
	ctx context.Context, id partner.ID, c partner.RequestClaim, work func(tx Tx) (partner.Answer, error),
) (partner.Answer, bool, error) {
	claim := s.keys.BlindIndex("idempotency.claim", string(id), []byte(string(c.Line)+"\x00"+c.Path+"\x00"+c.Key))
	digest := s.keys.BlindIndex("idempotency.body", string(id), c.Digest)
	running := string(id) + string(claim)
	if _, taken := s.inFlight.LoadOrStore(running, true); taken {
		return partner.Answer{}, false, partner.ErrStillRunning
	}
	defer s.inFlight.Delete(running)

	var answer partner.Answer
	inTx := s.db.InTransaction
	if c.IsBulk {
		inTx = s.db.InBulkTx
	}
	err := inTx(ctx, func(tx *sqldb.Tx) error {
		if err := s.claimKey(ctx, tx, id, claim, digest, s.blindUserIndex(id, c.About)); err != nil {
			return err
		}
		var err error
		if answer, err = s.runInSavepoint(ctx, tx, work); err != nil {
			return err
		}
		return s.keepAnswer(ctx, tx, id, claim, answer)
	})
	var replay errReplay
	if errors.As(err, &replay) {
		return replay.answer, true, nil
	}
	return answer, false, classifyError(err)
}

// errRefused rolls back the work of a request whose answer is an error.
var errRefused = errors.New("refused")

// runInSavepoint runs the work behind a savepoint, so that a refusal leaves no trace but its answer.
func (s Answers) runInSavepoint(
	ctx context.Context, tx *sqldb.Tx, work func(tx Tx) (partner.Answer, error),
) (partner.Answer, error) {
	var answer partner.Answer
	err := tx.Savepoint(ctx, func() error {
		var err error
		answer, err = work(s.openAreas(tx))
		if err == nil && answer.Status >= 400 {
			return errRefused
		}
		return err
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return answer, err
}

// claimKey takes the key, or returns the answer kept under it. A twin in another replica makes the insert wait: if it
// does not finish within the lock timeout the request is answered "still running".
func (s Answers) claimKey(ctx context.Context, tx *sqldb.Tx, id partner.ID, claim, digest, person []byte) error {
	now := s.now()
	// A claim past its time is as good as absent, whether or not the sweep has come by.
	err := execStatement(
		ctx,
		tx,
		`DELETE FROM idempotency WHERE partner_id = $1 AND claim = $2 AND created_at <= $3`,
		id,
		claim,
		now.Add(-partner.KeepAnswers),
	)
	if err == nil {
		var n int64
		n, err = execCounting(
			ctx,
			tx,
			`INSERT INTO idempotency (partner_id, claim, body_digest, answer, created_at, person)
			VALUES ($1, $2, $3, NULL, $4, $5) ON CONFLICT (partner_id, claim) DO NOTHING`,
			id,
			claim,
			digest,
			now,
			person,
		)
		if err == nil && n == 0 {
			return s.replayAnswer(ctx, tx, id, claim, digest)
		}
	}
	if sqldb.IsLockTimeout(err) {
		return partner.ErrStillRunning.Because(err)
	}
	return err
}

// replayAnswer returns the kept answer as errReplay, or says why there is none for this body.
func (s Answers) replayAnswer(ctx context.Context, tx *sqldb.Tx, id partner.ID, claim, digest []byte) error {
	var kept, sealed []byte
	err := readColumns(
		ctx,
		tx,
		[]any{&kept, &sealed},
		`SELECT body_digest, answer FROM idempotency WHERE partner_id = $1 AND claim = $2`,
		id,
		claim,
	)
	if errors.Is(err, sql.ErrNoRows) { // swept between the two statements: the next try will claim it
		return partner.ErrStillRunning
	}
	if err != nil {
		return err
	}
	if string(kept) != string(digest) {
		return partner.ErrOtherBody.With("idempotency-key", fault.UsedWithOtherBody)
	}
	var a keptAnswer
	if err := s.openSealed(answerPlace(id, claim), sealed, &a); err != nil {
		return err
	}
	if a.Status == 0 && a.Created == "" {
		return partner.ErrNotKept.With("idempotency-key", fault.AnswerNotKept, partner.MaxKeptAnswer)
	}
	return errReplay{partner.Answer(a)}
}

// answerPlace binds a stored answer to the claim it was given for.
func answerPlace(id partner.ID, claim []byte) seal.Place {
	return seal.Place{Table: "idempotency", Column: "answer", Partner: string(id), Row: string(claim)}
}

// keepAnswer stores the answer of a claim, sealed. Of an answer with a secret, or one too large to keep, it stores only
// that there was one and what it created.
func (s Answers) keepAnswer(ctx context.Context, tx *sqldb.Tx, id partner.ID, claim []byte, a partner.Answer) error {
	if a.Created != "" || len(a.Body) > partner.MaxKeptAnswer {
		a = partner.Answer{Created: a.Created} // that there was one
	}
	sealed, err := s.sealValue(answerPlace(id, claim), keptAnswer(a))
	if err != nil {
		return err
	}
	return execStatement(
		ctx,
		tx,
		`UPDATE idempotency SET answer = $3 WHERE partner_id = $1 AND claim = $2`,
		id,
		claim,
		sealed,
	)
}

// SweepAnswers deletes idempotency keys older than partner.KeepAnswers, in batches, and returns how many it removed.
func (s Answers) SweepAnswers(ctx context.Context) (int64, error) {
	limit := toMicros(s.now().Add(-partner.KeepAnswers))
	total, err := s.runInBatches(ctx, sweepBatch, func(tx *sqldb.Tx, _, most int64) (int64, error) {
		return execCounting(ctx, tx, `DELETE FROM idempotency WHERE created_at <= $1 AND (partner_id, claim) IN (
			SELECT partner_id, claim FROM idempotency WHERE created_at <= $1 ORDER BY created_at LIMIT $2)`,
			limit,
			most,
		)
	})
	return total, err
}
