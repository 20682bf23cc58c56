package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ message.Store = Alerts{}

const templateColumns = `partner_id, event, channel, lang, subject, body, mac`

// scanTemplate reads a template and checks its MAC, which covers the partner.
func (c core) scanTemplate(row scanner) (t checked[message.Template], err error) {
	var id partner.ID
	var mac []byte
	v := &t.value
	err = row.Scan(scanPartnerID(&id), &v.Event, &v.Channel, &v.Language, &v.Subject, &v.Text, &mac)
	t.row = fmt.Sprintf("message_template %s/%s/%s/%s", id, v.Event, v.Channel, v.Language)
	t.forged = !c.isGenuine("message_template", templateGrant(id, *v), mac)
	return t, err
}

// ListTemplates returns the operator's texts for a partner; without one, those for everybody, kept under the number 0. A forged
// one is left out: the built-in text takes its place.
func (s Alerts) ListTemplates(ctx context.Context, id partner.ID) ([]message.Template, error) {
	list, err := collectGenuine(ctx, s.readQuerier(), s.scanTemplate, `SELECT `+templateColumns+` FROM message_template WHERE partner_id = $1
		ORDER BY event, channel, lang`, partnerNumber(id))
	return list, wrapError("read messages", err)
}

// KeepTemplate stores a text over the one that was there.
func (s Alerts) KeepTemplate(ctx context.Context, id partner.ID, t message.Template) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if id != "" {
			if _, err := s.partnerByID(ctx, tx, id); err != nil {
				return err
			}
		}
		return execStatement(ctx, tx, "keep message", `INSERT INTO message_template (partner_id, event, channel, lang, subject, body, changed_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (partner_id, event, channel, lang)
			DO UPDATE SET subject = excluded.subject, body = excluded.body, changed_at = excluded.changed_at, mac = excluded.mac`,
			partnerNumber(id), string(t.Event), string(t.Channel), string(t.Language), t.Subject, t.Text, toMicros(s.now()),
			s.grantMAC("message_template", templateGrant(id, t)))
	})
}

// DropTemplate deletes a text.
func (s Alerts) DropTemplate(ctx context.Context, id partner.ID, k message.Key) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		n, err := rowsAffected(tx.ExecContext(ctx, `DELETE FROM message_template WHERE partner_id = $1 AND event = $2 AND channel = $3 AND lang = $4`,
			partnerNumber(id), string(k.Event), string(k.Channel), string(k.Language)))
		if err != nil {
			return fmt.Errorf("drop message: %w", err)
		}
		if n == 0 {
			return message.ErrUnchanged
		}
		return nil
	})
}

// GetEvent returns one event of a partner.
func (s Alerts) GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error) {
	e, err := s.scanKeptEvent(id)(s.readQuerier().QueryRowContext(ctx, `SELECT `+keptColumns+` FROM event WHERE partner_id = $1 AND id = $2`, partnerNumber(id), string(event)))
	return e, readError("read event", err, alert.ErrEventNotFound)
}

// PartnerName returns a partner's name.
func (s Alerts) PartnerName(ctx context.Context, id partner.ID) (string, error) {
	p, err := s.partnerByID(ctx, s.readQuerier(), id)
	return p.Name, err
}

// BreachTitle returns a breach's title; empty where there is none.
func (s Alerts) BreachTitle(ctx context.Context, name string) (string, error) {
	b, err := s.scanBreach(s.readQuerier().QueryRowContext(ctx, `SELECT `+breachColumns+` FROM breach b WHERE b.name = $1`, name))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", classifyError(fmt.Errorf("read breach: %w", err))
	}
	return b.Title, nil
}

// FindPlanName returns a plan's name; empty where there is none.
func (s Alerts) FindPlanName(ctx context.Context, id partner.ID, planID plan.ID) (string, error) {
	p, err := s.readPlan(ctx, s.readQuerier(), id, planID)
	if errors.Is(err, plan.ErrNotFound) || errors.Is(err, ErrForged) {
		return "", nil
	}
	return p.Name, err
}
