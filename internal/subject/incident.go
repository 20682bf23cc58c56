package subject

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Incident is what a report is about: a breach, or a window of time.
type Incident struct {
	Breach   string
	From, To time.Time
	// Partner narrows the report; empty means all.
	Partner partner.ID
}

// checkIncident refuses an incident without a breach or with a window that ends before it begins.
func (i Incident) checkIncident() error {
	switch {
	case (i.Breach == "") == i.From.IsZero():
		return ErrInvalid.With("breach", fault.BreachOrWindow)
	case i.Breach == "" && !i.From.Before(i.To):
		return ErrInvalid.With("to", fault.WindowReversed)
	}
	return nil
}

// Affected is a person of an incident.
type Affected struct {
	Partner partner.ID
	// User is the person as the partner names them.
	User partner.UserHash
	// Kinds counts the person's affected values by what they are.
	Kinds    map[identifier.Kind]int
	Breaches []string
	First    time.Time
	Last     time.Time
	// Values are the values in clear; the report leaves them out unless they were asked for with a reason.
	Values []string
}

// Showing counts lines of the audit trail.
type Showing struct {
	Actor, Action string
	Count         int64
}

// Report lists the people that an incident affects.
type Report struct {
	People   int
	Findings int
	// Partners counts people by partner, in the order of the list.
	Partners []PartnerCount
	Kinds    map[identifier.Kind]int
	// List is every person; it may be left out of what is shown.
	List []Affected
	// Showings are who saw or changed personal data in the window; for a report by time.
	Showings []Showing
	// Deadline is when the authority and the people have to be told if this is an incident of the service itself: three
	// working days from when it was known, local holidays not counted.
	Deadline time.Time
}

// PartnerCount is how many people of a partner are affected.
type PartnerCount struct {
	Partner partner.ID
	People  int
}

// ReportIncident finds the people that an incident affects. With a reason it shows their values in clear, and each
// person's line in the audit trail is written first.
func (d *Rights) ReportIncident(
	ctx context.Context,
	who operator.Actor,
	of Incident,
	known time.Time,
	reveal bool,
	reason string,
) (Report, error) {
	r := Report{Kinds: map[identifier.Kind]int{}}
	if err := of.checkIncident(); err != nil {
		return r, err
	}
	if reveal && reason == "" {
		return r, ErrNoReason.With("reason", fault.RevealReason)
	}
	err := d.store.Affected(ctx, of, func(a Affected) error {
		if n := len(r.Partners); n == 0 || r.Partners[n-1].Partner != a.Partner {
			r.Partners = append(r.Partners, PartnerCount{Partner: a.Partner})
		}
		r.Partners[len(r.Partners)-1].People++
		r.People++
		for k, n := range a.Kinds {
			r.Kinds[k] += n
			r.Findings += n
		}
		if !reveal {
			a.Values = nil
		}
		r.List = append(r.List, a)
		return nil
	})
	if err != nil {
		return r, fmt.Errorf("find the affected: %w", err)
	}
	if reveal {
		if err := d.recordReveals(ctx, who, r.List, reason); err != nil {
			return r, err
		}
	}
	if of.Breach == "" {
		if r.Showings, err = d.store.Showings(ctx, of.From, of.To); err != nil {
			return r, fmt.Errorf("read the audit trail: %w", err)
		}
	}
	r.Deadline = NoticeDeadline(known)
	return r, nil
}

// recordBatch is how many lines of the audit trail share a transaction.
const recordBatch = 200

// recordReveals writes a line to the audit trail for each person whose values are about to be shown, in batches.
func (d *Rights) recordReveals(ctx context.Context, who operator.Actor, list []Affected, reason string) error {
	for part := range slices.Chunk(list, recordBatch) {
		refs := make([]string, len(part))
		for i, a := range part {
			refs[i] = d.store.PersonReference(Person{User: a.User, Partner: a.Partner})
		}
		if err := d.trail.RecordAll(ctx, who, "subject.reveal", refs, reason); err != nil {
			return err
		}
	}
	return nil
}

// NoticeDeadline returns until when the authority and the people have to be told of an incident: see Report.Deadline.
func NoticeDeadline(known time.Time) time.Time { return addWorkingDays(known, 3) }

// addWorkingDays counts Monday to Friday; the day itself does not count.
func addWorkingDays(t time.Time, days int) time.Time {
	for days > 0 {
		if t = t.AddDate(0, 0, 1); t.Weekday() != time.Saturday && t.Weekday() != time.Sunday {
			days--
		}
	}
	return t
}

//go:embed letter.html
var letterPage string

// letterTemplate is one page without script or anything from elsewhere: it is sent on as a file, and printed from a
// browser it becomes a PDF.
var letterTemplate = template.Must(template.New("letter").Funcs(template.FuncMap{
	"day":      letterDay,
	"moment":   letterMoment,
	"kind":     wordLookup(kindWords),
	"class":    classWords,
	"severity": wordLookup(severityWords),
	"status":   wordLookup(statusWords),
	"resolved": wordLookup(resolutionWords),
	"step":     wordLookup(stepWords),
	"cpf":      letterCPF,
	"event":    wordLookup(eventWords),
	"system":   wordLookup(systemWords),
	"watched":  letterValue,
	"tenths":   func(f float64) string { return strings.Replace(strconv.FormatFloat(f, 'f', 1, 64), ".", ",", 1) },
}).Parse(letterPage))

// The words of the letter for kinds and classes of data.
var (
	kindWords = map[string]string{
		"email":       "e-mail",
		"cpf":         "CPF",
		"phone":       "telefone",
		"credit_card": "cartão",
		"pix_key":     "chave Pix",
		"cnpj":        "CNPJ",
		"domain":      "domínio",
	}
	exposedWords = map[string]string{
		"email":         "e-mail",
		"password":      "senha",
		"password_hash": "senha cifrada",
		"cpf":           "CPF",
		"phone":         "telefone",
		"card":          "cartão",
		"address":       "endereço",
		"name":          "nome",
		"birth_date":    "data de nascimento",
		"document":      "documento",
		"health":        "dados de saúde",
		"financial":     "dados financeiros",
		"cookies":       "acessos gravados no navegador",
		"ip_address":    "endereço IP",
		"username":      "nome de usuário",
		"other":         "outros dados",
	}
	systemWords = map[string]string{
		"android": "Android",
		"ios":     "iPhone ou iPad",
		"windows": "Windows",
		"macos":   "macOS",
	}
	eventWords = map[string]string{
		"monitoring.leak_detected":  "um dado seu apareceu em um vazamento",
		"monitoring.status_changed": "a situação de um dado seu mudou",
		"finding.step_due":          "um passo do seu plano está perto do prazo",
		"case.status_changed":       "a situação de um atendimento seu mudou",
		"case.message_added":        "houve uma mensagem em um atendimento seu",
		"case.appointment_changed":  "o horário de um atendimento seu mudou",
		"case.rated":                "você avaliou um atendimento",
		"epp.key_expiring":          "uma chave do antivírus está perto do fim",
		"epp.key_activated":         "uma chave do antivírus foi ativada",
		"epp.key_ended":             "uma chave do antivírus acabou",
		"subscription.ended":        "a sua assinatura foi encerrada",
		"subscription.suspended":    "a sua assinatura foi suspensa",
		"subscription.resumed":      "a sua assinatura foi retomada",
		"erasure.requested":         "o apagamento dos seus dados foi pedido",
		"erasure.cancelled":         "o apagamento dos seus dados foi cancelado",
	}
	severityWords = map[string]string{"low": "baixa", "medium": "média", "high": "alta", "critical": "crítica"}
	statusWords   = map[string]string{
		"monitorado":   "sem ocorrências",
		"alerta":       "em alerta",
		"comprometido": "comprometido",
		statusUnlooked: "ainda não verificado",
	}
	resolutionWords = map[string]string{
		"password_changed": "a senha foi trocada",
		"account_closed":   "a conta foi encerrada",
		"card_replaced":    "o cartão foi trocado",
		"not_me":           "não era da pessoa",
		"other":            "outro motivo",
		"retracted":        "o vazamento foi retirado",
	}
)

// wordLookup says a name of ours in words; one that has none stays as it is.
func wordLookup(words map[string]string) func(string) string {
	return func(name string) string { return cmp.Or(words[name], name) }
}

// classWords returns the names of classes of data in Portuguese, as a list in a sentence.
func classWords(names []string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = cmp.Or(exposedWords[name], name)
	}
	return strings.Join(words, ", ")
}

// letterDay and letterMoment write what the statement has as dates and times of machines.
func letterDay(text string) string {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.Format("02/01/2006")
	}
	return text
}

// letterMoment returns a time in Brasília as Brazilians write it; a text that is no time stays as it is.
func letterMoment(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return t.UTC().Add(operator.Brasilia).Format("02/01/2006 15:04")
}

// letterCPF returns a CPF with its dots and dash; a text that is no CPF stays as it is.
func letterCPF(text string) string {
	digits, err := identifier.ParseCPF(text, identifier.Waived)
	if err != nil {
		return text
	}
	return identifier.FormatCPF(digits)
}

// letterValue writes a watched value as people do.
func letterValue(kind, value string) string {
	if kind == identifier.CPF.String() {
		return letterCPF(value)
	}
	return value
}

// letter is what the page is made of.
type letter struct {
	Name string
	Date string
	Held []heldView
}

// WriteLetter writes the statement as a letter to the person: a page of HTML to be read, printed or kept as PDF.
func WriteLetter(w io.Writer, all []Held, now time.Time) error {
	l := letter{Date: now.UTC().Add(operator.Brasilia).Format("02/01/2006"), Held: statementOf(all)}
	for _, v := range l.Held {
		for _, s := range v.Subscriptions {
			if s.Name != "" {
				l.Name = s.Name
			}
		}
	}
	return letterTemplate.Execute(w, l)
}
