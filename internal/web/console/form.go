package console

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Templates write forms through the methods in this file. A form begins with Post, which compares its address to the
// one that was refused; the fields that follow then hold what was sent, and each problem stands beside its field.

// refusal is one thing that is wrong with a form.
type refusal struct {
	// names are what the field may be called, at is the one that the page has; empty while none of them was rendered.
	names []string
	text  string
	at    string
}

// refuseForm keeps what is wrong with the form that was sent, for the fields that are rendered next.
func (f *frame) refuseForm(err error) {
	for i, one := range faultsIn(err) {
		s := sentenceOf(one)
		if i == 0 {
			f.Problem = s.Text
		}
		again := func(r refusal) bool { return len(s.Fields) > 0 && slices.Contains(r.names, s.Fields[0]) }
		if (s.Detail != "" || len(s.Fields) > 0) && !slices.ContainsFunc(f.refusals, again) {
			f.refusals = append(f.refusals, refusal{names: s.Fields, text: s.brokenRule()})
		}
	}
}

// faultsIn returns every fault that an error holds: a form that breaks several rules has one for each.
func faultsIn(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var list []error
	for _, one := range joined.Unwrap() {
		list = append(list, faultsIn(one)...)
	}
	return list
}

// Unplaced returns what is wrong and stands beside no field of the page.
func (f *frame) Unplaced() (texts []string) {
	for _, r := range f.refusals {
		if r.at == "" && r.text != f.Problem {
			texts = append(texts, r.text)
		}
	}
	return texts
}

// isRefused reports whether a form that sends to one of the addresses was refused.
func (f *frame) isRefused(actions []string) bool {
	return f.Problem != "" && slices.ContainsFunc(actions, func(action string) bool {
		u, err := url.Parse(action)
		return err == nil && u.Path == f.Path
	})
}

// Post begins a form: it returns the attributes of its tag. Further addresses are those of its other buttons.
func (f *frame) Post(action string, others ...string) template.HTMLAttr {
	f.refused = f.isRefused(append(others, action))
	return attribute("method", "post") + attribute("action", action)
}

// Unfold opens what is folded around or inside a form that was refused.
func (f *frame) Unfold(actions ...string) template.HTMLAttr {
	if f.isRefused(actions) {
		return "open"
	}
	return ""
}

// attribute writes an attribute of a tag.
func attribute(name, value string) template.HTMLAttr {
	text := name + `="` + template.HTMLEscapeString(value) + `" `
	return template.HTMLAttr(text) //nolint:gosec // the value is escaped, the name ours
}

// flagAttribute writes an attribute without a value where it holds.
func flagAttribute(name string, holds bool) template.HTMLAttr {
	if holds {
		return template.HTMLAttr(name) //nolint:gosec // our own names
	}
	return ""
}

// refusalOf returns what is wrong with a field of the form; nil when nothing is.
func (f *frame) refusalOf(name string) *refusal {
	for i := range f.refusals {
		if r := &f.refusals[i]; f.refused && (r.at == name || r.at == "" && slices.Contains(r.names, name)) {
			r.at = name
			return r
		}
	}
	return nil
}

// Named returns the attributes of a field without its value. The first one that was refused has the focus.
func (f *frame) Named(name string) template.HTMLAttr {
	attributes := attribute("name", name)
	if f.refusalOf(name) != nil {
		attributes += attribute("aria-invalid", "true")
		attributes += attribute("aria-describedby", "erro-"+name)
		attributes += flagAttribute("autofocus ", !f.focused)
		f.focused = true
	}
	return attributes
}

// Field returns the attributes of a field with what was sent, or else with what stands there now.
func (f *frame) Field(name string, now any) template.HTMLAttr {
	return f.Named(name) + attribute("value", f.Old(name, now))
}

// Pick returns the attributes of a check box or of one of several choices.
func (f *frame) Pick(name string, value any, now bool) template.HTMLAttr {
	picked := f.isPicked(name, value, now, len(f.Form) > 0)
	return f.Named(name) + attribute("value", fmt.Sprint(value)) + flagAttribute("checked", picked)
}

// Option returns the attributes of an entry of a list.
func (f *frame) Option(name string, value any, now bool) template.HTMLAttr {
	picked := f.isPicked(name, value, now, f.Form.Has(name))
	return attribute("value", fmt.Sprint(value)) + flagAttribute("selected", picked)
}

// isPicked reports whether a value was sent with the refused form, or else whether it is chosen now.
func (f *frame) isPicked(name string, value any, now, sent bool) bool {
	if f.refused && sent {
		return slices.Contains(f.Form[name], fmt.Sprint(value))
	}
	return now
}

// Old is what was filled into a form that was refused, or else what stands there now.
func (f *frame) Old(name string, now any) string {
	if f.refused && f.Form.Has(name) {
		return f.Form.Get(name)
	}
	return fmt.Sprint(now)
}

// Wrong returns the sentence beside a field that was refused, which Named ties to it.
func (f *frame) Wrong(name string) template.HTML {
	r := f.refusalOf(name)
	if r == nil {
		return ""
	}
	id, text := template.HTMLEscapeString("erro-"+name), template.HTMLEscapeString(r.text)
	return template.HTML(`<span class="field-error" id="` + id + `">` + text + `</span>`) //nolint:gosec // escaped
}

// Focus gives a field the focus on a page that tells of no problem.
func (f *frame) Focus() template.HTMLAttr { return flagAttribute("autofocus", f.Problem == "") }

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

// What people type, as they write it in Brazil: R$ 50.000,00, 24/12/2026 15:00, 1.000, 1,5. The forms that browsers
// send by themselves (2026-12-24, 2026-12-24T15:00) are read too. Every page reads amounts, days and numbers with these
// functions and writes them with those of page.go.

// parseReais reads 50000, 50.000, 50.000,50 and R$ 50.000,50.
func parseReais(field, text string) (plan.Money, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\u00a0", " "))
	text = strings.TrimSpace(strings.TrimPrefix(text, "R$"))
	whole, cents, _ := strings.Cut(strings.ReplaceAll(text, ".", ""), ",")
	if len(cents) == 1 {
		cents += "0"
	}
	if cents == "" {
		cents = "00"
	}
	n, err := strconv.ParseUint(whole, 10, 64)
	c, cerr := strconv.ParseUint(cents, 10, 64)
	if err != nil || cerr != nil || n > 1_000_000_000_000 || len(cents) != 2 {
		return 0, plan.ErrInvalid.With(field, fault.AmountFormat)
	}
	return plan.Money(n*100 + c), nil
}

// parseWhole reads a whole number, with or without dots between the thousands.
func parseWhole(text string) (int, bool) {
	plain := strings.ReplaceAll(text, ".", "")
	n, err := strconv.Atoi(plain)
	return n, err == nil && (plain == text || groupedNumber(int64(n)) == text)
}

// parseDayField reads 24/12/2026 and 2026-12-24 as the midnight of that day, UTC.
func parseDayField(field, text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	var wrong *time.ParseError
	for _, layout := range []string{"2/1/2006", time.DateOnly} {
		t, err := time.Parse(layout, text)
		if err == nil {
			return t, nil
		}
		if errors.As(err, &wrong) && strings.HasSuffix(wrong.Message, "out of range") {
			return time.Time{}, errForm.With(field, fault.NoSuchDay)
		}
	}
	return time.Time{}, errForm.With(field, fault.DateFormat)
}

// parseMoment reads 24/12/2026 15:00, and what a browser sends, by the clock of Brasília; a day alone is its first
// minute.
func parseMoment(field, text string) (time.Time, error) {
	text = strings.Join(strings.Fields(text), " ")
	for _, layout := range []string{"2/1/2006 15:04", "2/1/2006 15h04", "2/1/2006", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, brazil); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errForm.With(field, fault.MomentFormat)
}

// plainCNPJ takes the punctuation out of a CNPJ; what is none stays as it is, for the rule to refuse.
func plainCNPJ(text string) string {
	if cnpj, err := identifier.ParseWrittenCNPJ(text, identifier.Waived); err == nil {
		return cnpj
	}
	return text
}

// formReader reads the fields of a form and collects what is wrong with them, so that the operator is told all of it at
// once. A handler reads all fields and returns Err, or what a rule found wrong together with it.
type formReader struct {
	*request
	faults []error
}

func newFormReader(r *request) *formReader { return &formReader{request: r} }

// noteFault adds to what is wrong with the form; nil adds nothing.
func (f *formReader) noteFault(err error) {
	if err != nil {
		f.faults = append(f.faults, err)
	}
}

// err returns all that is wrong with the form; nil when nothing is.
func (f *formReader) err() error { return errors.Join(f.faults...) }

// joinFaults returns what a rule found wrong together with what is wrong with the form; nil when neither is.
func (f *formReader) joinFaults(ruleErr error) error { return errors.Join(f.err(), ruleErr) }

// readNumber returns a field that holds a whole number; an empty field is none.
func (f *formReader) readNumber(name string, none int) int {
	text := f.trimmedField(name)
	if text == "" {
		return none
	}
	n, ok := parseWhole(text)
	if !ok || n < 0 {
		f.noteFault(errForm.With(name, fault.WholeNumber))
	}
	return n
}

// readMoment returns a field of a date and a time; the empty field is the zero time.
func (f *formReader) readMoment(name string) time.Time {
	text := strings.TrimSpace(f.FormValue(name))
	if text == "" {
		return time.Time{}
	}
	t, err := parseMoment(name, text)
	f.noteFault(err)
	return t
}
