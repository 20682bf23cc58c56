package store

import "github.com/vigiahq/vigia/internal/sqldb"

// sizes tells SQLite's planner which tables grow with people, and which columns say nothing of one of them.
var sizes = sqldb.Sizes{
	Small: set(
		"api_key", "audit_base", "audit_head", "breach", "case_answer", "case_question", "case_slot", "case_target", "content", "endpoint", "epoch", "epp_install", "epp_source",
		"feed", "import_source", "job", "message_template", "meta", "operator", "operator_ceremony", "operator_export", "operator_filter", "operator_passkey",
		"operator_session", "partner", "partner_theme", "plan", "replica", "schema_migration", "service", "share", "tally",
	),
	Repeated: set(
		"action", "actor", "assignee", "breach", "day", "endpoint_id", "expiry_day", "feed", "holder", "hour", "kind", "level", "name", "part", "partner_id", "plan_id",
		"resolution", "service_id", "state", "status", "system", "to_status",
	),
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
