package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ cyber.CaseStore = Cases{}

// keptCase is what the sealed column holds: free text of a person may say anything about them.
type keptCase struct {
	User         string   `json:"user"`
	Appointments []string `json:"appointments,omitempty"`
	Answers      []string `json:"answers,omitempty"`
}

// sealedCasePlace binds the sealed members of a case to its row and its service: who moves a case to another service in
// the database makes it one that does not open.
func sealedCasePlace(id partner.ID, cs cyber.CaseID, service cyber.ServiceID) seal.Place {
	return seal.Place{
		Table:   "support_case",
		Column:  "details",
		Partner: string(id),
		Row:     string(cs) + "/" + string(service),
	}
}

// caseColumns are those that scanCase expects, in its order.
const caseColumns = `c.id, c.partner_id, c.service_id, c.status, c.assignee, c.details, c.target, c.clock_used,
	c.clock_since, c.created_at, c.changed_at, c.rating, c.short, c.spoke, c.spoke_at, c.ending_to, c.ending_by,
	c.ending_at, c.writer, c.writing_at, coalesce((
		SELECT min(sl.starts_at) FROM case_booking b JOIN case_slot sl ON sl.id = b.slot_id
		WHERE b.partner_id = c.partner_id AND b.case_id = c.id), c.made_up_at)`

// scanCase reads a case's columns and unseals what may name the person: the user hash, the appointments and the
// answers.
func (s Cases) scanCase(row scanner, c *cyber.Case) error {
	var kept keptCase
	err := row.Scan(
		&c.ID,
		&c.Partner,
		&c.Service,
		&c.Status,
		&c.Assignee,
		s.unseals(&kept, func() seal.Place { return sealedCasePlace(c.Partner, c.ID, c.Service) }),
		&c.Clock.Target,
		&c.Clock.Used,
		&c.Clock.Since,
		&c.CreatedAt,
		&c.ChangedAt,
		&c.Rating,
		&c.Short,
		&c.Spoke,
		&c.SpokeAt,
		&c.Ending.To,
		&c.Ending.Actor,
		&c.Ending.At,
		&c.Writer,
		&c.WritingAt,
		&c.Booked,
	)
	c.User, c.Appointments, c.Answers = partner.UserHash(kept.User), kept.Appointments, kept.Answers
	if err == nil && c.Status == "" { // other columns may be without one
		return fmt.Errorf("%w: the status of a case", sqldb.ErrUnknownValue)
	}
	return err
}

// ListPersonCases returns a person's newest cases.
func (s Cases) ListPersonCases(
	ctx context.Context, id partner.ID, hash partner.UserHash, limit int,
) ([]cyber.Case, error) {
	return collectOfUser(ctx, s.core, id, hash, s.scanCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE c.partner_id = $1 AND c.user_index IN ($2, $3) ORDER BY c.created_at DESC, c.id DESC LIMIT $4`,
		limit,
	)
}

// PersonCase returns a person's case and its history.
func (s Cases) PersonCase(ctx context.Context, key cyber.CaseKey) (cyber.Case, []cyber.CaseMove, error) {
	q := s.readQuerier()
	u, err := s.findUser(ctx, q, key.Partner, key.User)
	if err != nil {
		return cyber.Case{}, nil, err
	}
	c, err := readRow(ctx, q, s.scanCase, errNoCase, `SELECT `+caseColumns+` FROM support_case c
		WHERE c.partner_id = $1 AND c.id = $2 AND c.user_index IN ($3, $4)`,
		key.Partner,
		key.ID,
		u.write,
		u.other,
	)
	if err != nil {
		return c, nil, err
	}
	moves, err := s.readHistory(ctx, q, c)
	return c, moves, err
}

// GetCase returns a case and its history.
func (s Cases) GetCase(ctx context.Context, id cyber.CaseID) (cyber.Case, []cyber.CaseMove, error) {
	q := s.readQuerier()
	owner, err := s.caseOwner(ctx, id)
	if err != nil {
		return cyber.Case{}, nil, err
	}
	c, err := s.readCase(ctx, q, owner, id)
	if err != nil {
		return c, nil, err
	}
	moves, err := s.readHistory(ctx, q, c)
	return c, moves, err
}

// caseOwner finds whose a case is. Operators name cases by their ids alone; what follows is about one partner.
func (s Cases) caseOwner(ctx context.Context, id cyber.CaseID) (partner.ID, error) {
	return readRow(
		ctx,
		s.readQuerier(),
		scanValue[partner.ID],
		errNoCase,
		`SELECT partner_id FROM support_case WHERE id = $1`,
		id,
	)
}

func (s Cases) readCase(ctx context.Context, q querier, owner partner.ID, id cyber.CaseID) (cyber.Case, error) {
	return readRow(
		ctx,
		q,
		s.scanCase,
		errNoCase,
		`SELECT `+caseColumns+` FROM support_case c WHERE c.partner_id = $1 AND c.id = $2`,
		owner,
		id,
	)
}

// errNoCase is the answer to a case that is not there.
var errNoCase = cyber.ErrCaseNotFound.With("case", fault.NoSuchID)
