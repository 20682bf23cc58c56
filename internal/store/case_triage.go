package store

import (
	"context"
	"encoding/json"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// ServiceTriage returns what an offered service asks and how its cases are timed. A service that is forged is not
// offered, and a forged question is not asked.
func (s Cases) ServiceTriage(ctx context.Context, service cyber.ServiceID) (cyber.Triage, error) {
	var t cyber.Triage
	missing := cyber.ErrServiceNotFound.With("serviceId", fault.NoSuchService)
	offered, err := readRow(ctx, s.readQuerier(), func(row scanner, into *checked[cyber.Service]) error {
		return s.scanService(leading{row, []any{&t.Target}}, into)
	}, missing, `SELECT coalesce(g.target, $2), v.id, v.name, v.description, v.position,
		v.retired, v.created_at, v.mac FROM service v LEFT JOIN case_target g ON g.service_id = v.id WHERE v.id = $1`,
		service,
		cyber.DefaultTarget,
	)
	if err == nil && offered.value.Retired {
		err = missing
	}
	if err != nil {
		return cyber.Triage{}, err
	}
	t.Questions, err = s.ListQuestions(ctx, service)
	return t, err
}

// questionColumns are those that scanning a triage question expects, in its order.
const questionColumns = `q.id, q.service_id, q.question, q.required, q.options, q.created_at, q.mac`

// scanQuestion reads a question. Options that cannot be parsed count as forged, like a wrong MAC.
func (c core) scanQuestion(row scanner, into *checked[cyber.Question]) error {
	q := &into.value
	var options string
	err := row.Scan(&q.ID, &q.Service, &q.Text, &q.Required, &options, &q.CreatedAt, scanFunc(func(mac []byte) error {
		into.row = "case_question " + string(q.ID)
		into.forged = json.Unmarshal([]byte(options), &q.Options) != nil ||
			!c.isGenuine("case_question", questionGrant(*q), mac)
		return nil
	}))
	return err
}

// questionGrant covers the question, the service it belongs to and the options, in their order.
func questionGrant(q cyber.Question) *grant {
	return new(grant).addTexts(string(q.ID), string(q.Service), q.Text).addBools(q.Required).
		addNumbers(toMicros(q.CreatedAt)).addTexts(q.Options...)
}

// InsertQuestion stores a question of an existing service.
func (s Cases) InsertQuestion(ctx context.Context, q cyber.Question) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if err := serviceExists(ctx, tx, q.Service); err != nil {
			return err
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO case_question (id, service_id, question, required, options, created_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			q.ID,
			q.Service,
			q.Text,
			q.Required,
			jsonArgument{append([]string{}, q.Options...)},
			q.CreatedAt,
			s.grantMAC("case_question", questionGrant(q)),
		)
	})
}

// ListQuestions returns what a service asks; every service's questions when service is empty.
func (s Cases) ListQuestions(ctx context.Context, service cyber.ServiceID) ([]cyber.Question, error) {
	return collectGenuine(
		ctx,
		s.readQuerier(),
		s.scanQuestion,
		`SELECT `+questionColumns+` FROM case_question q WHERE $1 = '' OR q.service_id = $1
		ORDER BY q.service_id, q.created_at, q.id`,
		service,
	)
}

// DeleteQuestion removes a question.
func (s Cases) DeleteQuestion(ctx context.Context, id cyber.QuestionID) error {
	return s.expectAlone(
		ctx,
		cyber.ErrQuestionNotFound.With("question", fault.NoSuchID),
		`DELETE FROM case_question WHERE id = $1`,
		id,
	)
}
