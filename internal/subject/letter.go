package subject

import (
	_ "embed"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
)

//go:embed letter.html
var letterPage string

// letterTemplate is one page without script or anything from elsewhere: it is sent on as a file, and printed from a browser
// it becomes a PDF.
var letterTemplate = template.Must(template.New("letter").Funcs(template.FuncMap{
	"day": letterDay, "moment": letterMoment, "kind": wordLookup(kindWords), "class": classWords, "severity": wordLookup(severityWords), "status": wordLookup(statusWords),
	"resolved": wordLookup(resolutionWords), "step": wordLookup(stepWords), "cpf": letterCPF, "event": wordLookup(eventWords), "system": wordLookup(systemWords), "watched": letterValue, "tenths": func(f float64) string { return strings.Replace(strconv.FormatFloat(f, 'f', 1, 64), ".", ",", 1) },
}).Parse(letterPage))

var (
	kindWords = map[string]string{
		"email": "e-mail", "cpf": "CPF", "phone": "telefone", "credit_card": "cartão", "pix_key": "chave Pix", "cnpj": "CNPJ", "domain": "domínio",
	}
	exposedWords = map[string]string{
		"email": "e-mail", "password": "senha", "password_hash": "senha cifrada", "cpf": "CPF", "phone": "telefone", "card": "cartão", "address": "endereço",
		"name": "nome", "birth_date": "data de nascimento", "document": "documento", "health": "dados de saúde", "financial": "dados financeiros",
		"cookies": "acessos gravados no navegador", "ip_address": "endereço IP", "username": "nome de usuário", "other": "outros dados",
	}
	systemWords = map[string]string{"android": "Android", "ios": "iPhone ou iPad", "windows": "Windows", "macos": "macOS"}
	eventWords  = map[string]string{
		"monitoring.leak_detected": "um dado seu apareceu em um vazamento", "monitoring.status_changed": "a situação de um dado seu mudou",
		"finding.step_due": "um passo do seu plano está perto do prazo", "case.status_changed": "a situação de um atendimento seu mudou",
		"case.message_added": "houve uma mensagem em um atendimento seu", "case.appointment_changed": "o horário de um atendimento seu mudou",
		"case.rated": "você avaliou um atendimento", "epp.key_expiring": "uma chave do antivírus está perto do fim", "epp.key_activated": "uma chave do antivírus foi ativada",
		"epp.key_ended": "uma chave do antivírus acabou", "subscription.ended": "a sua assinatura foi encerrada", "subscription.suspended": "a sua assinatura foi suspensa",
		"subscription.resumed": "a sua assinatura foi retomada",
	}
	severityWords   = map[string]string{"low": "baixa", "medium": "média", "high": "alta", "critical": "crítica"}
	statusWords     = map[string]string{"monitorado": "sem ocorrências", "alerta": "em alerta", "comprometido": "comprometido"}
	resolutionWords = map[string]string{
		"password_changed": "a senha foi trocada", "account_closed": "a conta foi encerrada", "card_replaced": "o cartão foi trocado", "not_me": "não era da pessoa",
		"other": "outro motivo", "retracted": "o vazamento foi retirado",
	}
)

// wordLookup says a name of ours in words; one that has none stays as it is.
func wordLookup(words map[string]string) func(string) string {
	return func(name string) string {
		if word, ok := words[name]; ok {
			return word
		}
		return name
	}
}

// classWords returns the names of classes of data in Portuguese, as a list in a sentence.
func classWords(names []string) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = wordLookup(exposedWords)(n)
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
