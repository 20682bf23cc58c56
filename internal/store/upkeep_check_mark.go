package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// checkGrants looks at every row with a MAC.
func (s Upkeep) checkGrants(ctx context.Context, found func(Problem), seen func(int64)) error {
	const what = "was not written by this program: " +
		"whoever did could write to the database and does not hold the key file"
	looked := int64(0)
	look := func(where string, forged bool) {
		if looked++; forged {
			found(Problem{"grants", where, what})
		}
		seen(looked)
	}
	for _, table := range []func(context.Context, func(string, bool)) error{
		s.checkPartnerGrants, s.checkLookBuckets, s.checkOperatorGrants, s.checkSpokenRows,
	} {
		if err := table(ctx, look); err != nil {
			return fmt.Errorf("check grants: %w", err)
		}
	}
	return nil
}

// checkPartnerGrants looks at the MACs of all partners and API keys.
func (s Upkeep) checkPartnerGrants(ctx context.Context, look func(where string, forged bool)) error {
	partners, err := Partners(s).ListPartners(ctx)
	if err != nil {
		return err
	}
	for _, p := range partners {
		look("partner "+string(p.ID), p.Forged)
	}
	keys, err := collectRows(
		ctx,
		s.readQuerier(),
		Partners(s).scanKeyRow,
		`SELECT `+keyColumns+` FROM api_key k ORDER BY k.partner_id, k.id`,
	)
	if err != nil {
		return err
	}
	for _, k := range keys {
		look("api_key "+string(k.ID), k.Forged)
	}
	return nil
}

// checkSpokenRows looks at the rows that speak to people or decide where something is sent or fetched.
func (s Upkeep) checkSpokenRows(ctx context.Context, look func(where string, forged bool)) error {
	q := s.readQuerier()
	return errors.Join(
		checkRows(
			ctx,
			q,
			look,
			s.scanTemplate,
			`SELECT `+templateColumns+` FROM message_template ORDER BY partner_id, event, channel, lang`,
		),
		checkRows(ctx, q, look, s.scanPlanRow, `SELECT `+planColumns+` FROM plan ORDER BY partner_id, id`),
		checkRows(ctx, q, look, s.scanService, `SELECT `+serviceColumns+` FROM service ORDER BY id`),
		checkRows(ctx, q, look, s.scanQuestion, `SELECT `+questionColumns+` FROM case_question q ORDER BY q.id`),
		checkRows(ctx, q, look, s.scanAnswer, `SELECT title, body, mac FROM case_answer ORDER BY title`),
		checkRows(ctx, q, look, s.scanContent, `SELECT `+contentColumns+` FROM content ORDER BY id`),
		checkRows(ctx, q, look, s.scanInstall, `SELECT `+installColumns+` FROM epp_install ORDER BY system`),
		checkRows(ctx, q, look, s.scanChecked, `SELECT `+breachColumns+` FROM breach b ORDER BY b.name`),
		checkRows(ctx, q, look, s.scanShared, `SELECT `+sharedColumns+` FROM password_corpus ORDER BY algorithm`),
		checkRows(ctx, q, look, s.scanFeed, `SELECT `+feedColumns+` FROM feed ORDER BY name`),
		checkRows(ctx, q, look, s.scanEndpoint, `SELECT `+endpointColumns+` FROM endpoint ORDER BY partner_id, id`),
	)
}

// fromTable finds the table of a query.
var fromTable = regexp.MustCompile(`FROM (\w+)`)

// checkRows reports the rows of a query that this program did not write. A row that cannot be read, such as one with a
// seal that does not open, counts as one and keeps no other from being looked at.
func checkRows[T any](
	ctx context.Context,
	q querier,
	look func(where string, forged bool),
	scan func(scanner, *checked[T]) error,
	query string,
) error {
	return eachRow(ctx, q, func(row scanner) error {
		var r checked[T]
		err := scan(row, &r)
		look(cmp.Or(r.row, "a row of "+fromTable.FindStringSubmatch(query)[1]), r.forged || err != nil)
		return nil
	}, query)
}

// checkOperatorGrants looks at the MACs of all operators and sessions. One that cannot be unsealed counts as forged.
func (s Upkeep) checkOperatorGrants(ctx context.Context, look func(where string, forged bool)) error {
	people := Operators(s)
	err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var o operator.Operator
		err := people.scanOperator(row, &o)
		look("operator "+string(o.ID), o.Forged || err != nil)
		return nil
	}, `SELECT `+operatorColumns+` FROM operator o ORDER BY o.created_at, o.id`)
	if err != nil {
		return err
	}
	return eachRow(ctx, s.readQuerier(), func(row scanner) error {
		var n operator.Session
		err := row.Scan(people.sessionTargets(&n)...)
		look("operator_session of "+string(n.Operator), err != nil)
		return nil
	}, `SELECT `+sessionColumns+` FROM operator_session n ORDER BY n.operator_id, n.created_at, n.digest`)
}

// checkLookBuckets looks at the MACs of all buckets, and for partners that have none.
func (s Upkeep) checkLookBuckets(ctx context.Context, look func(where string, forged bool)) error {
	err := checkRows(ctx, s.readQuerier(), look, Monitoring(s).scanBucket,
		`SELECT `+bucketColumns+` FROM first_look ORDER BY partner_id`)
	if err != nil {
		return err
	}
	// In two questions: Citus keeps partners on every node and buckets on one each, and answers no NOT EXISTS across
	// them.
	partners, err := collectValues[partner.ID](ctx, s.readQuerier(), `SELECT id FROM partner ORDER BY id`)
	if err != nil {
		return err
	}
	withBucket, err := collectValues[partner.ID](ctx, s.readQuerier(), `SELECT partner_id FROM first_look`)
	if err != nil {
		return err
	}
	for _, id := range partners {
		if !slices.Contains(withBucket, id) {
			look("first_look "+string(id), true)
		}
	}
	return nil
}
