package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestGuidedResolution: a person's plan from the first look to the end, through the API alone.
func TestGuidedResolution(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		user := hashOf("guiada")
		ask := func(method, path, body string, status int, into any) answered {
			t.Helper()
			a := s.as(t, s.Sandbox, method, path, body)
			if a.status != status {
				t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
			}
			if into != nil {
				if err := json.Unmarshal([]byte(a.body), into); err != nil {
					t.Fatal(err)
				}
			}
			return a
		}
		ask(http.MethodPost, "/v1/cyber/monitoring", addAsset("email", "ana@vazamento.test", user), 200, nil)
		var found []struct{ ID string }
		ask(http.MethodGet, "/v1/cyber/findings/"+user, "", 200, &found)
		finding := "/v1/cyber/findings/" + found[0].ID
		var plan findingPlan
		ask(http.MethodGet, finding+"/plan/"+user, "", 200, &plan)
		want := plan
		want.Language, want.Remaining = "pt-BR", 3
		difftest.Check(t, "the plan", plan, want)
		difftest.Must(t, "how many steps", len(plan.Steps), 3)
		difftest.Check(t, "the first step", plan.Steps[0].ID, "change-password")
		if why := plan.Steps[0].Why; !strings.Contains(why, "“Vazamento de demonstração”") {
			t.Errorf("the reason of the first step: %s", why)
		}
		for lang, word := range map[string]string{"es": "contraseña", "en": "password", "pt-BR": "senha"} {
			if ask(
				http.MethodGet,
				finding+"/plan/"+user+"?lang="+lang,
				"",
				200,
				&plan,
			); plan.Language != lang ||
				!strings.Contains(plan.Steps[0].What, word) {
				t.Errorf("%s: %+v", lang, plan.Steps[0])
			}
		}
		for _, query := range []string{"?lang=fr", "?lang=", "?lang=es&lang=en", "?idioma=es"} {
			ask(http.MethodGet, finding+"/plan/"+user+query, "", 400, nil)
		}
		mark := func(step, state string, status int) answered {
			t.Helper()
			return ask(
				http.MethodPost,
				finding+"/steps/"+step,
				fmt.Sprintf(`{"userHash":%q,"state":%q}`, user, state),
				status,
				nil,
			)
		}
		var now rechecked
		recheck := func() {
			t.Helper()
			now = rechecked{}
			ask(http.MethodPost, finding+"/recheck", fmt.Sprintf(`{"userHash":%q}`, user), 200, &now)
		}
		mark("block-card", "done", 404)
		mark("change-password", "feito", 400)
		mark("change-password", "", 400)
		if a := mark("change-password", "done", 200); !strings.Contains(a.body, "Passo registrado com sucesso.") {
			t.Error(a.body)
		}
		mark("change-password", "done", 200)
		mark("second-factor", "skipped", 200)
		recheck()
		still := now
		still.State, still.Status, still.Reason = "open", "comprometido", ""
		difftest.Check(t, "not solved yet", now, still)
		difftest.Check(t, "what remains", fmt.Sprint(now.Remaining), "[expect-scams]")
		mark("expect-scams", "skipped", 200)
		if recheck(); now.State != "open" || len(now.Remaining) != 1 {
			t.Errorf("solved although something essential was skipped: %+v", now)
		}
		mark("expect-scams", "done", 200)
		recheck()
		solved := now
		solved.State, solved.Reason, solved.Status = "resolved", "password_changed", "monitorado"
		difftest.Check(t, "solved", now, solved)
		difftest.Check(t, "how much remains", len(now.Remaining), 0)
		if a := mark("expect-scams", "todo", 409); !strings.Contains(a.body, "Esta ocorrência já foi resolvida.") {
			t.Error(a.body)
		}
		ask(http.MethodGet, finding+"/plan/"+user, "", 200, &plan)
		want = plan
		want.State, want.Remaining = "resolved", 0
		difftest.Check(t, "the plan afterwards", plan, want)
		if step := plan.Steps[1]; step.State != "skipped" || step.MarkedAt == "" {
			t.Errorf("the second step afterwards: %+v", step)
		}
		ask(http.MethodGet, finding+"/plan/"+hashOf("outra"), "", 404, nil)
	})
}
