package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// speaking is a world with one row of everything that speaks to people, or says where something is sent or fetched.
type speaking struct {
	*storetest.Env
	ctx      context.Context
	partner  partner.Partner
	endpoint alert.Endpoint
	service  cyber.Service
}

// hostile is what the intruder wants people to read, where to send them, or what to subscribe to.
const hostile = "https://golpe.example/0800"

func newSpeaking(t *testing.T, e *storetest.Env) *speaking {
	t.Helper()
	w := &speaking{Env: e, ctx: context.Background()}
	w.partner, _ = e.NewPartner(t, partner.Live)
	id, now := w.partner.ID, e.Clock.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	registry := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	_, err := registry.UpdatePartner(w.ctx, id, func(p *partner.Partner) { p.Settings.DefaultPlan = "ouro" })
	must(err)
	must(
		e.Store.Alerts.KeepTemplate(
			w.ctx,
			id,
			message.Template{
				Key:  message.Key{Event: alert.LeakDetected, Channel: message.SMS, Language: partner.Portuguese},
				Text: "Um dado seu vazou.",
			},
		),
	)
	must(
		e.Store.Plans.InsertPlan(
			w.ctx,
			id,
			plan.Plan{
				ID:        "ouro",
				Partner:   id,
				Name:      "Ouro",
				Coverage:  plan.Coverage{Plan: "Ouro", Limit: 100_00, Conditions: "Nenhuma."},
				CreatedAt: now,
			},
		),
	)
	w.service = cyber.Service{
		ID:          "sv_1",
		Name:        "Orientação",
		Description: "Ajuda depois de um golpe.",
		Position:    1,
		CreatedAt:   now,
	}
	must(e.Store.Services.InsertService(w.ctx, w.service))
	must(
		e.Store.Cases.InsertQuestion(
			w.ctx,
			cyber.Question{
				ID:        "qu_1",
				Service:   "sv_1",
				Text:      "Quando foi?",
				Options:   []string{"Hoje", "Ontem"},
				CreatedAt: now,
			},
		),
	)
	items, err := cyber.NewCatalogue(e.Store.Advice, e.Clock.Now).ListItems(w.ctx)
	must(err)
	must(e.Store.Advice.KeepContent(w.ctx, items[:1]))
	must(e.Store.Devices.SetInstallLink(w.ctx, cyber.Android, "https://loja.example/app"))
	_, err = e.Store.Partners.UpdateTheme(
		w.ctx,
		id,
		func(th *partner.Theme) error { th.Title = "Minha página"; return nil },
	)
	must(err)
	must(e.Store.Breaches.InsertBreach(w.ctx, leak.Record{
		Breach: cyber.Breach{
			Name:        "loja",
			Title:       "Loja",
			Source:      "x",
			Description: "y",
			Kind:        cyber.SourceBreach,
			Date:        now,
			AddedAt:     now,
			Exposes:     []cyber.Exposed{cyber.ExposedEmail},
		},
		State:       leak.Published,
		PublishedAt: now,
	}))
	must(e.Store.Feeds.InsertFeed(w.ctx, feed.Feed{
		Name:    "caixa",
		Kind:    feed.List,
		Target:  "https://fonte.example/",
		Every:   time.Hour,
		Created: now,
	}))
	endpoints := alert.NewEndpoints(e.Store.Alerts, e.Clock.Now, nil)
	types := []string{string(alert.LeakDetected)}
	w.endpoint, err = endpoints.CreateEndpoint(w.ctx, id, "https://banco.example/avisos", types, allowed{})
	must(err)
	_, err = e.Store.Alerts.UpdateEndpoint(w.ctx, id, w.endpoint.ID, func(e *alert.Endpoint) error {
		e.State, e.Reason = alert.Disabled, alert.ByOperator
		return nil
	})
	must(err)
	return w
}

type allowed struct{}

func (allowed) CheckTargetURL(context.Context, string) error { return nil }

// served is all that each kind of row lets people or the network see.
func (w *speaking) served() map[string]string {
	id := w.partner.ID
	tell := func(v any, err error) string { return fmt.Sprintf("%+v %v", v, errors.Is(err, store.ErrForged)) }
	var content bytes.Buffer
	items, err := cyber.NewCatalogue(w.Store.Advice, w.Clock.Now).ListItems(w.ctx)
	if err == nil {
		err = cyber.WriteContent(&content, items)
	}
	name, perr := w.Store.Alerts.FindPlanName(w.ctx, id, "ouro")
	title, terr := w.Store.Alerts.BreachTitle(w.ctx, "loja")
	made, merr := w.Store.Breaches.PublishedBreach(w.ctx, "sandbox")
	endpoints, eerr := w.Store.Alerts.ListEndpoints(w.ctx, id)
	enabled, nerr := w.Store.Alerts.EnabledEndpoints(w.ctx, []alert.EndpointRef{{Partner: id, Endpoint: w.endpoint.ID}})
	return map[string]string{
		"message_template": tell(w.Store.Alerts.ListTemplates(w.ctx, id)),
		"plan": tell(w.Store.Plans.GetPlan(w.ctx, id, "ouro")) +
			tell(w.Store.Cover.LoadEntitled(w.ctx, id, "alguem")) +
			tell(w.Store.Plans.ListPlans(w.ctx, id)) + name + fmt.Sprint(perr),
		"service": tell(w.Store.Services.ListServices(w.ctx)),
		"case_question": tell(w.Store.Cases.ServiceTriage(w.ctx, "sv_1")) +
			tell(w.Store.Cases.ListQuestions(w.ctx, "")),
		"content":       content.String() + fmt.Sprint(err),
		"epp_install":   tell(w.Store.Devices.InstallLinks(w.ctx)),
		"partner_theme": tell(w.Store.Partners.GetTheme(w.ctx, id)),
		"breach": tell(w.Store.Breaches.BreachByName(w.ctx, "loja")) +
			tell(w.Store.Breaches.PublishedBreach(w.ctx, "loja")) + title + fmt.Sprint(terr) +
			tell(made, merr),
		"feed":     tell(w.Store.Feeds.ListFeeds(w.ctx)) + tell(w.Store.Feeds.FeedByName(w.ctx, "caixa")),
		"endpoint": tell(endpoints, eerr) + tell(enabled, nerr),
	}
}

// referring are the tables whose rows would not let those of another go.
var referring = map[string][]string{"service": {"case_question"}}

// TestWriterHasNoVoice: write access to the database without the key file changes nothing that people read, and nothing
// about where something is sent or fetched; the check names the row.
func TestWriterHasNoVoice(t *testing.T) {
	tamperings := []struct {
		table, statement string
		// says is what must not be served.
		says string
	}{
		{"message_template", `UPDATE message_template SET body = '` + hostile + `'`, hostile},
		{"message_template", `UPDATE message_template SET subject = '` + hostile + `'`, hostile},
		{
			"message_template",
			`INSERT INTO message_template SELECT partner_id, event, 'email', lang, subject,
			'` + hostile + `', changed_at, mac FROM message_template`,
			hostile,
		},
		{"plan", `UPDATE plan SET name = '` + hostile + `'`, hostile},
		{"plan", `UPDATE plan SET coverage = replace(coverage, 'Nenhuma.', '` + hostile + `')`, hostile},
		{"plan", `UPDATE plan SET coverage = replace(coverage, '100', '987654')`, "987654"},
		{"service", `UPDATE service SET name = '` + hostile + `'`, hostile},
		{"service", `UPDATE service SET description = '` + hostile + `'`, hostile},
		{
			"service",
			`INSERT INTO service SELECT 'sv_2', name, '` + hostile + `', position, retired, created_at, mac
			FROM service`,
			hostile,
		},
		{"case_question", `UPDATE case_question SET question = '` + hostile + `'`, hostile},
		{"case_question", `UPDATE case_question SET options = '["` + hostile + `"]'`, hostile},
		{"content", `UPDATE content SET item = replace(item, 'title: ', 'title: ` + hostile + ` ')`, hostile},
		{"epp_install", `UPDATE epp_install SET link = '` + hostile + `'`, hostile},
		{"epp_install", `INSERT INTO epp_install SELECT 'ios', '` + hostile + `', mac FROM epp_install`, hostile},
		{"partner_theme", `UPDATE partner_theme SET body = CAST('` + hostile + `' AS BYTEA)`, hostile},
		{"breach", `UPDATE breach SET title = '` + hostile + `'`, hostile},
		{"breach", `UPDATE breach SET description = '` + hostile + `', source = '` + hostile + `'`, hostile},
		{"feed", `UPDATE feed SET settings = '{"proxy":"` + hostile + `"}'`, hostile},
		{"feed", `UPDATE feed SET target = CAST('` + hostile + `' AS BYTEA)`, hostile},
		{"endpoint", `UPDATE endpoint SET types = '` + string(alert.WebhookTest) + `'`, string(alert.WebhookTest)},
		{"endpoint", `UPDATE endpoint SET state = 'enabled', reason = ''`, "State:enabled"},
	}
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newSpeaking(t, e)
		for _, p := range problems(t, w.ctx, w.Upkeep) {
			t.Fatalf("before anything was written: %+v", p)
		}
		before := w.served()
		for table, text := range map[string]string{
			"message_template": "Um dado seu vazou.",
			"plan":             "Nenhuma.",
			"service":          "Ajuda depois de um golpe.",
			"case_question":    "Ontem",
			"epp_install":      "https://loja.example/app",
			"partner_theme":    "Minha página",
			"breach":           "Loja",
			"feed":             "https://fonte.example/",
			"endpoint":         "https://banco.example/avisos",
		} {
			if !strings.Contains(before[table], text) {
				t.Errorf("%s before anything was written: %s", table, before[table])
			}
		}
		for _, in := range tamperings {
			t.Run(in.statement[:40], func(t *testing.T) {
				defer keepTables(t, e, append([]string{in.table}, referring[in.table]...)...)()
				if err := storetest.Write(w.ctx, e, in.statement); err != nil {
					t.Fatal(err)
				}
				if text := w.served()[in.table]; strings.Contains(text, in.says) {
					t.Errorf("%s is served: %s", in.says, text)
				}
				for _, p := range problems(t, w.ctx, w.Upkeep) {
					if (p.Check == "grants" || p.Check == "seals") && strings.HasPrefix(p.Where, in.table) {
						return
					}
				}
				t.Error("the check does not see it")
			})
		}
	})
}

// TestForgedRowIsWrittenAnew: what an operator changes of a forged row keeps nothing of it; said anew as a whole it
// counts again.
func TestForgedRowIsWrittenAnew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		w := newSpeaking(t, e)
		for _, statement := range []string{`UPDATE plan SET coverage = replace(coverage, '100',
			'987654')`, `UPDATE service SET description = '` + hostile + `'`} {
			if err := storetest.Write(w.ctx, e, statement); err != nil {
				t.Fatal(err)
			}
		}
		plans := plan.NewCatalogue(e.Store.Plans, e.Clock.Now)
		services := cyber.NewServices(e.Store.Services, e.Clock.Now)
		_, err := plans.EditPlan(w.ctx, w.partner.ID, "ouro", func(p *plan.Plan) { p.MaxDevices = 3 })
		if !errors.Is(err, plan.ErrInvalid) {
			t.Error("a forged plan was changed in part:", err)
		}
		_, err = services.EditService(w.ctx, "sv_1", func(sv *cyber.Service) { sv.Name = "Ajuda" })
		if !errors.Is(err, cyber.ErrServiceInvalid) {
			t.Error("a forged service was changed in part:", err)
		}
		_, err = plans.EditPlan(
			w.ctx,
			w.partner.ID,
			"ouro",
			func(p *plan.Plan) { p.Name, p.Coverage = "Ouro", plan.Coverage{Plan: "Ouro", Limit: 100_00} },
		)
		_, serr := services.EditService(
			w.ctx,
			"sv_1",
			func(sv *cyber.Service) { sv.Name, sv.Description = "Ajuda", "Depois de um golpe." },
		)
		if err := errors.Join(err, serr); err != nil {
			t.Fatal(err)
		}
		served := w.served()
		if !strings.Contains(served["service"], "Depois de um golpe.") ||
			!strings.Contains(served["plan"], "Limit:10000 ") {
			t.Error(served["service"], served["plan"])
		}
		if found := problems(t, w.ctx, w.Upkeep); len(found) != 0 {
			t.Error(found)
		}
	})
}
