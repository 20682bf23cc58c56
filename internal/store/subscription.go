package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/subscription"
)

var _ subscription.Store = Subscriptions{}

// subscriptionPlace binds a sealed body to what never changes of its row. The seq is not in it: a bulk request learns its
// numbers inside the transaction, and seals before it.
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

// bodyFormat is the first byte of an unsealed body; another layout takes another number.
const bodyFormat = 1

// bodyTextFields returns the texts of a body in their order in format 1.
func bodyTextFields(s *subscription.Subscription) [18]*string {
	b, a := &s.Beneficiary, &s.Beneficiary.Address
	return [18]*string{
		&b.CPF, &b.Name, &b.Email, &b.PrimaryCard, &b.UserCard, &b.BirthDate, &b.Gender, &b.Phone,
		&a.Zipcode, &a.Street, &a.Number, &a.Complement, &a.Neighborhood, &a.City, &a.State,
		&s.Holder, &s.InternalID, &s.Metadata,
	}
}

// appendBody writes what a subscription's sealed column holds: the format, the group's size, then each text behind its
// length. A page opens a hundred of these, so the layout is one that reads without a parser. A third of it is digits
// (CPF, cards, phone, dates): a text of nothing else takes half a byte for each, and the lowest bit of its length says
// so.
func appendBody(dst []byte, s *subscription.Subscription) []byte {
	dst = append(dst, bodyFormat)
	dst = binary.AppendUvarint(dst, uint64(max(s.GroupSize, 0)))
	for _, text := range bodyTextFields(s) {
		if isPackable(*text) {
			dst = binary.AppendUvarint(dst, uint64(len(*text))<<1|1)
			dst = appendPacked(dst, *text)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(*text))<<1)
		dst = append(dst, *text...)
	}
	return dst
}

// isPackable reports whether a text has nothing but digits and dashes.
func isPackable(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}

// packed are the characters that take half a byte, by their number.
const packed = "0123456789-"

// appendPacked appends a text of digits and dashes at two characters a byte; the last half byte of an odd length is
// zero.
func appendPacked(dst []byte, text string) []byte {
	half := func(c byte) byte {
		if c == '-' {
			return 10
		}
		return c - '0'
	}
	for ; len(text) > 1; text = text[2:] {
		dst = append(dst, half(text[0])<<4|half(text[1]))
	}
	if text != "" {
		dst = append(dst, half(text[0])<<4)
	}
	return dst
}

var errBody = errors.New("subscription body: unknown layout")

// decodeBody fills in what appendBody wrote. All texts are parts of one string: a page would otherwise allocate eighteen
// for each row.
func decodeBody(body []byte, s *subscription.Subscription) error {
	if len(body) == 0 || body[0] != bodyFormat {
		return errBody
	}
	rest := body[1:]
	size, width := binary.Uvarint(rest)
	if width <= 0 {
		return errBody
	}
	s.GroupSize, rest = int64(size), rest[width:]
	texts := bodyTextFields(s)
	var ends [len(texts)]int
	plain := make([]byte, 0, 2*len(body))
	for i := range texts {
		head, width := binary.Uvarint(rest)
		n := head >> 1
		if width <= 0 || n > 2*uint64(len(rest)) {
			return errBody
		}
		var ok bool
		if plain, rest, ok = appendText(plain, rest[width:], int(n), head&1 == 1); !ok {
			return errBody
		}
		ends[i] = len(plain)
	}
	all, from := string(plain), 0
	for i, text := range texts {
		*text, from = all[from:ends[i]], ends[i]
	}
	return nil
}

// appendText reads a text of n characters off the front of rest.
func appendText(dst, rest []byte, n int, halves bool) (text, left []byte, ok bool) {
	width := n
	if halves {
		width = (n + 1) / 2
	}
	if width > len(rest) {
		return dst, rest, false
	}
	if !halves {
		return append(dst, rest[:n]...), rest[n:], true
	}
	for i := range n {
		half := rest[i/2] >> 4
		if i%2 == 1 {
			half = rest[i/2] & 15
		}
		if int(half) >= len(packed) {
			return dst, rest, false
		}
		dst = append(dst, packed[half])
	}
	return dst, rest[width:], true
}

const subscriptionColumns = `seq, cpf, plan_id, start_day, expiry_day, body, created_at, suspended_at, ended_at`

// scanSubscription reads and opens a row of subscriptionColumns.
func (s Subscriptions) scanSubscription(id partner.ID, row scanner) (subscription.Subscription, error) {
	var sub subscription.Subscription
	var cpf, sealed []byte
	var created, suspended, ended int64
	if err := row.Scan(&sub.Seq, &cpf, &sub.Plan, &sub.Start, &sub.Expiry, &sealed, &created, &suspended, &ended); err != nil {
		return sub, err
	}
	sub.CreatedAt, sub.SuspendedAt, sub.EndedAt = fromMicros(created), fromMicros(suspended), fromMicros(ended)
	return sub, s.unsealBody(id, cpf, sealed, &sub)
}

// unsealBody unseals a body into sub, whose plan and time of creation are set.
func (s Subscriptions) unsealBody(id partner.ID, cpf, sealed []byte, sub *subscription.Subscription) error {
	body, err := s.keys.Unseal(subscriptionPlace(id, cpf, sub.Plan, toMicros(sub.CreatedAt)), sealed)
	if err != nil {
		return fmt.Errorf("open subscription: %w", err)
	}
	return decodeBody(body, sub)
}

// readByCPF returns the subscriptions of a keyed index of a CPF, those in force first and each half by seq; rest may turn the
// order and limit it. It asks twice because each half has an index of its own: without a word of the end, all of a partner's
// would be read.
func (s Subscriptions) readByCPF(ctx context.Context, q querier, id partner.ID, cpf []byte, rest string) ([]subscription.Subscription, error) {
	var all []subscription.Subscription
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} {
		list, err := collectRows(ctx, q, func(row scanner) (subscription.Subscription, error) { return s.scanSubscription(id, row) },
			`SELECT `+subscriptionColumns+` FROM subscription WHERE partner_id = $1 AND cpf = $2 AND `+half+` ORDER BY `+byPerson+`seq`+rest, partnerNumber(id), cpf)
		if err != nil {
			return nil, fmt.Errorf("find subscriptions: %w", err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// SubscriptionOf returns the subscription of a plan and a CPF that has not ended, else the latest that ended.
func (s Subscriptions) SubscriptionOf(ctx context.Context, id partner.ID, p plan.ID, cpf string) (subscription.Subscription, error) {
	index := s.blindCPFIndex(id, cpf)
	const columns = `SELECT ` + subscriptionColumns + ` FROM subscription WHERE partner_id = $1 AND cpf = $2 AND plan_id = $3 AND `
	for _, query := range [...]string{columns + `ended_at = 0`, columns + `ended_at <> 0 ORDER BY seq DESC LIMIT 1`} {
		found, err := s.scanSubscription(id, s.readQuerier().QueryRowContext(ctx, query, partnerNumber(id), index, string(p)))
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		return found, classifyError(wrapError("read subscription", err))
	}
	return subscription.Subscription{}, subscription.ErrNotFound
}
