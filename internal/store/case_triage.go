package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// ServiceTriage returns what an offered service asks and how its cases are timed. A service that is forged is not offered, and a
// forged question is not asked.
func (s Cases) ServiceTriage(ctx context.Context, service cyber.ServiceID) (cyber.Triage, error) {
	t := cyber.Triage{}
	var target int64
	offered, err := s.scanService(leading{s.readQuerier().QueryRowContext(ctx, `SELECT coalesce(g.target, $2), v.id, v.name, v.description, v.position,
		v.retired, v.created_at, v.mac FROM service v LEFT JOIN case_target g ON g.service_id = v.id WHERE v.id = $1`,
		string(service), cyber.DefaultTarget.Microseconds()), []any{&target}})
	if errors.Is(err, sql.ErrNoRows) || err == nil && offered.value.Retired {
		return t, cyber.ErrServiceNotFound.With("serviceId", fault.NoSuchService)
	}
	if err != nil {
		return t, classifyError(fmt.Errorf("read triage: %w", err))
	}
	t.Target = time.Duration(target) * time.Microsecond
	t.Questions, err = s.ListQuestions(ctx, service)
	return t, err
}

const questionColumns = `q.id, q.service_id, q.question, q.required, q.options, q.created_at, q.mac`

// scanQuestion reads a question. Options that cannot be parsed count as forged, like a wrong MAC.
func (c core) scanQuestion(row scanner) (checked[cyber.Question], error) {
	var q cyber.Question
	var options string
	var created int64
	var mac []byte
	if err := row.Scan(&q.ID, &q.Service, &q.Text, &q.Required, &options, &created, &mac); err != nil {
		return checked[cyber.Question]{}, err
	}
	q.CreatedAt = fromMicros(created)
	err := json.Unmarshal([]byte(options), &q.Options)
	return checked[cyber.Question]{q, "case_question " + string(q.ID), err != nil || !c.isGenuine("case_question", questionGrant(q), mac)}, nil
}

// InsertQuestion stores a question of an existing service.
func (s Cases) InsertQuestion(ctx context.Context, q cyber.Question) error {
	options := []byte("[]")
	if len(q.Options) > 0 {
		var err error
		if options, err = json.Marshal(q.Options); err != nil {
			return fmt.Errorf("keep question: %w", err)
		}
	}
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if err := serviceExists(ctx, tx, q.Service); err != nil {
			return err
		}
		return execStatement(ctx, tx, "insert question", `INSERT INTO case_question (id, service_id, question, required, options, created_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, string(q.ID), string(q.Service), q.Text, q.Required, string(options), toMicros(q.CreatedAt),
			s.grantMAC("case_question", questionGrant(q)))
	})
}

// serviceExists returns cyber.ErrServiceNotFound for an unknown service; retired services count as existing.
func serviceExists(ctx context.Context, q querier, service cyber.ServiceID) error {
	var there bool
	if err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM service WHERE id = $1)`, string(service)).Scan(&there); err != nil {
		return fmt.Errorf("find service: %w", err)
	}
	if !there {
		return cyber.ErrServiceNotFound.With("service", fault.NoSuchID)
	}
	return nil
}

// ListQuestions returns what a service asks; every service's questions when service is empty.
func (s Cases) ListQuestions(ctx context.Context, service cyber.ServiceID) ([]cyber.Question, error) {
	return collectGenuine(ctx, s.readQuerier(), s.scanQuestion, `SELECT `+questionColumns+` FROM case_question q WHERE $1 = '' OR q.service_id = $1
		ORDER BY q.service_id, q.created_at, q.id`, string(service))
}

// DeleteQuestion removes a question.
func (s Cases) DeleteQuestion(ctx context.Context, id cyber.QuestionID) error {
	return s.deleteRow(ctx, `DELETE FROM case_question WHERE id = $1`, string(id), cyber.ErrQuestionNotFound.With("question", fault.NoSuchID))
}

// deleteRow deletes one row by its id, or returns none.
func (s Cases) deleteRow(ctx context.Context, statement, id string, none error) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		res, err := tx.ExecContext(ctx, statement, id)
		if err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, none)
		}
		return nil
	})
}

// scanAnswer reads a ready answer and checks its MAC: it is text that people are sent.
func (c core) scanAnswer(row scanner) (checked[cyber.ReadyAnswer], error) {
	var a cyber.ReadyAnswer
	var mac []byte
	err := row.Scan(&a.Title, &a.Text, &mac)
	return checked[cyber.ReadyAnswer]{a, "case_answer " + a.Title, !c.isGenuine("case_answer", answerGrant(a), mac)}, err
}

// ReadyAnswers returns the answers that are kept ready, by title.
func (s Cases) ReadyAnswers(ctx context.Context) ([]cyber.ReadyAnswer, error) {
	return collectGenuine(ctx, s.readQuerier(), s.scanAnswer, `SELECT title, body, mac FROM case_answer ORDER BY title`)
}

// SaveReadyAnswer stores an answer in the place of the one that has its title.
func (s Cases) SaveReadyAnswer(ctx context.Context, a cyber.ReadyAnswer) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO case_answer (title, body, mac) VALUES ($1, $2, $3)
			ON CONFLICT (title) DO UPDATE SET body = excluded.body, mac = excluded.mac`, a.Title, a.Text, s.grantMAC("case_answer", answerGrant(a)))
		return err
	})
}

// DeleteReadyAnswer removes an answer; one that is not there is as good as removed.
func (s Cases) DeleteReadyAnswer(ctx context.Context, title string) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM case_answer WHERE title = $1`, title)
		return err
	})
}

// SetTarget keeps the working time of a service's new cases.
func (s Cases) SetTarget(ctx context.Context, service cyber.ServiceID, target time.Duration) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if err := serviceExists(ctx, tx, service); err != nil {
			return err
		}
		return execStatement(ctx, tx, "set target", `INSERT INTO case_target (service_id, target) VALUES ($1, $2)
			ON CONFLICT (service_id) DO UPDATE SET target = excluded.target`, string(service), target.Microseconds())
	})
}
