package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ subscription.Store = Subscriptions{}

func subscriptionPlace(id partner.ID, seq int64) seal.Place {
	return seal.Place{Table: "subscription", Column: "body", Partner: string(id), Row: strconv.FormatInt(seq, 10)}
}

func (s Subscriptions) holderIndex(id partner.ID, cnpj string) []byte {
	if cnpj == "" {
		return []byte{}
	}
	return s.keys.BlindIndex("holder", string(id), []byte(cnpj))
}

// bodyFormat is the first byte of an unsealed body; another layout takes another number.
const bodyFormat = 1

// bodyTexts are the texts of a body in their order in format 1.
func bodyTexts(s *subscription.Subscription) [18]*string {
	b, a := &s.Beneficiary, &s.Beneficiary.Address
	return [18]*string{
		&b.CPF, &b.Name, &b.Email, &b.PrimaryCard, &b.UserCard, &b.BirthDate, &b.Gender, &b.Phone,
		&a.Zipcode, &a.Street, &a.Number, &a.Complement, &a.Neighborhood, &a.City, &a.State,
		&s.Holder, &s.InternalID, &s.Metadata,
	}
}

// appendBody writes what a subscription's sealed column holds: the format, the group's size, then each text behind its
// length. A page opens a hundred of these, so the layout is one that reads without a parser.
func appendBody(dst []byte, s *subscription.Subscription) []byte {
	dst = append(dst, bodyFormat)
	dst = binary.AppendUvarint(dst, uint64(max(s.GroupSize, 0)))
	for _, text := range bodyTexts(s) {
		dst = binary.AppendUvarint(dst, uint64(len(*text)))
		dst = append(dst, *text...)
	}
	return dst
}

var errBody = errors.New("subscription body: unknown layout")

func readBody(body []byte, s *subscription.Subscription) error {
	if len(body) == 0 || body[0] != bodyFormat {
		return errBody
	}
	rest := body[1:]
	number := func() (uint64, bool) {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return 0, false
		}
		rest = rest[n:]
		return v, true
	}
	size, ok := number()
	if !ok {
		return errBody
	}
	s.GroupSize = int64(size)
	for _, text := range bodyTexts(s) {
		n, ok := number()
		if !ok || n > uint64(len(rest)) {
			return errBody
		}
		*text, rest = string(rest[:n]), rest[n:]
	}
	return nil
}

const subscriptionColumns = `seq, plan_id, start_day, expiry_day, body, created_at, suspended_at, ended_at`

// scanSubscription reads and opens a row of subscriptionColumns.
func (s Subscriptions) scanSubscription(id partner.ID, row scanner) (subscription.Subscription, error) {
	var sub subscription.Subscription
	var sealed []byte
	var created, suspended, ended int64
	if err := row.Scan(&sub.Seq, &sub.Plan, &sub.Start, &sub.Expiry, &sealed, &created, &suspended, &ended); err != nil {
		return sub, err
	}
	sub.CreatedAt, sub.SuspendedAt, sub.EndedAt = fromMicros(created), fromMicros(suspended), fromMicros(ended)
	return sub, s.openBody(id, sealed, &sub)
}

func (s Subscriptions) openBody(id partner.ID, sealed []byte, sub *subscription.Subscription) error {
	body, err := s.keys.Unseal(subscriptionPlace(id, sub.Seq), sealed)
	if err != nil {
		return fmt.Errorf("open subscription: %w", err)
	}
	return readBody(body, sub)
}

// SubscriptionOf returns the subscription of a plan and a CPF that has not ended, else the latest that ended.
func (s Subscriptions) SubscriptionOf(ctx context.Context, id partner.ID, p plan.ID, cpf string) (subscription.Subscription, error) {
	index := s.cpfIndex(id, cpf)
	const columns = `SELECT ` + subscriptionColumns + ` FROM subscription WHERE partner_id = $1 AND cpf = $2 AND plan_id = $3 AND `
	for _, query := range [...]string{columns + `ended_at = 0`, columns + `ended_at <> 0 ORDER BY seq DESC LIMIT 1`} {
		found, err := s.scanSubscription(id, s.reader().QueryRowContext(ctx, query, string(id), index, string(p)))
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return found, classify(fmt.Errorf("read subscription: %w", err))
		}
		return found, nil
	}
	return subscription.Subscription{}, subscription.ErrNotFound
}
