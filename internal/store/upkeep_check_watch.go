package store

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

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
