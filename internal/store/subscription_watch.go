package store

import (
	"context"
	"fmt"
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
	id partner.ID,
	mode partner.Mode,
	salt string,
	person user,
	sub *subscription.Subscription,
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
// never refused by it: a person has few subscriptions, and each names three.
func (s Subscriptions) watchNamedValues(ctx context.Context, tx *sqldb.Tx, id partner.ID, rows []assetRow) error {
	for part := range slices.Chunk(rows, watchedAtOnce) {
		if _, _, err := Monitoring(s).keepAssetRows(ctx, tx, id, part, cyber.MaxAssets); err != nil {
			return err
		}
	}
	return nil
}

// settleWatches brings the values of some people, by their CPFs, in line with what their subscriptions in force name
// and watch. Values that are about to be named by a subscription that is not stored yet stay. The caller holds the
// counter's lock.
func (s Subscriptions) settleWatches(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	cpfs [][]byte,
	staying []assetRow,
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
		if err := s.watchNamedValues(ctx, tx, id, wanted); err != nil {
			return err
		}
	}
	return nil
}

// uniqueIndexes returns each index once, in a fixed order.
func uniqueIndexes(indexes [][]byte) []string {
	list := make([]string, len(indexes))
	for i, index := range indexes {
		list[i] = string(index)
	}
	slices.Sort(list)
	return slices.Compact(list)
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
	var drops []sqldb.Statement
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
			drops = append(
				drops,
				sqldb.NewStatement(
					`UPDATE asset SET source = source - 2 WHERE partner_id = $1 AND id = $2 AND source >= 2`,
					id,
					asset,
				),
				sqldb.NewStatement(`DELETE FROM asset WHERE partner_id = $1 AND id = $2 AND source = 0`, id, asset),
			)
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
	var list []sqldb.Statement
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
		list = append(list, sqldb.NewStatement(
			`UPDATE subscription SET watch = $3 WHERE partner_id = $1 AND seq = $2`,
			id,
			sub.Seq,
			sub.Watch&^plan.NewWatch(kind),
		))
	}
	return tx.RunStatements(ctx, list)
}

// strayWatchQuery returns values that are watched for a subscription of a person who is not there.
const strayWatchQuery = `SELECT 'asset ' || a.id, 'it is watched for a subscription of nobody' FROM asset a
	WHERE a.source >= 2
	AND NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = a.partner_id AND p.user_512 = a.user_index)
	AND NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = a.partner_id AND p.user_256 = a.user_index)
	ORDER BY 1 LIMIT 1000`

// checkWatches compares what the subscriptions in force of every person watch with the values that say so, both read at
// one moment. People who are being erased, a few rows at a time, are left out.
func (s Upkeep) checkWatches(ctx context.Context, found func(Problem), seen func(int64)) error {
	if err := s.checkByQueries("watches", []string{strayWatchQuery})(ctx, found, seen); err != nil {
		return err
	}
	partners, err := Partners(s).ListPartners(ctx)
	if err != nil {
		return err
	}
	var looked int64
	for _, p := range partners {
		for after := []byte{}; ; {
			people, err := s.readWatchingPeople(ctx, p.ID, after)
			if err != nil {
				return err
			}
			for _, person := range people {
				s.checkWatchesOf(p.ID, person, found)
				after = person.cpf
			}
			looked += int64(len(people))
			seen(looked)
			if len(people) < checkBatch {
				break
			}
		}
	}
	return nil
}

// watchingPerson is a person with what is watched because of subscriptions.
type watchingPerson struct {
	cpf    []byte
	erased bool
	subs   []sealedWatch
	// assets are the values that are watched for a subscription.
	assets map[kindIndex]cyber.AssetID
}

// sealedWatch is a subscription in force and its body as it is stored.
type sealedWatch struct {
	subscription.Subscription
	body []byte
}

// kindIndex is a value of one person.
type kindIndex struct {
	kind  identifier.Kind
	index string
}

// readWatchingPeople reads a page of a partner's people, by their CPFs, in one statement.
func (s Upkeep) readWatchingPeople(ctx context.Context, id partner.ID, after []byte) ([]watchingPerson, error) {
	var people []watchingPerson
	err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var cpf, index []byte
		var erased bool
		var sub sealedWatch
		var kind int64
		var asset cyber.AssetID
		err := row.Scan(
			&cpf,
			&erased,
			&sub.Seq,
			&sub.Plan,
			&sub.Watch,
			&sub.body,
			&sub.CreatedAt,
			&kind,
			&index,
			&asset,
		)
		if err != nil {
			return err
		}
		if n := len(people); n == 0 || string(people[n-1].cpf) != string(cpf) {
			people = append(people, watchingPerson{cpf: cpf, erased: erased, assets: map[kindIndex]cyber.AssetID{}})
		}
		person := &people[len(people)-1]
		if sub.Seq > 0 {
			person.subs = append(person.subs, sub)
		}
		if asset != "" {
			person.assets[kindIndex{identifier.Kind(kind), string(index)}] = asset
		}
		return nil
	}, `WITH page AS (SELECT cpf, user_256, user_512 FROM person WHERE partner_id = $1 AND cpf > $2
			ORDER BY cpf LIMIT $3)
		SELECT p.cpf, EXISTS (SELECT 1 FROM erasure e WHERE e.partner_id = $1 AND e.cpf = p.cpf AND NOT e.done),
			coalesce(s.seq, 0), coalesce(s.plan_id, ''), coalesce(s.watch, 0), s.body, coalesce(s.created_at, 0),
			0, NULL, ''
		FROM page p LEFT JOIN subscription s
			ON s.partner_id = $1 AND s.cpf = p.cpf AND s.ended_at = 0 AND s.watch <> 0
		UNION ALL
		SELECT p.cpf, FALSE, 0, '', 0, NULL, 0, a.kind, a.value_index, a.id
		FROM page p JOIN asset a
			ON a.partner_id = $1 AND a.user_index IN (p.user_256, p.user_512) AND a.source >= 2
		ORDER BY 1`,
		id,
		after,
		checkBatch,
	)
	return people, err
}

// checkWatchesOf compares what a person's subscriptions watch with what is watched for them. Bodies that cannot be
// unsealed are left to the check of seals.
func (s Upkeep) checkWatchesOf(id partner.ID, person watchingPerson, found func(Problem)) {
	if person.erased {
		return
	}
	named := map[kindIndex]bool{}
	for _, sub := range person.subs {
		if Subscriptions(s).unsealBody(id, person.cpf, sub.body, &sub.Subscription) != nil {
			return
		}
		for _, kind := range sub.Watch.ListKinds() {
			value := cyber.EnrolledValue{Kind: kind, Value: sub.Beneficiary.ValueOfKind(kind)}
			normal, err := value.ParseValue()
			where := fmt.Sprintf("subscription %s/%d", id, sub.Seq)
			if err != nil {
				found(Problem{"watches", where, "its " + kind.String() + " is not valid any more"})
				continue
			}
			at := kindIndex{kind, string(Monitoring(s).valueIndex(id, kind, normal))}
			if named[at] = true; person.assets[at] == "" {
				found(Problem{"watches", where, "its " + kind.String() + " is not watched"})
			}
		}
	}
	for at, asset := range person.assets {
		if !named[at] {
			found(Problem{"watches", "asset " + string(asset), "is watched for a subscription that does not name it"})
		}
	}
}
