package store

import (
	"fmt"
	"strconv"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

// sealedColumn is a place where sealed values are kept. Every sealed column of the schema stands in sealedColumns: a
// test compares the list with the migrations.
type sealedColumn struct {
	table, column string
	// key are the columns of the primary key, then others that place needs, all of them TEXT, BYTEA or BIGINT.
	key []string
	// place gives the associated data of a row from the values of key.
	place func(key []any) seal.Place
}

// formatKeyPart writes a part of a primary key.
func formatKeyPart(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(v)
}

// partnerOfNumber returns the ID of the partner whose number leads a key.
func partnerOfNumber(number any) string {
	n, _ := number.(int64) // no other partner has the number 0, and nothing is sealed for it
	return string(partner.NumberedID(n))
}

// placeInPartner returns the place of a row whose primary key is (partner_id, row).
func placeInPartner(table, column string) func([]any) seal.Place {
	return func(key []any) seal.Place {
		return seal.Place{Table: table, Column: column, Partner: partnerOfNumber(key[0]), Row: formatKeyPart(key[1])}
	}
}

// sealedColumns are all that hold sealed values: a rotation writes each of them anew.
var sealedColumns = []sealedColumn{
	{"partner", "salt", []string{"id"}, func(key []any) seal.Place {
		return seal.Place{
			Table:   "partner",
			Column:  "salt",
			Partner: partnerOfNumber(key[0]),
			Row:     partnerOfNumber(key[0]),
		}
	}},
	{
		"partner_theme",
		"body",
		[]string{"partner_id"},
		func(key []any) seal.Place { return themePlace(partner.ID(partnerOfNumber(key[0]))) },
	},
	{"idempotency", "answer", []string{"partner_id", "claim"}, placeInPartner("idempotency", "answer")},
	{"event", "body", []string{"partner_id", "id"}, placeInPartner("event", "body")},
	{"endpoint", "url", []string{"partner_id", "id"}, placeInPartner("endpoint", "url")},
	{"endpoint", "keys", []string{"partner_id", "id"}, placeInPartner("endpoint", "keys")},
	{"attempt", "answer", []string{"partner_id", "endpoint_id", "seq", "at", "worker"}, func(key []any) seal.Place {
		return attemptPlace(
			partnerOfNumber(key[0]),
			formatKeyPart(key[1]),
			formatKeyPart(key[2]),
			formatKeyPart(key[3]),
			formatKeyPart(key[4]),
		)
	}},
	{"subscription", "body", []string{"partner_id", "seq", "cpf", "plan_id", "created_at"}, func(key []any) seal.Place {
		created, _ := key[4].(int64) // a column of numbers
		return subscriptionPlace(
			partner.ID(partnerOfNumber(key[0])),
			[]byte(formatKeyPart(key[2])),
			plan.ID(formatKeyPart(key[3])),
			created,
		)
	}},
	{"operator", "email", []string{"id"}, ofOperator("email")},
	{"operator", "password", []string{"id"}, ofOperator("password")},
	{"operator", "totp", []string{"id"}, ofOperator("totp")},
	{"operator_passkey", "credential", []string{"id", "operator_id"}, func(key []any) seal.Place {
		return passkeyPlace([]byte(formatKeyPart(key[0])), formatKeyPart(key[1]))
	}},
	{
		"operator_ceremony",
		"state",
		[]string{"digest"},
		func(key []any) seal.Place { return ceremonyPlace([]byte(formatKeyPart(key[0]))) },
	},
	{"operator", "recovery", []string{"id"}, ofOperator("recovery")},
	{
		"operator_filter",
		"content",
		[]string{"operator_id", "id"},
		func(key []any) seal.Place { return filterPlace(formatKeyPart(key[0]), formatKeyPart(key[1])) },
	},
	{
		"operator_export_part",
		"body",
		[]string{"export_id", "number"},
		func(key []any) seal.Place { return exportPlace(formatKeyPart(key[0]), formatKeyPart(key[1])) },
	},
	{
		"operator_session",
		"origin",
		[]string{"digest"},
		func(key []any) seal.Place { return sessionPlace([]byte(formatKeyPart(key[0]))) },
	},
	{"audit", "detail", []string{"seq"}, func(key []any) seal.Place {
		return seal.Place{Table: "audit", Column: "detail", Row: formatKeyPart(key[0])}
	}},
	{"epp_key", "details", []string{"partner_id", "id"}, placeInPartner("epp_key", "details")},
	{
		"epp_pool",
		"vendor_key",
		[]string{"id"},
		func(key []any) seal.Place { return poolKeyPlace(formatKeyPart(key[0])) },
	},
	{"support_case", "details", []string{"partner_id", "id", "service_id"}, func(key []any) seal.Place {
		return sealedCasePlace(
			partner.ID(partnerOfNumber(key[0])),
			cyber.CaseID(formatKeyPart(key[1])),
			cyber.ServiceID(formatKeyPart(key[2])),
		)
	}},
	{"case_move", "note", []string{"partner_id", "case_id", "number"}, func(key []any) seal.Place {
		return seal.Place{
			Table:   "case_move",
			Column:  "note",
			Partner: partnerOfNumber(key[0]),
			Row:     formatKeyPart(key[1]) + "/" + formatKeyPart(key[2]),
		}
	}},
	{"finding", "logins", []string{"partner_id", "id"}, placeInPartner("finding", "logins")},
	{"asset", "value", []string{"partner_id", "id"}, placeInPartner("asset", "value")},
	{"person_name", "name", []string{"partner_id", "user_index"}, placeInPartner("person_name", "name")},
	{"score_day", "sealed", []string{"partner_id", "user_index", "day"}, func(key []any) seal.Place {
		return seal.Place{
			Table:   "score_day",
			Column:  "sealed",
			Partner: partnerOfNumber(key[0]),
			Row:     formatKeyPart(key[1]) + "/" + formatKeyPart(key[2]),
		}
	}},
	{"content_answer", "value", []string{"partner_id", "user_index", "content_id"}, func(key []any) seal.Place {
		return seal.Place{
			Table:   "content_answer",
			Column:  "value",
			Partner: partnerOfNumber(key[0]),
			Row:     formatKeyPart(key[1]) + "/" + formatKeyPart(key[2]),
		}
	}},
	{"erasure", "trail", []string{"partner_id", "id"}, placeInPartner("erasure", "trail")},
	{"erasure_request", "request", []string{"partner_id", "id"}, placeInPartner("erasure_request", "request")},
	{
		"feed",
		"target",
		[]string{"name"},
		func(key []any) seal.Place { return sealedFeedPlace("target", formatKeyPart(key[0])) },
	},
	{
		"feed",
		"secret",
		[]string{"name"},
		func(key []any) seal.Place { return sealedFeedPlace("secret", formatKeyPart(key[0])) },
	},
}

// rowsAtOnce returns how many values of the column are read at once: five hundred parts of files would be hundreds of
// megabytes.
func (c sealedColumn) rowsAtOnce(most int) int {
	if c.table == "operator_export_part" {
		return min(most, partsAtOnce)
	}
	return most
}
