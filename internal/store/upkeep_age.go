package store

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// AgeSandbox makes everything of a partner so many days older: subscriptions, findings with their steps, antivirus
// keys, cases with their appointments, and erasures. A time of 0 means that something did not happen, and stays, as
// does when a subscription was made: its sealed body is bound to that.
func (s Partners) AgeSandbox(ctx context.Context, id partner.ID, days int) error {
	micros, number := (time.Duration(days) * 24 * time.Hour).Microseconds(), id
	return s.runAll(
		ctx,
		sqldb.NewStatement(
			`UPDATE subscription SET suspended_at = CASE WHEN suspended_at > 0 THEN suspended_at - $2 ELSE 0 END,
			ended_at = CASE WHEN ended_at > 0 THEN ended_at - $2 ELSE 0 END, start_day = start_day - $3,
			expiry_day = CASE WHEN expiry_day > 0 THEN expiry_day - $3 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
			days,
		),
		// Through negative numbers: a row must never meet the one that is still where it goes.
		sqldb.NewStatement(
			`UPDATE subscription_expiry SET expiry_day = $2 - expiry_day WHERE partner_id = $1 AND expiry_day > 0`,
			number,
			days,
		),
		sqldb.NewStatement(
			`UPDATE subscription_expiry SET expiry_day = -expiry_day WHERE partner_id = $1 AND expiry_day < 0`,
			number,
		),
		sqldb.NewStatement(
			`UPDATE finding SET found_at = found_at - $2, resolved_at = CASE
			WHEN resolved_at > 0 THEN resolved_at - $2 ELSE 0 END,
			renewed_at = CASE WHEN renewed_at > 0 THEN renewed_at - $2 ELSE 0 END,
			remind_at = CASE WHEN remind_at > 0 THEN remind_at - $2 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
		),
		sqldb.NewStatement(`UPDATE finding_step SET marked_at = marked_at - $2 WHERE partner_id = $1`, number, micros),
		sqldb.NewStatement(
			`UPDATE epp_key SET issued_at = issued_at - $2, valid_until = valid_until - $2, ended_at = CASE
			WHEN ended_at > 0 THEN ended_at - $2 ELSE 0 END,
			next_warning = CASE WHEN next_warning > 0 THEN next_warning - $2 ELSE 0 END,
			activated_at = CASE WHEN activated_at > 0 THEN activated_at - $2 ELSE 0 END,
			seen_at = CASE WHEN seen_at > 0 THEN seen_at - $2 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
		),
		sqldb.NewStatement(`UPDATE support_case SET created_at = created_at - $2, changed_at = changed_at - $2,
			clock_since = CASE WHEN clock_since > 0 THEN clock_since - $2 ELSE 0 END, due_at = CASE
			WHEN due_at < $3 THEN due_at - $2 ELSE due_at END,
			made_up_at = CASE WHEN made_up_at > 0 THEN made_up_at - $2 ELSE 0 END, spoke_at = CASE
			WHEN spoke_at > 0 THEN spoke_at - $2 ELSE 0 END,
			ending_at = CASE WHEN ending_at > 0 THEN ending_at - $2 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
			int64(nothingDue),
		),
		sqldb.NewStatement(
			`UPDATE erasure_request SET requested_at = requested_at - $2, due_at = due_at - $2, next_at = next_at - $2,
			ended_at = CASE WHEN ended_at > 0 THEN ended_at - $2 ELSE 0 END WHERE partner_id = $1`,
			number,
			micros,
		),
		// Otherwise what a person got after an erasure would become older than it.
		sqldb.NewStatement(
			`UPDATE erasure SET erased_at = erased_at - $2 WHERE partner_id = $1 AND done`,
			number,
			micros,
		),
	)
}
