package message

import (
	"errors"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// The most that a channel takes, with every word at its longest: characters, of an SMS seven-bit ones.
const (
	maxSMS      = 160
	maxPush     = 240
	maxTitle    = 65
	maxSubject  = 150
	maxWhatsApp = 1024
	maxEmail    = 10_000
)

// braced is what stands in braces in a text, right or wrong.
var braced = regexp.MustCompile(`\{[^{}]*\}?|\}`)

// CheckTemplate refuses a text that names what it may not, has no text, or could become longer than its channel takes.
func (t Template) CheckTemplate() error {
	if err := t.Key.CheckKey(); err != nil {
		return err
	}
	hasSubject := strings.TrimSpace(t.Subject) != ""
	err := errors.Join(fault.When(t.Channel.hasTitle() && !hasSubject, ErrInvalid.With("subject", fault.SubjectNeeded)),
		fault.When(!t.Channel.hasTitle() && hasSubject, ErrInvalid.With("subject", fault.SubjectNotTaken)),
		fault.When(strings.TrimSpace(t.Text) == "" || !utf8.ValidString(t.Text) || !utf8.ValidString(t.Subject) || strings.ContainsAny(t.Subject, "\r\n"),
			ErrInvalid.With("text", fault.TextBroken)))
	if err != nil {
		return err
	}
	for _, found := range braced.FindAllString(t.Subject+"\n"+t.Text, -1) {
		if !slices.ContainsFunc(ListWords(t.Event), func(w Word) bool { return found == "{"+string(w)+"}" }) {
			return ErrInvalid.With("text", fault.WordsInBraces, joinWords(t.Event))
		}
	}
	return t.checkLength()
}

// checkLength holds a text, its words at their longest, against what its channel takes.
func (t Template) checkLength() error {
	full := map[Word]string{}
	for _, w := range ListWords(t.Event) {
		full[w] = strings.Repeat("x", longest[w])
	}
	subject, text := utf8.RuneCountInString(fillWords(t.Subject, full)), utf8.RuneCountInString(fillWords(t.Text, full))
	switch {
	case t.Channel == SMS && countSeptets(foldToGSM(fillWords(t.Text, full))) > maxSMS:
		return ErrInvalid.With("text", fault.SMSLength, maxSMS)
	case t.Channel == Push && (text > maxPush || subject > maxTitle):
		return ErrInvalid.With("text", fault.PushLength, maxTitle, maxPush)
	case t.Channel == WhatsApp && text > maxWhatsApp:
		return ErrInvalid.With("text", fault.WhatsAppLength, maxWhatsApp)
	case t.Channel == Email && (text > maxEmail || subject > maxSubject):
		return ErrInvalid.With("text", fault.EmailLength, maxSubject, maxEmail)
	}
	if t.Channel != WhatsApp {
		return nil
	}
	trimmed := strings.TrimSpace(t.Text)
	if strings.HasPrefix(trimmed, "{") || strings.HasSuffix(trimmed, "}") {
		return ErrInvalid.With("text", fault.WhatsAppEnds)
	}
	return nil
}

// fillWords puts values in the place of their words, in one pass: what a value holds is never filled again.
func fillWords(text string, values map[Word]string) string {
	return braced.ReplaceAllStringFunc(text, func(found string) string { return values[Word(strings.Trim(found, "{}"))] })
}

// renderMessage makes the message of a text.
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
		Name: "vigia_" + strings.ReplaceAll(string(t.Event), ".", "_"), Language: strings.ReplaceAll(string(t.Language), "-", "_"), Parameters: []string{},
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
	b.WriteString(`<!DOCTYPE html><html lang="` + string(m.Language) + `"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>` +
		html.EscapeString(m.Subject) + `</title></head><body style="margin:0;padding:24px;background:#ffffff;color:#1a1a1a;font:16px/1.5 sans-serif">` +
		`<div style="max-width:36rem;margin:0 auto"><h1 style="font-size:20px">` + html.EscapeString(m.Subject) + `</h1>`)
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
		Partner: "Banco Exemplo", Date: "", Count: "2", Breach: "Loja Exemplo", Kind: say.ofCode("email"), Severity: say.ofCode("high"), Status: say.ofCode("alerta"),
		Case: "0000a1b2", Hour: "", Rating: "5", System: "Android", Validity: "", Reason: say.ofCode("expired"), Plan: "Plano Ouro",
	}
	day := map[bool]string{true: "2026-12-24", false: "24/12/2026"}[l == partner.English]
	all[Date], all[Validity], all[Hour] = day, day, day+" 15:00"
	if strings.HasPrefix(string(t), "case.") {
		all[Status] = say.ofCode("Em andamento")
	}
	return all
}

// The alphabet of GSM 03.38: characters of one septet, and those of two. A text that leaves it is sent in 16 bits and
// has 70 characters, so messages are brought back into it.
const (
	basicGSM = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	twoGSM   = "^{}\\[~]|€"
)

// alike are characters that have a plain look-alike and no decomposition that leads to it.
var alike = strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'", "–", "-", "—", "-", "…", "...", "º", "o", "ª", "a", "\u00a0", " ", "•", "-")

// countSeptets returns how long a folded text is.
func countSeptets(text string) (n int) {
	for _, r := range text {
		n++
		if strings.ContainsRune(twoGSM, r) {
			n++
		}
	}
	return n
}

// foldToGSM writes a text in the alphabet: what has no letter there loses its accent, or becomes a question mark.
func foldToGSM(text string) string {
	var b strings.Builder
	for _, r := range alike.Replace(norm.NFC.String(text)) {
		if strings.ContainsRune(basicGSM, r) || strings.ContainsRune(twoGSM, r) {
			b.WriteRune(r)
			continue
		}
		first := []rune(norm.NFD.String(string(r)))[0]
		switch {
		case first < unicode.MaxASCII && strings.ContainsRune(basicGSM, first):
			b.WriteRune(first)
		case unicode.Is(unicode.Mn, r):
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// foldValue folds a value and leaves out what would take two septets, so that its length is that of its characters.
func foldValue(value string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(twoGSM, r) {
			return -1
		}
		return r
	}, foldToGSM(value))
}
