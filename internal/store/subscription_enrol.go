package store

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// newRow is one subscription of a request, indexed and sealed before the transaction begins, so that the
// transaction is short.
type newRow struct {
	item          int
	asked         bool // not to be created: is there one like it?
	plan          string
	cpf           []byte
	user256       []byte
	user512       []byte
	holder        []byte
	start, expiry int64
	createdAt     int64
	watch         plan.Watch
	body          []byte     // sealed
	values        []assetRow // what is watched of the values that it names
}

// uniqueKey returns what no two live subscriptions of a partner share.
func (r *newRow) uniqueKey() liveKey { return liveKey{string(r.cpf), r.plan} }

// liveKey is what may be live once at a partner: a person in a plan.
type liveKey struct{ cpf, plan string }

// NewSealer returns what makes the rows of a partner's requests; see subscription.Store.
func (s Subscriptions) NewSealer(ctx context.Context, id partner.ID) (subscription.Sealer, error) {
	salt, err := Partners(s).OpenSalt(ctx, id)
	if err != nil {
		return nil, err
	}
	owner, err := s.partnerByID(ctx, s.readQuerier(), id)
	if err != nil {
		return nil, err
	}
	return func(item int, sub *subscription.Subscription, create bool) (subscription.Row, error) {
		if !create {
			cpf := s.blindCPFIndex(id, sub.Beneficiary.CPF)
			return newRow{item: item, asked: true, plan: string(sub.Plan), cpf: cpf}, nil
		}
		row, err := s.sealRow(id, owner.Mode, salt, sub)
		if err != nil {
			return nil, err
		}
		row.item = item
		return row, nil
	}, nil
}

// sealRow indexes and seals a subscription that is to be created.
func (s Subscriptions) sealRow(
	id partner.ID, mode partner.Mode, salt string, sub *subscription.Subscription,
) (row newRow, err error) {
	row = newRow{
		plan: string(sub.Plan), start: int64(sub.Start), expiry: int64(sub.Expiry),
		holder: s.holderIndex(id, sub.Holder), createdAt: toMicros(s.now()), watch: sub.Watch,
	}
	row.cpf, row.user256, row.user512 = s.personColumns(id, sub.Beneficiary.CPF, salt)
	if row.body, err = s.sealBody(subscriptionPlace(id, row.cpf, sub.Plan, row.createdAt), sub); err != nil {
		return newRow{}, err
	}
	person := user{write: row.user512, other: row.user256, cpf: row.cpf}
	row.values, err = s.newNamedValues(id, mode, salt, person, sub)
	return row, err
}

// fewRows is how many are written at once without letting SQLite's log be carried over first.
const fewRows = 10

// Enrol creates rows in one transaction; see subscription.Store.
func (s Subscriptions) Enrol(
	ctx context.Context, id partner.ID, list []subscription.Row, register []plan.Plan, dryRun bool,
) (done subscription.Enrolled, err error) {
	rows, asked, repeated := dropRepeated(list)
	if dryRun {
		asked, rows = append(asked, rows...), nil
	}
	// What is only asked for is looked up outside the transaction, which others of the partner wait for.
	known, _, err := s.splitExisting(ctx, s.readQuerier(), id, asked)
	if err != nil {
		return done, err
	}
	duplicates := append(repeated, itemNumbers(known)...)
	if len(rows) == 0 {
		return subscription.Enrolled{Duplicates: duplicates}, nil
	}
	if s.tx == nil && len(rows) > fewRows {
		s.db.AwaitCheckpoint(ctx)
	}
	err = s.runInBulkTx(ctx, len(rows), func(tx *sqldb.Tx) error {
		left, waiting, err := s.keepRows(ctx, tx, id, register, rows)
		if err != nil {
			return err
		}
		done = subscription.Enrolled{Duplicates: slices.Concat(duplicates, itemNumbers(left)), Waiting: waiting}
		return nil
	})
	return done, err
}
