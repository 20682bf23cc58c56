package store

import (
	"context"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// A subscription says in its column watch which of the values that it names are watched because of it, and the row of
// such a value says so in its column source. Both change in one transaction that holds the partner's counter, so that
// no value is half watched: see Upkeep.checkWatches.

// newNamedValues returns the values that a subscription has watched, ready to be stored.
func (s Subscriptions) newNamedValues(
	id partner.ID, mode partner.Mode, salt string, person user, sub *subscription.Subscription,
) ([]assetRow, error) {
	if sub.Watch == 0 {
		return nil, nil
	}
	hash := partner.LongUserHash(sub.Beneficiary.CPF, salt)
	var rows []assetRow
	for _, kind := range sub.Watch.ListKinds() {
		value := cyber.EnrolledValue{Kind: kind, Value: sub.Beneficiary.ValueOfKind(kind)}
		a, err := cyber.NewEnrolledAsset(id, mode, hash, value, s.keys.Fingerprint, s.now())
		if err != nil {
			return nil, wrapError("watch "+string(sub.ID()), err)
		}
		row, err := Monitoring(s).newAssetRow(id, a)
		if err != nil {
			return nil, err
		}
		row.user = person
		rows = append(rows, row)
	}
	return rows, nil
}

// watchedAtOnce is how many values one round of statements stores.
const watchedAtOnce = 250

// watchNamedValues stores values that subscriptions name. They count towards the limit of a person's values and are
// never refused by it: a person has few subscriptions, and each names three. It returns how many of them have not had
// their first look.
func (s Subscriptions) watchNamedValues(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []assetRow,
) (waiting int, err error) {
	for part := range slices.Chunk(rows, watchedAtOnce) {
		kept, err := Monitoring(s).keepAssetRows(ctx, tx, id, part, cyber.MaxAssets)
		if err != nil {
			return 0, err
		}
		for _, k := range kept {
			if k.look != lookDone {
				waiting++
			}
		}
	}
	return waiting, nil
}

// settleWatches brings the values of some people, by their CPFs, in line with what their subscriptions in force name
// and watch. Values that are about to be named by a subscription that is not stored yet stay. The caller holds the
// counter's lock.
func (s Subscriptions) settleWatches(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, cpfs [][]byte, staying []assetRow,
) error {
	named := make(map[personsValue]bool, len(staying))
	for _, r := range staying {
		named[r.personsValue()] = true
	}
	for part := range slices.Chunk(uniqueIndexes(cpfs), watchedAtOnce) {
		people, err := s.peopleByCPF(ctx, tx, id, part)
		if err != nil {
			return err
		}
		if len(people) == 0 { // they were erased: nothing is theirs
			continue
		}
		wanted, err := s.readNamedValues(ctx, tx, id, part, people)
		if err != nil {
			return err
		}
		for _, r := range wanted {
			named[r.personsValue()] = true
		}
		if err := s.dropUnnamedValues(ctx, tx, id, people, named); err != nil {
			return err
		}
		if _, err := s.watchNamedValues(ctx, tx, id, wanted); err != nil {
			return err
		}
	}
	return nil
}

// personsValue returns what tells the value of a row from all others of the partner.
func (r assetRow) personsValue() personsValue {
	return personsValue{person: string(r.user.write), kind: r.Kind, index: string(r.index)}
}

// peopleByCPF returns people by the index of their CPF.
func (s Subscriptions) peopleByCPF(
	ctx context.Context, q querier, id partner.ID, cpfs []string,
) (map[string]user, error) {
	people := make(map[string]user, len(cpfs))
	args := []any{id}
	err := eachRow(ctx, q, func(row scanner) error {
		var u user
		err := row.Scan(&u.cpf, &u.other, &u.write)
		people[string(u.cpf)] = u
		return err
	}, `SELECT cpf, user_256, user_512 FROM person
		WHERE partner_id = $1 AND cpf `+s.inIndexes(&args, cpfs),
		args...,
	)
	return people, err
}

// readNamedValues returns what the subscriptions in force of some people name and watch.
func (s Subscriptions) readNamedValues(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, cpfs []string, people map[string]user,
) ([]assetRow, error) {
	args := []any{id}
	subs, err := collectRows(ctx, tx, s.scanSubscription(id), `SELECT `+subscriptionColumns+` FROM subscription
		WHERE partner_id = $1 AND ended_at = 0 AND watch <> 0 AND cpf `+s.inIndexes(&args, cpfs),
		args...,
	)
	if err != nil || len(subs) == 0 {
		return nil, err
	}
	in := s.withTransaction(tx)
	owner, err := in.partnerByID(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	salt, err := Partners{in}.OpenSalt(ctx, id)
	if err != nil {
		return nil, err
	}
	var rows []assetRow
	for _, sub := range subs {
		person := people[string(s.blindCPFIndex(id, sub.Beneficiary.CPF))]
		named, err := s.newNamedValues(id, owner.Mode, salt, person, &sub)
		if err != nil {
			return nil, err
		}
		rows = append(rows, named...)
	}
	return rows, nil
}

// dropUnnamedValues takes the reason of a subscription off the values of some people that none of theirs names. A value
// that was watched for no other reason is deleted with what was found of it.
func (s Subscriptions) dropUnnamedValues(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, people map[string]user, named map[personsValue]bool,
) error {
	personOf := make(map[string]string, 2*len(people))
	var indexes [][]byte
	for _, u := range people {
		personOf[string(u.write)] = string(u.write)
		personOf[string(u.other)] = string(u.write)
		indexes = append(indexes, u.write, u.other)
	}
	args := []any{id}
	var drops sqldb.Statements
	err := eachRow(ctx, tx, func(row scanner) error {
		var asset cyber.AssetID
		var v personsValue
		var person, index []byte
		if err := row.Scan(&asset, &person, &v.kind, &index); err != nil {
			return err
		}
		v.person = personOf[string(person)]
		v.index = string(index)
		if !named[v] {
			// In two statements: a request that adds the value by itself at this moment waits for the first one.
			drops.Add(
				`UPDATE asset SET source = source - 2 WHERE partner_id = $1 AND id = $2 AND source >= 2`,
				id,
				asset,
			)
			drops.Add(`DELETE FROM asset WHERE partner_id = $1 AND id = $2 AND source = 0`, id, asset)
		}
		return nil
	}, `SELECT id, user_index, kind, value_index FROM asset WHERE partner_id = $1 AND source >= 2
		AND user_index `+s.inIndexes(&args, uniqueIndexes(indexes)),
		args...,
	)
	if err != nil {
		return err
	}
	return tx.RunStatements(ctx, drops)
}

// unwatchNamedValue has no subscription in force of a person watch a value any more, because the partner deletes it.
// The caller holds the counter's lock.
func (s Subscriptions) unwatchNamedValue(
	ctx context.Context, tx *sqldb.Tx, id partner.ID, person user, kind identifier.Kind, index []byte,
) error {
	rows, err := s.readByCPF(ctx, tx, id, person.cpf, "")
	if err != nil {
		return err
	}
	var list sqldb.Statements
	for _, sub := range rows {
		if !sub.EndedAt.IsZero() || !sub.Watch.HasKind(kind) {
			continue
		}
		value := cyber.EnrolledValue{Kind: kind, Value: sub.Beneficiary.ValueOfKind(kind)}
		normal, err := value.ParseValue()
		if err != nil {
			return wrapError("read "+string(sub.ID()), err)
		}
		if string(Monitoring(s).valueIndex(id, kind, normal)) != string(index) {
			continue
		}
		list.Add(
			`UPDATE subscription SET watch = $3 WHERE partner_id = $1 AND seq = $2`,
			id,
			sub.Seq,
			sub.Watch&^plan.NewWatch(kind),
		)
	}
	return tx.RunStatements(ctx, list)
}
