package store

import (
	"context"
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ subscription.Store = Subscriptions{}

// subscriptionPlace binds a sealed body to what never changes of its row. The seq is not in it: a bulk request learns
// its numbers inside the transaction, and seals before it.
func subscriptionPlace(id partner.ID, cpf []byte, p plan.ID, createdAt int64) seal.Place {
	row := hex.EncodeToString(cpf) + " " + string(p) + " " + strconv.FormatInt(createdAt, 10)
	return seal.Place{Table: "subscription", Column: "body", Partner: string(id), Row: row}
}

// holderIndex returns the blind index of a holder's CNPJ; empty, not NULL, without one.
func (s Subscriptions) holderIndex(id partner.ID, cnpj string) []byte {
	if cnpj == "" {
		return []byte{}
	}
	return s.keys.BlindIndex("holder", string(id), []byte(cnpj))
}

// subscriptionColumns are those that scanning a subscription expects, in its order.
const subscriptionColumns = `seq, cpf, plan_id, start_day, expiry_day, watch, body, created_at, suspended_at, ended_at`

// scanSubscription returns what reads and opens a row of subscriptionColumns of a partner.
func (s Subscriptions) scanSubscription(id partner.ID) func(scanner, *subscription.Subscription) error {
	return s.scanSifted(id, func(subscription.Subscription) bool { return true })
}

// scanSifted is scanSubscription for a list that leaves some out: those are not opened.
func (s Subscriptions) scanSifted(
	id partner.ID,
	fits func(subscription.Subscription) bool,
) func(scanner, *subscription.Subscription) error {
	return func(row scanner, sub *subscription.Subscription) error {
		var cpf, sealed []byte
		err := row.Scan(
			&sub.Seq,
			&cpf,
			&sub.Plan,
			&sub.Start,
			&sub.Expiry,
			&sub.Watch,
			&sealed,
			&sub.CreatedAt,
			&sub.SuspendedAt,
			&sub.EndedAt,
		)
		if err != nil || !fits(*sub) {
			return err
		}
		return s.unsealBody(id, cpf, sealed, sub)
	}
}

// readByCPF returns the subscriptions of a keyed index of a CPF, those in force first and each half by seq; rest may
// turn the order and limit it. It asks twice because each half has an index of its own: without a word of the end, all
// of a partner's would be read.
func (s Subscriptions) readByCPF(
	ctx context.Context, q querier, id partner.ID, cpf []byte, rest string,
) ([]subscription.Subscription, error) {
	var all []subscription.Subscription
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} {
		list, err := collectRows(
			ctx,
			q,
			s.scanSubscription(id),
			`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND cpf = $2
			AND `+half+` ORDER BY `+byPerson+`seq`+rest,
			id,
			cpf,
		)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// SubscriptionOf returns the subscription of a plan and a CPF that has not ended, else the latest that ended.
func (s Subscriptions) SubscriptionOf(
	ctx context.Context, id partner.ID, p plan.ID, cpf string,
) (subscription.Subscription, error) {
	index := s.blindCPFIndex(id, cpf)
	const columns = `SELECT ` + subscriptionColumns + ` FROM subscription WHERE partner_id = $1 AND cpf = $2
		AND plan_id = $3 AND `
	for _, query := range [...]string{columns + `ended_at = 0`, columns + `ended_at <> 0 ORDER BY seq DESC LIMIT 1`} {
		found, err := readRow(
			ctx,
			s.readQuerier(),
			s.scanSubscription(id),
			subscription.ErrNotFound,
			query,
			id,
			index,
			p,
		)
		if !errors.Is(err, subscription.ErrNotFound) {
			return found, err
		}
	}
	return subscription.Subscription{}, subscription.ErrNotFound
}
