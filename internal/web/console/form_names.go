package console

import "strings"

// formFields are the names of form fields for what a refusal calls otherwise: commands and rules have words of their
// own.
var formFields = map[string][]string{
	"first looks":              {"first_looks_per_hour"},
	"benefit holder":           {"holder"},
	"content":                  {"yaml", "id"},
	"coverage":                 {"types"},
	"coverage carenciaDias":    {"waiting_days"},
	"coverage limiteCobertura": {"limit"},
	"coverage plano":           {"coverage_plan"},
	"coverage sublimites":      {"sub_limits"},
	"coverage texts":           {"conditions"},
	"coverage tipoCobertura":   {"types"},
	"deviceName":               {"name"},
	"every":                    {"minutes"},
	"expires":                  {"days"},
	"inputs":                   {"paths", "file"},
	"no_device, has_device":    {"no_device"},
	"intro, contact":           {"intro-pt-BR"},
	"logo":                     {"file"},
	"operatingSystem":          {"system"},
	"options":                  {"options", "option_a_value"},
	"overlap":                  {"hours"},
	"reason":                   {"reason", "resolution"},
	"scopes":                   {"scope"},
	"search":                   {"q"},
	"secret":                   {"key"},
	"site":                     {"sites", "watched_sites"},
	"slot":                     {"slots"},
	"status":                   {"to", "status"},
	"target":                   {"target", "hours"},
	"text":                     {"question", "text"},
	"userHash":                 {"user_hash"},
	"userhash":                 {"user_hash"},
	"window":                   {"from"},
}

// fieldsByCode are the fields of refusals that name none.
var fieldsByCode = map[string][]string{
	"asset.exists":              {"value"},
	"breach.exists":             {"name"},
	"breach.input":              {"paths", "file"},
	"code.wrong":                {"code"},
	"content.exists":            {"id", "yaml"},
	"content.invalid":           {"yaml", "body"},
	"feed.exists":               {"name"},
	"login.refused":             {"password"},
	"operator.exists":           {"email"},
	"operator_password.exposed": {"password"},
	"operator_password.invalid": {"password"},
	"passkey.name":              {"name"},
	"password.algorithm":        {"algorithm"},
	"password.bad_input":        {"paths", "file"},
	"password.mismatch":         {"again"},
	"plan.exists":               {"id"},
	"reason.missing":            {"reason"},
	"resolution.invalid":        {"resolution"},
	"subject.invalid":           {"cpf"},
	"subject.nobody":            {"cpf"},
	"subject.reason":            {"reason"},
	"subscription.selection":    {"holder"},
	"subscription.file":         {"file"},
	"upload.too_large":          {"file"},
	"partner.not_found":         {"partner"},
	"user_hash.invalid":         {"user_hash"},
}

// formNames returns the names that a form may have for the field of a refusal.
func formNames(field string) []string {
	if i := strings.LastIndex(field, ": "); i >= 0 { // a field inside another one
		field = field[i+2:]
	}
	if field == "" {
		return nil
	}
	if names, ok := formFields[field]; ok {
		return append([]string(nil), names...)
	}
	return []string{strings.ReplaceAll(strings.ReplaceAll(field, " ", "_"), "-", "_")}
}
