package store

import (
	"slices"
	"strings"
)

// ofPartners are the tables whose rows belong to a partner without the engine seeing to it.
var ofPartners = []string{
	"idempotency",
	"person",
	"person_name",
	"event",
	"event_counter",
	"event_pull",
	"delivery",
	"attempt",
	"subscription",
	"subscription_counter",
	"subscription_block",
	"subscription_expiry",
	"asset",
	"finding",
	"finding_step",
	"epp_key",
	"epp_holder",
	"support_case",
	"case_move",
	"content_answer",
	"score_day",
}

// refers is a reference that a table makes without the engine seeing to it, or that the engine may have missed.
type refers struct{ table, row, what, where string }

// references are the rows that refer to another, each with the condition under which that one is missing.
var references = []refers{
	{
		"finding",
		"id",
		"its watched value is not there",
		`NOT EXISTS (SELECT 1 FROM asset p WHERE p.partner_id = t.partner_id AND p.id = t.asset_id)`,
	},
	{"finding", "id", "its breach is not there", `NOT EXISTS (SELECT 1 FROM breach p WHERE p.name = t.breach)`},
	{
		"finding_step",
		"finding_id",
		"its finding is not there",
		`NOT EXISTS (SELECT 1 FROM finding p WHERE p.partner_id = t.partner_id AND p.id = t.finding_id)`,
	},
	{
		"asset_history",
		"asset_id",
		"its watched value is not there",
		`NOT EXISTS (SELECT 1 FROM asset p WHERE p.partner_id = t.partner_id AND p.id = t.asset_id)`,
	},
	{
		"subscription",
		"partner_id || '/' || t.seq",
		"its plan is not there",
		`NOT EXISTS (SELECT 1 FROM plan p WHERE p.partner_id = t.partner_id AND p.id = t.plan_id)`,
	},
	{
		"subscription",
		"partner_id || '/' || t.seq",
		"its person is not there",
		`NOT EXISTS (SELECT 1 FROM person p WHERE p.partner_id = t.partner_id AND p.cpf = t.cpf)`,
	},
	{
		"support_case",
		"id",
		"its service is not there",
		`NOT EXISTS (SELECT 1 FROM service p WHERE p.id = t.service_id)`,
	},
	{
		"case_move",
		"case_id",
		"its case is not there",
		`NOT EXISTS (SELECT 1 FROM support_case p WHERE p.id = t.case_id AND p.partner_id = t.partner_id)`,
	},
}

// Where what refers is the service's and not a partner's, both sides are joined: such a table may be on one machine,
// and what it refers to on many.
var referencesOfService = []string{
	`SELECT 'case_booking ' || t.case_id, 'its case is not there' FROM case_booking t
	LEFT JOIN support_case p ON p.partner_id = t.partner_id AND p.id = t.case_id WHERE p.id IS NULL
	ORDER BY 1 LIMIT 1000`,
	`SELECT 'epp_pool ' || t.id, 'the key that took it is not there' FROM (
		SELECT id, taken_by FROM epp_pool WHERE taken_by NOT IN ('', '` + takenByErased + `')) t
	LEFT JOIN epp_key p ON p.id = t.taken_by WHERE p.id IS NULL ORDER BY 1 LIMIT 1000`,
}

// referenceQueries returns one query per reference. Each returns the row at fault and what is wrong with it.
func referenceQueries() []string {
	list := slices.Clone(referencesOfService)
	for _, table := range ofPartners {
		list = append(
			list,
			`SELECT '`+table+` of ' || t.partner_id, count(*) || ' rows of a partner that is not there' FROM `+table+` t
			WHERE NOT EXISTS (SELECT 1 FROM partner p WHERE p.id = t.partner_id) GROUP BY t.partner_id ORDER BY 1`,
		)
	}
	for _, r := range references {
		list = append(
			list,
			`SELECT '`+r.table+` ' || t.`+r.row+`, '`+strings.ReplaceAll(r.what, "'", "''")+`' FROM `+r.table+` t
			WHERE `+r.where+` ORDER BY 1 LIMIT 1000`,
		)
	}
	return list
}
