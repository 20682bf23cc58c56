package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
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
		if plan.Language != "pt-BR" || plan.Remaining != 3 || len(plan.Steps) != 3 ||
			plan.Steps[0].ID != "change-password" ||
			!strings.Contains(plan.Steps[0].Why, "“Vazamento de demonstração”") {
			t.Errorf("%+v", plan)
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
		if recheck(); now.State != "open" || now.Status != "comprometido" ||
			fmt.Sprint(now.Remaining) != "[expect-scams]" ||
			now.Reason != "" {
			t.Errorf("%+v", now)
		}
		mark("expect-scams", "skipped", 200)
		if recheck(); now.State != "open" || len(now.Remaining) != 1 {
			t.Errorf("solved although something essential was skipped: %+v", now)
		}
		mark("expect-scams", "done", 200)
		if recheck(); now.State != "resolved" || now.Reason != "password_changed" || now.Status != "monitorado" ||
			len(now.Remaining) != 0 {
			t.Errorf("not solved: %+v", now)
		}
		if a := mark("expect-scams", "todo", 409); !strings.Contains(a.body, "Esta ocorrência já foi resolvida.") {
			t.Error(a.body)
		}
		ask(http.MethodGet, finding+"/plan/"+user, "", 200, &plan)
		if plan.State != "resolved" || plan.Remaining != 0 || plan.Steps[1].State != "skipped" ||
			plan.Steps[1].MarkedAt == "" {
			t.Errorf("afterwards: %+v", plan)
		}
		ask(http.MethodGet, finding+"/plan/"+hashOf("outra"), "", 404, nil)
	})
}
