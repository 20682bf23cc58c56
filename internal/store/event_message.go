package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ message.Store = Alerts{}

// templateColumns are those that scanning a message text expects, in its order.
const templateColumns = `partner_id, event, channel, lang, subject, body, mac`

// scanTemplate reads a template and checks its MAC, which covers the partner.
func (c core) scanTemplate(row scanner, t *checked[message.Template]) error {
	var id partner.ID
	v := &t.value
	err := row.Scan(&id, &v.Event, &v.Channel, &v.Language, &v.Subject, &v.Text,
		c.checksMAC(&t.forged, "message_template", func() *grant { return templateGrant(id, *v) }))
	t.row = fmt.Sprintf("message_template %s/%s/%s/%s", id, v.Event, v.Channel, v.Language)
	return err
}

// templateGrant covers the partner as well, so that a template cannot be moved to another partner.
func templateGrant(id partner.ID, t message.Template) *grant {
	return new(grant).addNumbers(id.Number()).
		addTexts(string(t.Event), string(t.Channel), string(t.Language), t.Subject, t.Text)
}

// ListTemplates returns the operator's texts for a partner; without one, those for everybody, kept under the number 0.
// A forged one is left out: the built-in text takes its place.
func (s Alerts) ListTemplates(ctx context.Context, id partner.ID) ([]message.Template, error) {
	return collectGenuine(
		ctx,
		s.readQuerier(),
		s.scanTemplate,
		`SELECT `+templateColumns+` FROM message_template WHERE partner_id = $1
		ORDER BY event, channel, lang`,
		id,
	)
}

// KeepTemplate stores a text over the one that was there.
func (s Alerts) KeepTemplate(ctx context.Context, id partner.ID, t message.Template) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		if id != "" {
			if _, err := s.partnerByID(ctx, tx, id); err != nil {
				return err
			}
		}
		return execStatement(
			ctx,
			tx,
			`INSERT INTO message_template (partner_id, event, channel, lang, subject, body, changed_at, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (partner_id, event, channel, lang)
			DO UPDATE SET subject = excluded.subject, body = excluded.body, changed_at = excluded.changed_at,
			mac = excluded.mac`,
			id,
			t.Event,
			t.Channel,
			t.Language,
			t.Subject,
			t.Text,
			s.now(),
			s.grantMAC("message_template", templateGrant(id, t)),
		)
	})
}

// DropTemplate deletes a text.
func (s Alerts) DropTemplate(ctx context.Context, id partner.ID, k message.Key) error {
	return s.expectAlone(
		ctx,
		message.ErrUnchanged,
		`DELETE FROM message_template WHERE partner_id = $1 AND event = $2 AND channel = $3 AND lang = $4`,
		id,
		k.Event,
		k.Channel,
		k.Language,
	)
}

func (s Alerts) PartnerName(ctx context.Context, id partner.ID) (string, error) {
	p, err := s.partnerByID(ctx, s.readQuerier(), id)
	return p.Name, err
}

// BreachTitle returns a breach's title; empty where there is none.
func (s Alerts) BreachTitle(ctx context.Context, name string) (string, error) {
	b, err := readRow(
		ctx,
		s.readQuerier(),
		s.scanBreach,
		nil,
		`SELECT `+breachColumns+` FROM breach b WHERE b.name = $1`,
		name,
	)
	return b.Title, err
}

// FindPlanName returns a plan's name; empty where there is none.
func (s Alerts) FindPlanName(ctx context.Context, id partner.ID, planID plan.ID) (string, error) {
	p, err := s.readPlan(ctx, s.readQuerier(), id, planID)
	if errors.Is(err, plan.ErrNotFound) || errors.Is(err, ErrForged) {
		return "", nil
	}
	return p.Name, err
}
