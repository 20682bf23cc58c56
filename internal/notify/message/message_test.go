package message

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestBuiltInTexts: every event has a text in every channel and language that its own rules would take, and that leaves
// no word unfilled.
func TestBuiltInTexts(t *testing.T) {
	texts, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	for event, of := range texts {
		if _, known := own[event]; !known && event != anyEvent {
			t.Errorf("%s has texts and no words of its own", event)
		}
		if len(of) != len(partner.ListLanguages()) {
			t.Errorf("%s is said in %d languages", event, len(of))
		}
	}
	for _, k := range ListKeys() {
		text, err := builtinTemplate(k)
		if err != nil {
			t.Fatal(err)
		}
		m, err := PreviewTemplate(text)
		if err != nil {
			t.Errorf("%v: %v", k, err)
		}
		if strings.ContainsAny(m.Text+m.Subject, "{}") || m.Text == "" || (m.HTML != "") != (k.Channel == Email) ||
			(m.Template != nil) != (k.Channel == WhatsApp) {
			t.Errorf("%v: %+v", k, m)
		}
	}
}

// TestTextsThatAreRefused: a text names what it may, has what its channel needs and fits it.
func TestTextsThatAreRefused(t *testing.T) {
	good := Template{Key: Key{alert.KeyEnded, SMS, partner.Portuguese}, Text: "{parceiro}: {motivo}"}
	if err := good.CheckTemplate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Template){
		"a personal value":         func(t *Template) { t.Text = "{cpf}" },
		"another event's word":     func(t *Template) { t.Text = "{vazamento}" },
		"a word in the wrong case": func(t *Template) { t.Text = "{Parceiro}" },
		"an open brace":            func(t *Template) { t.Text = "{parceiro" },
		"a closing brace":          func(t *Template) { t.Text = "parceiro}" },
		"braces in braces":         func(t *Template) { t.Text = "{{parceiro}}" },
		"nothing":                  func(t *Template) { t.Text = " \n" },
		"broken text":              func(t *Template) { t.Text = "\xff" },
		"an SMS with a subject":    func(t *Template) { t.Subject = "x" },
		"a push without a title":   func(t *Template) { t.Channel = Push },
		"a title of two lines":     func(t *Template) { t.Channel, t.Subject = Push, "a\nb" },
		"an SMS that may be long":  func(t *Template) { t.Text = strings.Repeat("x", 160-31) + "{motivo}" },
		"one of two septets":       func(t *Template) { t.Text = strings.Repeat("€", 81) },
		"WhatsApp begins so":       func(t *Template) { t.Channel = WhatsApp },
		"another language":         func(t *Template) { t.Language = "fr" },
		"no language":              func(t *Template) { t.Language = "" },
		"another channel":          func(t *Template) { t.Channel = "fax" },
		"a test":                   func(t *Template) { t.Event = alert.WebhookTest },
	} {
		bad := good
		change(&bad)
		if err := bad.CheckTemplate(); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	fits := good
	fits.Text = strings.Repeat("x", 160-32) + "{motivo}"
	if err := fits.CheckTemplate(); err != nil {
		t.Error("the longest that fits:", err)
	}
	_, err := PreviewTemplate(Template{Key: good.Key, Text: "{nome}"})
	if err == nil || !strings.Contains(err.Error(), "parceiro, data, sistema, motivo") {
		t.Error("the refusal does not list the words:", err)
	}
}

// fakeStore is a store with one event and an operator's texts.
type fakeStore struct {
	event  alert.Kept
	texts  map[partner.ID][]Template
	breach string
}

func (s *fakeStore) ListTemplates(_ context.Context, id partner.ID) ([]Template, error) {
	return s.texts[id], nil
}

func (s *fakeStore) KeepTemplate(_ context.Context, id partner.ID, t Template) error {
	s.texts[id] = append(s.texts[id], t)
	return nil
}
func (s *fakeStore) DropTemplate(context.Context, partner.ID, Key) error { return ErrUnchanged }
func (s *fakeStore) GetEvent(context.Context, partner.ID, alert.EventID) (alert.Kept, error) {
	return s.event, nil
}

func (s *fakeStore) PartnerName(context.Context, partner.ID) (string, error) {
	return "Banco Exemplo", nil
}
func (s *fakeStore) BreachTitle(context.Context, string) (string, error) { return s.breach, nil }
func (s *fakeStore) FindPlanName(context.Context, partner.ID, plan.ID) (string, error) {
	return "", nil
}

func leakOf(breach string) *fakeStore {
	body := `{"type":"monitoring.leak_detected","timestamp":"2026-12-24T18:00:00.000Z","data":{"userHash":"u","findings":[` +
		`{"assetType":"cpf","breach":"a","severity":"low"},{"assetType":"email","breach":"b","severity":"critical"}]}}`
	return &fakeStore{
		event:  alert.Kept{ID: "evt_1", Type: alert.LeakDetected, Body: []byte(body)},
		texts:  map[partner.ID][]Template{},
		breach: breach,
	}
}

// TestMessages: the worst finding is named, in the words of the language; the operator's text counts before the
// program's, and the partner's before that.
func TestMessages(t *testing.T) {
	ctx, s := t.Context(), leakOf("Loja")
	c := NewCatalogue(s)
	of := func(id partner.ID, channel Channel, l partner.Language) Message {
		t.Helper()
		m, err := c.RenderEvent(ctx, id, alert.Everything, "evt_1", channel, l)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if got := of("p", SMS, partner.Portuguese).Text; got != "Banco Exemplo: seu e-mail apareceu em um vazamento. Gravidade critica. Veja o que fazer no aplicativo." {
		t.Error(got)
	}
	m := of("p", WhatsApp, partner.English)
	want := *m.Template
	want.Name, want.Language = "vigia_monitoring_leak_detected", "en"
	want.Parameters = []string{"e-mail", "Loja", "critical", "2", "Banco Exemplo"}
	difftest.Check(t, "the template", *m.Template, want)
	if !strings.Contains(m.Template.Body, "({{1}})") {
		t.Errorf("the template is %s", m.Template.Body)
	}
	k := Key{alert.LeakDetected, SMS, partner.Portuguese}
	for id, text := range map[partner.ID]string{"": "de todos", "p": "do parceiro"} {
		if err := c.SetTemplate(ctx, id, Template{Key: k, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[partner.ID]string{"p": "do parceiro", "q": "de todos"} {
		if got := of(id, SMS, partner.Portuguese).Text; got != want {
			t.Errorf("%s: %q", id, got)
		}
	}
	if shown, err := c.GetTemplate(ctx, "q", k); err != nil || shown.Origin != ByOperator {
		t.Error(shown, err)
	}
	if _, err := c.RenderEvent(ctx, "p", alert.Areas{Subscriptions: true}, "evt_1", SMS, partner.Portuguese); !errors.Is(err, alert.ErrEventNotFound) {
		t.Error("a key without the scope reads of a leak:", err)
	}
	s.event.Body = []byte(`{"type":"epp.key_ended","timestamp":"x","data":{"keyId":"ek_1","reason":"erased"}}`)
	if _, err := c.RenderEvent(ctx, "p", alert.Everything, "evt_1", SMS, partner.Portuguese); !errors.Is(err, ErrNone) {
		t.Error("somebody is told of nobody:", err)
	}
}

// TestHostileTitles: whatever a breach is called, an SMS has 160 septets of its alphabet, nothing has a line, a link or
// markup that the text did not have.
func TestHostileTitles(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("ab ãõçÉ€^{}[]<>\"'&@/:\\\n\r\t\u202e\u200b😀漢–…ﬁ\u0301.")
	titles := []string{
		"<script>alert(1)</script>",
		"https://mau.example/x",
		"www.mau.example",
		"{parceiro}{cpf}",
		"a\n\nb",
		"javascript:alert(1)",
		"\u202egnp.exe",
		"x@y.example",
		strings.Repeat("€", 500),
		"",
	}
	for range 2000 {
		runes := make([]rune, luck.IntN(80))
		for i := range runes {
			runes[i] = alphabet[luck.IntN(len(alphabet))]
		}
		titles = append(titles, string(runes))
	}
	sms := Template{
		Key:  Key{alert.LeakDetected, SMS, partner.Portuguese},
		Text: strings.Repeat("x", 160-40) + "{vazamento}",
	}
	mail := Template{Key: Key{alert.LeakDetected, Email, partner.Portuguese}, Subject: "S", Text: "Em “{vazamento}”."}
	for _, text := range []Template{sms, mail} {
		if err := text.CheckTemplate(); err != nil {
			t.Fatal(err)
		}
	}
	for _, title := range titles {
		body, err := parseEventBody(leakOf(title).event)
		if err != nil {
			t.Fatal(err)
		}
		values := body.wordValues(time.Time{}, partner.Portuguese, names{breach: title})
		if got := sms.renderMessage(values).Text; countSeptets(got) > maxSMS || foldToGSM(got) != got || strings.ContainsAny(got, "\n\r{}<>") {
			t.Fatalf("%q: %d septets, %q", title, countSeptets(got), got)
		}
		m := mail.renderMessage(values)
		if strings.ContainsAny(m.Text, "\n\r{}<>@") || strings.Contains(m.Text, "://") ||
			strings.Contains(m.HTML, "<a ") ||
			strings.Count(m.HTML, "<p>") != 1 ||
			!utf8.ValidString(m.HTML) {
			t.Fatalf("%q: %q", title, m.HTML)
		}
	}
}

// TestFold: the alphabet of an SMS, and what becomes of the rest.
func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"ação já": "acao ja", "é à ñ Ç ü": "é à ñ Ç ü", "“sim” – não…": `"sim" - nao...`, "1º": "1o", "漢😀": "??", "a\u0303": "a", "{€}": "{€}",
	} {
		if got := foldToGSM(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if countSeptets("{€}a") != 7 || foldValue("a{€}b") != "ab" {
		t.Error("characters of two septets")
	}
}

// TestEmailPage: paragraphs and the text's own links, everything else escaped.
func TestEmailPage(t *testing.T) {
	m := Template{
		Key:     Key{alert.CaseRated, Email, partner.English},
		Subject: "A < B",
		Text:    "One & two\nthree.\n\nSee https://a.example/x?a=1&b=2.",
	}.renderMessage(map[Word]string{})
	for _, want := range []string{
		"<title>A &lt; B</title>", `<html lang="en">`, "<p>One &amp; two<br>three.</p>", `<a href="https://a.example/x?a=1&amp;b=2">https://a.example/x?a=1&amp;b=2</a>.</p>`,
	} {
		if !strings.Contains(m.HTML, want) {
			t.Errorf("no %s in %s", want, m.HTML)
		}
	}
}

// TestParse: the words of a request.
func TestParse(t *testing.T) {
	if l, err := partner.ParseLanguage(""); err != nil || l != partner.Portuguese {
		t.Error(l, err)
	}
	for _, bad := range []string{"PT", "pt", "fr"} {
		if _, err := partner.ParseLanguage(bad); !errors.Is(err, partner.ErrLanguage) {
			t.Error(bad, err)
		}
	}
	for _, bad := range []string{"", "SMS", "fax"} {
		if _, err := ParseChannel(bad); !errors.Is(err, ErrChannel) {
			t.Error(bad, err)
		}
	}
	if fmt.Sprint(ListWords(alert.KeyActivated)) != "[parceiro data sistema]" {
		t.Error(ListWords(alert.KeyActivated))
	}
}
