package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// DeviceList returns a page of a partner's live devices that fit, and where the next begins.
func (s Overview) DeviceList(
	ctx context.Context, id partner.ID, f cyber.DeviceFilter,
) ([]cyber.Device, cyber.Mark, error) {
	c, at := conditions{text: ` AND ended_at = 0`, args: []any{id}}, `issued_at`
	c.addCondition(`valid_until > `, s.now())
	if f.User != "" {
		at = byPerson + at
	}
	if err := s.addPerson(ctx, &c, `user_index`, id, f.User); err != nil {
		return nil, cyber.Mark{}, err
	}
	if f.ProtectedOnly {
		c.text += ` AND activated_at > 0`
	}
	c.addPeriod(`issued_at`, f.From, f.To)
	look := rowsToLook(f.Limit, f.System != "")
	fits := func(d cyber.Device) bool { return f.System == "" || d.System == f.System }
	mark := func(d cyber.Device) cyber.Mark { return cyber.Mark{At: d.IssuedAt, ID: string(d.ID)} }
	return collectPage(
		ctx,
		s.readQuerier(),
		f.Limit,
		look,
		fits,
		mark,
		Devices(s).scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1`+
			c.text+c.addOrder(at, `id`, f.Before, f.OldestFirst)+c.addLimit(look+1),
		c.args...,
	)
}
