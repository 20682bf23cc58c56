package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// step is one line of the tour: what it shows, the request, and how the answer begins.
type step struct {
	about, method, path, body string
	// begins is the start of the answer where the whole differs from run to run; empty means that the demo asks by
	// itself and prints the start of what it got.
	begins string
}

// shownAnswer bounds a printed answer.
const shownAnswer = 110

// printTour prints links and lines to paste. Every line works as it stands, more than once and in any order, except
// that the removal works once for each start of the demo.
func (w *world) printTour(ctx context.Context, out io.Writer, logIn, dump string) error {
	steps := w.tourSteps(ctx)
	if w.err != nil {
		return w.err
	}
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"Vigia is up: a demo with a sandbox partner, a live partner, an embedded database and made-up people.\n\n"+
			"  Partner API   %s\n"+
			"  Reference     %s/docs/\n"+
			"  Console       %s   (%s)\n"+
			"  Alerts        %s   (signed alerts arrive here)\n"+
			"  Leak          %s\n"+
			"                (made up: import it at %s/breaches/new and see people of the live partner found)\n"+
			"  API key       %s   (of the sandbox partner)\n  Salt          %s\n",
		w.api,
		w.api,
		w.console,
		logIn,
		w.receiver.url,
		dump,
		w.console,
		w.secrets.Sandbox.APIKey,
		w.secrets.Sandbox.Salt,
	)
	b.WriteString("\nPaste any of these. Under each stands how its answer begins.\n")
	for i, s := range steps {
		fmt.Fprintf(&b, "\n# %d. %s\n%s\n#    %s\n", i+1, s.about, w.curlLine(s), s.begins)
	}
	b.WriteString(
		"\nStop with Ctrl-C. The same partners and people are there at the next start; --fresh starts over.\n",
	)
	_, err := io.WriteString(out, b.String())
	return err
}

// curlLine returns the command line to paste.
func (w *world) curlLine(s step) string {
	line := "curl -sS"
	if s.method != http.MethodGet && s.body == "" {
		line += " -X " + s.method
	}
	line += " -H 'x-api-key: " + w.secrets.Sandbox.APIKey + "'"
	if s.body != "" {
		line += " -H 'content-type: application/json' -d '" + s.body + "'"
	}
	return line + " '" + w.api + s.path + "'"
}

// tourSteps fills the contract's operations with real values.
func (w *world) tourSteps(ctx context.Context) []step {
	ana := w.userHashOf(people[0])
	old := w.findAssetID(ctx, ana, "ana.antiga@exemplo.com.br")
	post, get := http.MethodPost, http.MethodGet
	fernanda := newPerson(
		"Fernanda Jacarandá",
		"11122233396",
		"1991-07-14",
		"F",
		"fernanda@exemplo.com.br",
		"+5581998765432",
		"Rua da Aurora",
		"Recife",
		"PE",
		"50050000",
	)
	steps := []step{
		{
			"Enrol people in bulk; a dry run checks everything and creates nothing.",
			post,
			"/v1/subscriptions?dry_run=true",
			"[" + subscriptionItem(fernanda, "2026-01-01") + "]",
			`{"result":"success","total_created_items":1,"total_not_created_items":0,"not_created_items":[]}`,
		},
		{
			"A bad item says everything that is wrong with it.",
			post,
			"/v1/subscriptions",
			`[{"plan_id":"` + demoPlan + `","is_group_plan":true,"beneficiary":{"cpf":"123"}}]`,
			`{"result":"failure","total_created_items":0,"total_not_created_items":1,"not_created_items":[{"cpf":"123"`,
		},
		{"List the partner's subscriptions.", get, "/v1/subscriptions?page=1&page_size=2", "", ""},
		{"Fetch Ana's subscription.", get, "/v1/subscriptions/" + demoPlan + "/" + people[0].CPF, "", ""},
		{
			"Watch one more e-mail of Ana's. In the sandbox, addresses at @vazamento.test are found at once; look at " +
				"the alerts page.",
			post,
			"/v1/cyber/monitoring",
			fmt.Sprintf(
				`{"value":"ana.trabalho@vazamento.test","type":"email","userHash":"%s"}`,
				ana,
			),
			`{"status":200,"description":"Dados adicionados com sucesso."}`,
		},
		{"What is watched for Ana, and how it stands.", get, "/v1/cyber/monitoring/" + ana, "", ""},
		{"The findings behind those statuses.", get, "/v1/cyber/findings/" + ana, "", `[{"id":"fd_`},
		{
			"Stop watching an old address (works once for each start).",
			http.MethodDelete,
			"/v1/cyber/monitoring/" + old + "/" + ana,
			"",
			`{"status":200,"description":"Dados removidos com sucesso."}`,
		},
		{
			"Is a password known from breaches? These are the first ten characters of SHA-1 of \"password\".",
			post,
			"/v1/cyber/password-check",
			`{"passwordHashPrefix":"5BAA61E4C9"}`,
			`{"exposed":true,"recommendations":["Esta senha`,
		},
		{"Services that people can get help with.", get, "/v1/cyber/services", "", ""},
		{
			"Open a support case.",
			post,
			"/v1/cyber/case",
			fmt.Sprintf(
				`{"serviceId":"sv_ajuda_phishing","userHash":"%s"}`,
				ana,
			),
			`{"msg":"Caso criado com sucesso.","task":{"id":"`,
		},
		{
			"An antivirus key for Ana's phone: the same device gets the same key.",
			post,
			"/v1/cyber/epp",
			fmt.Sprintf(
				`{"operatingSystem":"android","type":"antivirus","deviceName":"Celular da Ana","userHash":"%s"}`,
				ana,
			),
			`{"eppKey":"`,
		},
		{"Her protected devices.", get, "/v1/cyber/epp?userHash=" + ana, "", ""},
		{"Advice that fits her situation.", get, "/v1/cyber/advise/" + ana, "", ""},
		{"Her risk score: 0 is best.", get, "/v1/cyber/score/" + ana, "", `{"breachScore":`},
		{"Her insurance cover, in reais.", get, "/v1/cyber/insurance/" + ana, "", ""},
		{"Every plan in force for her, with sub-limits and waiting period.", get, "/v1/cyber/cover/" + ana, "", ""},
		{"Every event of the partner, in order.", get, "/v1/events?limit=1", "", `{"events":[{"id":"evt_`},
	}
	for i := range steps {
		if steps[i].begins == "" {
			steps[i].begins = beginning(w.callPartnerAPI(ctx, steps[i].method, steps[i].path, "", nil))
		}
	}
	return steps
}

// beginning cuts an answer where the eye has seen enough.
func beginning(answer string) string {
	runes := []rune(answer)
	if len(runes) <= shownAnswer {
		return answer
	}
	return string(runes[:shownAnswer])
}

// findAssetID finds the id of a watched value.
func (w *world) findAssetID(ctx context.Context, user, value string) string {
	var list []struct {
		ID    string `json:"id"`
		Value string `json:"value"`
	}
	w.callPartnerAPI(ctx, http.MethodGet, "/v1/cyber/monitoring/"+user, "", &list)
	for _, a := range list {
		if a.Value == value {
			return a.ID
		}
	}
	w.err = cmp.Or(w.err, fmt.Errorf("demo: %s is not watched", value))
	return ""
}
