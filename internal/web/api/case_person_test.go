package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// TestCaseBothWays is a case from the first question to the last word, through the API alone on the person's side: what
// is asked and when it is free, opened, answered both ways, moved to another time, rated; an event for each.
func TestCaseBothWays(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		const service = "sv_recuperacao_conta"
		ctx := t.Context()
		cases := cyber.NewCases(s.Store.Cases, s.Clock.Now)
		question, err := cases.AddQuestion(ctx, service, "Qual é a conta?", true, []string{"E-mail", "Banco"})
		if err != nil {
			t.Fatal(err)
		}
		first := s.Clock.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
		second := first.Add(time.Hour)
		if _, err := cases.AddFreeSlots(ctx, service, "", []time.Time{second, first}); err != nil {
			t.Fatal(err)
		}
		if _, err := cases.AddFreeSlots(ctx, service, s.Other.ID, []time.Time{first.Add(2 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		user := s.enrolled(t, s.Live, 0, 1)[0]
		ask := func(method, path, body string, want int) string {
			t.Helper()
			got := s.as(t, s.Live, method, "/v1/cyber/"+path, body)
			if got.status != want {
				t.Fatalf("%s %s: %d %s %s", method, path, got.status, got.body, got.header.Get("x-error-detail"))
			}
			return got.body
		}
		stamp := func(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }

		asks := ask(http.MethodGet, "services/"+service, "", 200)
		if !strings.Contains(asks, `"questions":[{"id":"`+string(question.ID)+`","question":"Qual é a conta?","required":true,"options":["E-mail","Banco"]}]`) ||
			!strings.Contains(asks, `"slots":["`+stamp(first)+`","`+stamp(second)+`"]`) {
			t.Error("what the service asks:", asks) // the third time is kept for another partner
		}
		ask(http.MethodGet, "services/sv_nada", "", 404)
		refused := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/case",
			`{"serviceId":"`+service+`","userHash":"`+user+`"}`,
		)
		if detail := refused.header.Get("x-error-detail"); refused.status != 400 ||
			!strings.Contains(detail, `"Qual \u00e9 a conta?"`) {
			t.Error("a missing answer:", refused.status, detail)
		}
		var opened struct{ Task struct{ ID string } }
		mustDecode(
			t,
			answered{
				status: 200,
				body: ask(
					http.MethodPost,
					"case",
					`{"serviceId":"`+service+`","userHash":"`+user+`","appointments":[{"appointment":"`+stamp(
						first,
					)+`"}],`+
						`"questions":[{"questionId":"`+string(
						question.ID,
					)+`","answer":"Banco"}]}`,
					200,
				),
			},
			&opened,
		)
		id := opened.Task.ID
		on := `{"userHash":"` + user + `"`
		ask(http.MethodPost, "case/"+id+"/rate", on+`,"rating":5}`, 409)

		// The operator asks back; the person answers, which moves the case on; they agree on another time.
		for _, to := range []cyber.CaseStatus{cyber.CaseInProgress, cyber.CaseWaiting} {
			if _, err := cases.MoveCase(ctx, cyber.CaseID(id), to, "bruna", "liguei e não atendeu"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := cases.AddReply(ctx, cyber.CaseID(id), "bruna", "Qual banco?"); err != nil {
			t.Fatal(err)
		}
		if _, err := cases.AddInternalNote(ctx, cyber.CaseID(id), "bruna", "parece nervoso"); err != nil {
			t.Fatal(err)
		}
		ask(http.MethodPost, "case/"+id+"/messages", on+`,"text":"O banco azul","attachment":{"name":"aviso.txt","text":"Seu acesso\nfoi bloqueado"}}`, 200)
		ask(http.MethodPost, "case/"+id+"/rebook", on+`,"appointments":[{"appointment":"`+stamp(first.Add(2*time.Hour))+`"}]}`, 409)
		if got := ask(http.MethodPost, "case/"+id+"/rebook", on+`,"appointments":[{"appointment":"`+stamp(second)+`"}]}`, 200); !strings.Contains(got, `"appointment":"`+stamp(second)+`"`) {
			t.Error("another time:", got)
		}
		if asks := ask(http.MethodGet, "services/"+service, "", 200); !strings.Contains(asks, `"slots":["`+stamp(first)+`"]`) {
			t.Error("the time that was given back is not free:", asks)
		}
		if _, err := cases.MoveCase(ctx, cyber.CaseID(id), cyber.CaseResolved, "bruna", ""); err != nil {
			t.Fatal(err)
		}
		ask(http.MethodPost, "case/"+id+"/cancel", on+`}`, 409)
		ask(http.MethodPost, "case/"+id+"/rate", on+`,"rating":4,"comment":"Demorou, mas resolveu."}`, 200)

		var read struct {
			Status  string
			Rating  int
			History []struct{ Type, From, Status, Text, Name string }
		}
		whole := ask(http.MethodGet, "case/"+id+"/history/"+user, "", 200)
		mustDecode(t, answered{status: 200, body: whole}, &read)
		var lines []string
		for _, l := range read.History {
			lines = append(
				lines,
				strings.TrimSpace(strings.Join([]string{l.From, l.Type, l.Status, l.Name, l.Text}, " ")),
			)
		}
		want := []string{
			"person status Aberto",
			"support status Em andamento",
			"support status Aguardando cliente",
			"support message   Qual banco?",
			"person message   O banco azul",
			"person attachment  aviso.txt Seu acesso\nfoi bloqueado",
			"person status Em andamento",
			"person appointment",
			"support status Resolvido",
			"person rating   Demorou, mas resolveu.",
		}
		if strings.Join(lines, "|") != strings.Join(want, "|") || read.Rating != 4 || read.Status != "Resolvido" {
			t.Errorf("%+v\ngot  %q\nwant %q", read, lines, want)
		}
		for _, own := range []string{"nervoso", "atendeu", "bruna"} {
			if strings.Contains(whole, own) {
				t.Errorf("the partner reads what operators note: %q", own)
			}
		}
		if list := ask(
			http.MethodGet,
			"cases/"+user,
			"",
			200,
		); strings.Count(list, `"id"`) != 1 ||
			!strings.Contains(list, id) {
			t.Error("the person's cases:", list)
		}
		var feed struct {
			Events []struct{ Body struct{ Type string } }
		}
		events := s.as(t, s.Live, http.MethodGet, "/v1/events?limit=100", "")
		mustDecode(t, events, &feed)
		var types []string
		for _, e := range feed.Events {
			types = append(types, strings.TrimPrefix(e.Body.Type, "case."))
		}
		if got, want := strings.Join(types, " "), "status_changed status_changed message_added message_added status_changed appointment_changed status_changed rated"; got != want {
			t.Errorf("events %s\nwant   %s", got, want)
		}
		if strings.Contains(events.body, "azul") {
			t.Error("an event says what was written:", events.body)
		}
	})
}

// TestCaseCancelledByThePerson: the time is free again, a second word changes nothing, and nobody writes in it any
// more.
func TestCaseCancelledByThePerson(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		user := hashOf("desistiu")
		id := s.caseOf(t, s.Sandbox, user)
		for i, c := range []struct {
			route, rest string
			want        int
		}{
			{"rebook", `,"appointments":[{"appointment":"2027-01-01T10:00:00Z"}]`, 409}, // no calendar
			{"rebook", `,"appointments":[]`, 400},
			{"cancel", `,"reason":"resolvi sozinho"`, 200},
			{"cancel", ``, 200},
			{"messages", `,"text":"oi"`, 409},
			{"rate", `,"rating":3`, 409},
			{"rate", `,"rating":6`, 400},
			{"messages", `,"text":""`, 400},
			{"messages", `,"text":"oi","attachment":{}`, 400},
		} {
			if got := s.as(
				t,
				s.Sandbox,
				http.MethodPost,
				"/v1/cyber/case/"+id+"/"+c.route,
				`{"userHash":"`+user+`"`+c.rest+`}`,
			); got.status != c.want {
				t.Errorf("%d: %s: %d %s %s", i, c.route, got.status, got.body, got.header.Get("x-error-detail"))
			}
		}
	})
}
