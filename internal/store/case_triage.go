package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// Triage returns what an offered service asks and how its cases are timed, in one round trip.
func (s Cases) Triage(ctx context.Context, service cyber.ServiceID) (cyber.Triage, error) {
	t, found := cyber.Triage{}, false
	rows, err := s.reader().QueryContext(ctx, `SELECT coalesce(g.target, $2), coalesce(q.id, ''), coalesce(q.question, ''),
			coalesce(q.required, $3), coalesce(q.options, '[]'), coalesce(q.created_at, 0)
		FROM service v LEFT JOIN case_target g ON g.service_id = v.id LEFT JOIN case_question q ON q.service_id = v.id
		WHERE v.id = $1 AND NOT v.retired ORDER BY q.created_at, q.id`,
		string(service), cyber.DefaultTarget.Microseconds(), false)
	if err != nil {
		return t, classify(fmt.Errorf("read triage: %w", err))
	}
	defer func() { _ = rows.Close() }() // rows.Err below reports what matters
	for rows.Next() {
		found = true
		q, target := cyber.Question{Service: service}, int64(0)
		if err := scanQuestion(rows, &q, &target); err != nil {
			return t, fmt.Errorf("read triage: %w", err)
		}
		t.Target = time.Duration(target) * time.Microsecond
		if q.ID != "" {
			t.Questions = append(t.Questions, q)
		}
	}
	if err := rows.Err(); err != nil {
		return t, classify(fmt.Errorf("read triage: %w", err))
	}
	if !found {
		return t, cyber.ErrServiceNotFound.With("serviceId: no such service")
	}
	return t, nil
}

func scanQuestion(row scanner, q *cyber.Question, before ...any) error {
	var options string
	var created int64
	if err := row.Scan(append(before, &q.ID, &q.Text, &q.Required, &options, &created)...); err != nil {
		return err
	}
	q.CreatedAt = fromMicros(created)
	return json.Unmarshal([]byte(options), &q.Options)
}

// InsertQuestion keeps a question of an existing service.
func (s Cases) InsertQuestion(ctx context.Context, q cyber.Question) error {
	options := []byte("[]")
	if len(q.Options) > 0 {
		var err error
		if options, err = json.Marshal(q.Options); err != nil {
			return fmt.Errorf("keep question: %w", err)
		}
	}
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		if err := serviceExists(ctx, tx, q.Service); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO case_question (id, service_id, question, required, options, created_at)
			VALUES ($1, $2, $3, $4, $5, $6)`, string(q.ID), string(q.Service), q.Text, q.Required, string(options), micros(q.CreatedAt))
		if err != nil {
			return fmt.Errorf("insert question: %w", err)
		}
		return nil
	})
}

func serviceExists(ctx context.Context, q querier, service cyber.ServiceID) error {
	var there bool
	if err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM service WHERE id = $1)`, string(service)).Scan(&there); err != nil {
		return fmt.Errorf("find service: %w", err)
	}
	if !there {
		return cyber.ErrServiceNotFound.With("service: no such id")
	}
	return nil
}

// Questions returns what a service asks; every service's questions when service is empty.
func (s Cases) Questions(ctx context.Context, service cyber.ServiceID) ([]cyber.Question, error) {
	return collect(ctx, s.reader(), func(row scanner) (cyber.Question, error) {
		var q cyber.Question
		err := scanQuestion(row, &q, &q.Service)
		return q, err
	}, `SELECT service_id, id, question, required, options, created_at FROM case_question WHERE $1 = '' OR service_id = $1
		ORDER BY service_id, created_at, id`, string(service))
}

// DeleteQuestion removes a question.
func (s Cases) DeleteQuestion(ctx context.Context, id cyber.QuestionID) error {
	return s.deleteOne(ctx, `DELETE FROM case_question WHERE id = $1`, string(id), cyber.ErrQuestionNotFound.With("question: no such id"))
}

func (s Cases) deleteOne(ctx context.Context, statement, id string, none error) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
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

// SetTarget keeps the working time of a service's new cases.
func (s Cases) SetTarget(ctx context.Context, service cyber.ServiceID, target time.Duration) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error {
		if err := serviceExists(ctx, tx, service); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO case_target (service_id, target) VALUES ($1, $2)
			ON CONFLICT (service_id) DO UPDATE SET target = excluded.target`, string(service), target.Microseconds())
		if err != nil {
			return fmt.Errorf("set target: %w", err)
		}
		return nil
	})
}
