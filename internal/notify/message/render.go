package message

import (
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
)

// fillWords puts values in the place of their words, in one pass: what a value holds is never filled again.
func fillWords(text string, values map[Word]string) string {
	return braced.ReplaceAllStringFunc(
		text,
		func(found string) string { return values[Word(strings.Trim(found, "{}"))] },
	)
}

func (t Template) renderMessage(values map[Word]string) Message {
	m := Message{Key: t.Key, Subject: fillWords(t.Subject, values), Text: fillWords(t.Text, values)}
	switch t.Channel {
	case SMS:
		plain := make(map[Word]string, len(values))
		for w, v := range values {
			plain[w] = truncateText(foldValue(v), longest[w])
		}
		m.Text = foldToGSM(fillWords(t.Text, plain))
	case Email:
		m.HTML = renderEmail(m)
	case WhatsApp:
		m.Template = t.registered(values)
	case Push:
	}
	return m
}

// registered numbers the words of a text in the order in which they first appear, as Meta wants them.
func (t Template) registered(values map[Word]string) *Registered {
	numbers := map[string]string{}
	r := &Registered{
		Name:       "vigia_" + strings.ReplaceAll(string(t.Event), ".", "_"),
		Language:   strings.ReplaceAll(string(t.Language), "-", "_"),
		Parameters: []string{},
	}
	r.Body = braced.ReplaceAllStringFunc(t.Text, func(found string) string {
		if numbers[found] == "" {
			r.Parameters = append(r.Parameters, values[Word(strings.Trim(found, "{}"))])
			numbers[found] = "{{" + strconv.Itoa(len(r.Parameters)) + "}}"
		}
		return numbers[found]
	})
	return r
}

// link is an address in a text; values have none left.
var link = regexp.MustCompile(`https://[^\s<>"']+[^\s<>"'.,;:!?)]`)

// renderEmail returns the HTML of an e-mail: one column, system fonts, no picture and nothing that is fetched.
func renderEmail(m Message) string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="` + string(m.Language) + `"><head><meta charset="utf-8">` +
		`<meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<title>` + html.EscapeString(m.Subject) + `</title></head>` +
		`<body style="margin:0;padding:24px;background:#ffffff;color:#1a1a1a;font:16px/1.5 sans-serif">` +
		`<div style="max-width:36rem;margin:0 auto">` +
		`<h1 style="font-size:20px">` + html.EscapeString(m.Subject) + `</h1>`)
	for _, paragraph := range strings.Split(strings.ReplaceAll(m.Text, "\r\n", "\n"), "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph == "" {
			continue
		}
		text := link.ReplaceAllStringFunc(html.EscapeString(paragraph), func(address string) string {
			return `<a href="` + address + `">` + address + `</a>`
		})
		b.WriteString("<p>" + strings.ReplaceAll(text, "\n", "<br>") + "</p>")
	}
	b.WriteString("</div></body></html>")
	return b.String()
}

// sampleValues are values that show what a text looks like.
func sampleValues(t alert.Type, l partner.Language) map[Word]string {
	say := phrases[l]
	all := map[Word]string{
		Partner:  "Banco Exemplo",
		Date:     "",
		Count:    "2",
		Breach:   "Loja Exemplo",
		Kind:     say.ofCode("email"),
		Severity: say.ofCode("high"),
		Status:   say.ofCode("alerta"),
		Case:     "0000a1b2",
		Hour:     "",
		Rating:   "5",
		System:   "Android",
		Validity: "",
		Reason:   say.ofCode("expired"),
		Plan:     "Plano Ouro",
	}
	day := map[bool]string{true: "2026-12-24", false: "24/12/2026"}[l == partner.English]
	all[Date], all[Validity], all[Hour] = day, day, day+" 15:00"
	if strings.HasPrefix(string(t), "case.") {
		all[Status] = say.ofCode("Em andamento")
	}
	return all
}
