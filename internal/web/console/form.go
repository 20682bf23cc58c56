package console

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
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
