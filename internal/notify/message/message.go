// Package message makes what a person reads of an event: e-mail, SMS, WhatsApp and push, in three languages.
//
// A text is this program's, the operator's for everybody, or the operator's for one partner; the most particular one
// counts. It may name nothing but a short list of words, none of which can hold a personal value: the event itself has
// none. Whatever else comes from outside, such as the title of a breach, is cut to a length and made inert, so that no
// value can add a link, a line or markup.
package message

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the texts that this program brings
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"golang.org/x/text/unicode/norm"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Channel is how a message reaches its person.
type Channel string

// The channels.
const (
	Email    Channel = "email"
	SMS      Channel = "sms"
	WhatsApp Channel = "whatsapp"
	Push     Channel = "push"
)

func ListChannels() []Channel { return []Channel{Email, SMS, WhatsApp, Push} }

// ParseChannel reads the word of a request.
func ParseChannel(s string) (Channel, error) {
	if c := Channel(s); slices.Contains(ListChannels(), c) {
		return c, nil
	}
	return "", ErrChannel.With("channel", fault.OneOf, "email, sms, whatsapp, push")
}

// hasTitle reports whether messages of the channel have a subject or title.
func (c Channel) hasTitle() bool { return c == Email || c == Push }

// Faults of messages.
var (
	ErrChannel = fault.New(fault.Invalid, "message.channel_invalid")
	// ErrNone means that there is no message for such an event.
	ErrNone = fault.New(fault.NotFound, "message.none")
	// ErrInvalid is an operator's mistake in a text.
	ErrInvalid = fault.New(fault.Invalid, "message.invalid")
	// ErrUnchanged means that there is nothing to take back.
	ErrUnchanged = fault.New(fault.NotFound, "message.unchanged")
)

// Key names a text.
type Key struct {
	Event    alert.Type
	Channel  Channel
	Language partner.Language
}

// CheckKey refuses a text that there cannot be.
func (k Key) CheckKey() error {
	if !slices.Contains(ListEventTypes(), k.Event) {
		return ErrInvalid.With("event", fault.NoMessageTells)
	}
	if _, err := ParseChannel(string(k.Channel)); err != nil {
		return err
	}
	if k.Language == "" {
		return partner.ErrLanguage.With("lang", fault.OneOf, "pt-BR, es, en")
	}
	_, err := partner.ParseLanguage(string(k.Language))
	return err
}

// ListEventTypes returns the types of events that people are told of: all but the test of an endpoint.
func ListEventTypes() []alert.Type {
	return slices.DeleteFunc(slices.Clone(alert.Types), func(t alert.Type) bool { return t == alert.WebhookTest })
}

// ListKeys returns all texts there are.
func ListKeys() (list []Key) {
	for _, event := range ListEventTypes() {
		for _, channel := range ListChannels() {
			for _, language := range partner.ListLanguages() {
				list = append(list, Key{event, channel, language})
			}
		}
	}
	return list
}

// Template is a text before its words are filled in.
type Template struct {
	Key
	// Subject is that of an e-mail and the title of a push; the other channels have none.
	Subject, Text string
	// Origin is whose text it is.
	Origin Origin
}

// Origin is who wrote a text.
type Origin string

// The origins.
const (
	BuiltIn    Origin = "built-in"
	ByOperator Origin = "operator"
	ForPartner Origin = "partner"
)

// Message is what is sent.
type Message struct {
	Key
	Subject, Text string
	// HTML is the text of an e-mail once more.
	HTML string
	// Template is what a WhatsApp message is sent by.
	Template *Registered
}

// Registered is a WhatsApp template as it is registered at Meta, and what fills it.
type Registered struct {
	Name, Language, Body string
	Parameters           []string
}

//go:embed builtin.yaml
var builtinFile []byte

// builtinText is what the file says of an event in one language: a title, a short text for SMS and push, a long one for
// e-mail and WhatsApp.
type builtinText struct {
	Title string `yaml:"title"`
	Short string `yaml:"short"`
	Long  string `yaml:"long"`
}

// anyEvent is the text of a type that has none of its own.
const anyEvent alert.Type = "any"

var builtin = sync.OnceValues(func() (map[alert.Type]map[partner.Language]builtinText, error) {
	var texts map[alert.Type]map[partner.Language]builtinText
	if err := yaml.NewDecoder(bytes.NewReader(builtinFile), yaml.Strict()).Decode(&texts); err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	return texts, nil
})

// builtinTemplate returns the text that this program brings.
func builtinTemplate(k Key) (Template, error) {
	texts, err := builtin()
	if err != nil {
		return Template{}, err
	}
	said, ok := texts[k.Event][k.Language]
	if !ok {
		said = texts[anyEvent][k.Language]
	}
	t := Template{Key: k, Text: said.Long, Origin: BuiltIn}
	if k.Channel == SMS || k.Channel == Push {
		t.Text = said.Short
	}
	if k.Channel.hasTitle() {
		t.Subject = said.Title
	}
	return t, nil
}

// Store keeps the operator's texts. An empty partner stands for all partners.
type Store interface {
	ListTemplates(ctx context.Context, id partner.ID) ([]Template, error)
	KeepTemplate(ctx context.Context, id partner.ID, t Template) error
	// DropTemplate forgets one; ErrUnchanged when there is none.
	DropTemplate(ctx context.Context, id partner.ID, k Key) error
	// GetEvent returns one event of a partner; alert.ErrEventNotFound when it is not kept.
	GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error)
	// PartnerName, BreachTitle and PlanName are what people know them by; empty for one that is not there any more.
	PartnerName(ctx context.Context, id partner.ID) (string, error)
	BreachTitle(ctx context.Context, name string) (string, error)
	FindPlanName(ctx context.Context, id partner.ID, planID plan.ID) (string, error)
}

// Catalogue is all texts, and makes messages of them.
type Catalogue struct{ store Store }

// NewCatalogue joins the texts to a store.
func NewCatalogue(store Store) *Catalogue { return &Catalogue{store} }

// ListTemplates returns every text as it counts for a partner, or for those without one of their own.
func (c *Catalogue) ListTemplates(ctx context.Context, id partner.ID) ([]Template, error) {
	changed, err := c.loadChanged(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []Template
	for _, k := range ListKeys() {
		t, ok := changed[k]
		if !ok {
			if t, err = builtinTemplate(k); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// loadChanged returns the operator's texts, with the partner's own in place of those for all partners.
func (c *Catalogue) loadChanged(ctx context.Context, id partner.ID) (map[Key]Template, error) {
	texts := map[Key]Template{}
	for _, of := range slices.Compact([]partner.ID{"", id}) {
		list, err := c.store.ListTemplates(ctx, of)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			if t.Origin = ForPartner; of == "" {
				t.Origin = ByOperator
			}
			texts[t.Key] = t
		}
	}
	return texts, nil
}

func (c *Catalogue) GetTemplate(ctx context.Context, id partner.ID, k Key) (Template, error) {
	if err := k.CheckKey(); err != nil {
		return Template{}, err
	}
	changed, err := c.loadChanged(ctx, id)
	if err != nil {
		return Template{}, err
	}
	if t, ok := changed[k]; ok {
		return t, nil
	}
	return builtinTemplate(k)
}

// SetTemplate keeps a text for a partner, or for all partners.
func (c *Catalogue) SetTemplate(ctx context.Context, id partner.ID, t Template) error {
	if err := t.CheckTemplate(); err != nil {
		return err
	}
	return c.store.KeepTemplate(ctx, id, t)
}

// ResetTemplate forgets a text of the operator's.
func (c *Catalogue) ResetTemplate(ctx context.Context, id partner.ID, k Key) error {
	if err := k.CheckKey(); err != nil {
		return err
	}
	err := c.store.DropTemplate(ctx, id, k)
	if errors.Is(err, ErrUnchanged) {
		return ErrUnchanged.With("text", fault.NotChangedHere)
	}
	return err
}

// PreviewTemplate shows a text with made-up values.
func PreviewTemplate(t Template) (Message, error) {
	if err := t.CheckTemplate(); err != nil {
		return Message{}, err
	}
	return t.renderMessage(sampleValues(t.Event, t.Language)), nil
}

// RenderEvent returns the message for an event, if the caller's areas allow it to read such events.
func (c *Catalogue) RenderEvent(
	ctx context.Context,
	id partner.ID,
	of alert.Areas,
	event alert.EventID,
	channel Channel,
	l partner.Language,
) (Message, error) {
	e, err := c.store.GetEvent(ctx, id, event)
	if err != nil {
		return Message{}, err
	}
	if !of.CanRead(e.Type) {
		return Message{}, alert.ErrEventNotFound
	}
	body, err := parseEventBody(e)
	if err != nil {
		return Message{}, err
	}
	t, err := c.GetTemplate(ctx, id, Key{e.Type, channel, l})
	if err != nil {
		return Message{}, err
	}
	known, err := c.loadNames(ctx, id, body)
	if err != nil {
		return Message{}, err
	}
	return t.renderMessage(body.wordValues(e.At, l, known)), nil
}

// loadNames looks up what an event names by an id. What has no name any more is said by its id.
func (c *Catalogue) loadNames(ctx context.Context, id partner.ID, body eventBody) (n names, err error) {
	if n.partner, err = c.store.PartnerName(ctx, id); err != nil {
		return n, err
	}
	if name := body.worstFinding().Breach; name != "" {
		n.breach, err = c.store.BreachTitle(ctx, name)
		n.breach = cmp.Or(n.breach, name)
	}
	if planID := body.Data.PlanID; planID != "" && err == nil {
		n.plan, err = c.store.FindPlanName(ctx, id, plan.ID(planID))
		n.plan = cmp.Or(n.plan, planID)
	}
	return n, err
}

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
	err := errors.Join(
		fault.When(t.Channel.hasTitle() && !hasSubject, ErrInvalid.With("subject", fault.SubjectNeeded)),
		fault.When(!t.Channel.hasTitle() && hasSubject, ErrInvalid.With("subject", fault.SubjectNotTaken)),
		fault.When(
			strings.TrimSpace(t.Text) == "" || !utf8.ValidString(t.Text) || !utf8.ValidString(t.Subject) ||
				strings.ContainsAny(t.Subject, "\r\n"),
			ErrInvalid.With("text", fault.TextBroken),
		),
	)
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
		Name: "vigia_" + strings.ReplaceAll(
			string(t.Event),
			".",
			"_",
		),
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

// The alphabet of GSM 03.38: characters of one septet, and those of two. A text that leaves it is sent in 16 bits and
// has 70 characters, so messages are brought back into it.
const (
	basicGSM = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ " +
		"!\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	twoGSM = "^{}\\[~]|€"
)

// alike are characters that have a plain look-alike and no decomposition that leads to it.
var alike = strings.NewReplacer(
	"“",
	`"`,
	"”",
	`"`,
	"‘",
	"'",
	"’",
	"'",
	"–",
	"-",
	"—",
	"-",
	"…",
	"...",
	"º",
	"o",
	"ª",
	"a",
	"\u00a0",
	" ",
	"•",
	"-",
)

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
