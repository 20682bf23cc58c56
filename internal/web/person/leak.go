package person

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
)

// valueView is a value that is watched for a person, masked so that its owner knows it.
type valueView struct {
	Icon, Kind, Masked string
	Status             cyber.Status
	// Unlooked says that nothing can be said of it yet, and AddedAt since when.
	Unlooked bool
	AddedAt  time.Time
}

// leakView is one breach with all that it held of a person.
type leakView struct {
	// ID is one of its findings: forms and anchors name the leak by it.
	ID, Title string
	// Story is what happened, in the operator's words.
	Story       string
	Date, Found time.Time
	Severity    cyber.Severity
	Mine        []valueView
	// Exposed are the other classes that leaked, Safe those that matter most and did not.
	Exposed, Safe []string
	// Certain says that this was in the person's own record, and not only in the leak as a whole.
	Certain    bool
	Done, All  int
	Open       bool
	Resolution cyber.Resolution
	ResolvedAt time.Time
}

// Held returns what leaked, in words for the middle of a sentence, each once.
func (l leakView) Held() []string {
	var words []string
	add := func(label string) {
		if first, size := utf8.DecodeRuneInString(label); label != strings.ToUpper(label) { // CPF stays as it is
			label = string(unicode.ToLower(first)) + label[size:]
		}
		if !slices.Contains(words, label) {
			words = append(words, label)
		}
	}
	for _, value := range l.Mine {
		add(value.Kind)
	}
	for _, label := range l.Exposed {
		add(label)
	}
	return words
}

// clean are the classes whose absence is good news.
var clean = []cyber.Exposed{
	cyber.ExposedPassword,
	cyber.ExposedCard,
	cyber.ExposedDocument,
	cyber.ExposedCPF,
	cyber.ExposedFinancial,
	cyber.ExposedHealth,
	cyber.ExposedAddress,
	cyber.ExposedPhone,
}

// classOf is the class that a watched value is of: where the value itself is shown its class need not be named.
var classOf = map[identifier.Kind]cyber.Exposed{
	identifier.Email: cyber.ExposedEmail,
	identifier.CPF:   cyber.ExposedCPF,
	identifier.Phone: cyber.ExposedPhone,
	identifier.Card:  cyber.ExposedCard,
}

// kindIcons are the pictures beside values.
var kindIcons = map[identifier.Kind]string{
	identifier.Email:  "mail",
	identifier.CPF:    "id",
	identifier.Phone:  "phone",
	identifier.Card:   "card",
	identifier.Domain: "mail",
	identifier.PixKey: "key",
	identifier.CNPJ:   "id",
}

// newLeakView puts the findings of one breach together. While one of them is open, the leak is.
func newLeakView(v visitor, group []cyber.Plan, values map[cyber.AssetID]valueView) leakView {
	l := leakView{Certain: true}
	exposed, shown := map[cyber.Exposed]bool{}, map[valueView]bool{}
	steps := map[cyber.StepID]cyber.StepState{}
	for _, plan := range group {
		f := plan.Finding
		// An open finding stands for the leak before a resolved one, so that links lead to where something is left to
		// do.
		if l.ID == "" || f.Open() && !l.Open {
			l.ID = string(f.ID)
			l.Title = f.Breach.Title
			l.Story = f.Breach.Description
			l.Date = f.Breach.Date
			l.Severity = f.Severity
			l.Resolution = f.Resolution
			l.ResolvedAt = f.ResolvedAt
		}
		if severityRank(f.Severity) > severityRank(l.Severity) {
			l.Severity = f.Severity
		}
		if l.Found.IsZero() || f.FoundAt.Before(l.Found) {
			l.Found = f.FoundAt
		}
		l.Open = l.Open || f.Open()
		l.Certain = l.Certain && f.Basis() == cyber.BasisRow
		for _, e := range f.Breach.Exposes {
			exposed[e] = true
		}
		if value, ok := values[f.Asset]; ok && !shown[value] {
			shown[value] = true
			l.Mine = append(l.Mine, value)
		}
		for _, s := range plan.Steps {
			// A step that several findings share is done only when it is done for each of them.
			if before, known := steps[s.ID]; !known || before == cyber.StepDone || s.State == cyber.StepTodo {
				steps[s.ID] = s.State
			}
		}
	}
	// The person's own values are listed in Mine; Exposed names what else leaked beside them.
	for _, plan := range group {
		delete(exposed, classOf[plan.Finding.Kind])
	}
	for _, e := range cyber.AllExposed() {
		if exposed[e] {
			l.Exposed = append(l.Exposed, v.sentence("exposed."+string(e)))
		}
	}
	for _, e := range clean {
		if !exposed[e] &&
			!slices.ContainsFunc(group, func(p cyber.Plan) bool { return classOf[p.Finding.Kind] == e }) &&
			len(l.Safe) < 4 {
			l.Safe = append(l.Safe, v.sentence("exposed."+string(e)))
		}
	}
	for _, state := range steps {
		if state == cyber.StepSkipped {
			continue // it does not apply
		}
		if l.All++; state == cyber.StepDone {
			l.Done++
		}
	}
	return l
}

// severityRank orders severities: the graver the larger.
func severityRank(s cyber.Severity) int { return slices.Index(cyber.Severities(), s) }

// resolveLeak closes all that a breach held of the person: they dealt with the breach, not with one line of it.
func resolveLeak(p *Pages, r *request) (answer, error) {
	findings, err := p.Rules.Monitoring.ListFindings(r.Context(), r.who.ID, r.session.User)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(findings, func(f cyber.Finding) bool { return string(f.ID) == r.PathValue("id") })
	if at < 0 {
		return nil, cyber.ErrFindingNotFound
	}
	for _, f := range findings {
		if f.Breach.Name != findings[at].Breach.Name || !f.Open() && f.ID != findings[at].ID {
			continue
		}
		reason := r.trimmedField("reason")
		err := p.Rules.Monitoring.ResolveFinding(r.Context(), r.who.ID, r.session.User, f.ID, reason)
		if err != nil {
			return nil, err
		}
	}
	return redirect{"/p/leaks", "resolved"}, nil
}
