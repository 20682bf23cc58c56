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
	// isFirst marks the few that are shown without --tour.
	isFirst bool
}

// shownAnswer bounds a printed answer.
const shownAnswer = 110

// printTour prints links and lines to paste: five, or one for every operation. Every line works as it stands, more than
// once and in any order, except that the removal works once for each start of the demo.
func (w *world) printTour(ctx context.Context, out io.Writer, logIn, dump string, whole bool) error {
	steps := w.tourSteps(ctx)
	page := w.personPage(ctx)
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
			"  Ana's page    %s   (what she sees on her phone; open it within 15 minutes)\n"+
			"  Alerts        %s   (signed alerts arrive here)\n"+
			"  Leak          %s\n"+
			"                (made up: import it at %s/breaches/new and see people of the live partner found)\n"+
			"  API key       %s   (of the sandbox partner)\n  Salt          %s\n",
		w.api,
		w.api,
		w.console,
		logIn,
		page,
		w.receiver.url,
		dump,
		w.console,
		w.secrets.Sandbox.APIKey,
		w.secrets.Sandbox.Salt,
	)
	if !w.secrets.Past {
		fmt.Fprintf(&b, "\nA past of %d days is being made up for the live partner: "+
			"a line below says when it is there.\n", pastDays)
	}
	fmt.Fprintf(&b, "\nPaste these into a shell. Under each line stands how its answer begins.\n\n"+
		"export VIGIA_URL=%s\nexport VIGIA_KEY=%s\nexport VIGIA_SALT=%s\nexport USER_HASH=%s\n",
		w.api, w.secrets.Sandbox.APIKey, w.secrets.Sandbox.Salt, w.userHashOf(people[0]))
	shown := 0
	for _, s := range steps {
		if !whole && !s.isFirst {
			continue
		}
		shown++
		fmt.Fprintf(&b, "\n# %d. %s\n%s\n#    %s\n", shown, s.about, w.curlLine(s), s.begins)
	}
	if !whole {
		fmt.Fprintf(&b, "\n%d more, for every operation: vigia demo --tour\n", len(steps)-shown)
	}
	b.WriteString(
		"\nStop with Ctrl-C. The same partners and people are there at the next start; --fresh starts over.\n",
	)
	_, err := io.WriteString(out, b.String())
	return err
}

// personPage opens a session for the first of the demo's people and returns the address of her page.
func (w *world) personPage(ctx context.Context) string {
	var session struct {
		URL string `json:"url"`
	}
	w.callPartnerAPI(
		ctx,
		http.MethodPost,
		"/v1/cyber/portal-session",
		fmt.Sprintf(`{"userHash":%q}`, w.userHashOf(people[0])),
		&session,
	)
	return session.URL
}

// curlLine returns the command line to paste, with the variables that were exported above.
func (w *world) curlLine(s step) string {
	named := strings.NewReplacer(w.userHashOf(people[0]), "$USER_HASH")
	line := "curl -sS"
	if s.method != http.MethodGet && s.body == "" {
		line += " -X " + s.method
	}
	line += ` -H "x-api-key: $VIGIA_KEY"`
	if s.body != "" {
		body := strings.ReplaceAll(s.body, w.userHashOf(people[0]), `'"$USER_HASH"'`)
		line += " -H 'content-type: application/json' -d '" + body + "'"
	}
	return line + ` "$VIGIA_URL` + named.Replace(s.path) + `"`
}

// tourSteps fills the contract's operations with real values.
func (w *world) tourSteps(ctx context.Context) []step {
	ana := w.userHashOf(people[0])
	old := w.findAssetID(ctx, ana, "ana.antiga@exemplo.com.br")
	post, get := http.MethodPost, http.MethodGet
	fernanda := newPerson(
		"Fernanda Jacarandá", "11122233396", "1991-07-14", "F", "fernanda@exemplo.com.br", "+5581998765432",
		"Rua da Aurora", "Recife", "PE", "50050000",
	)
	steps := []step{
		{
			about:  "Enrol people in bulk; a dry run checks everything and creates nothing.",
			method: post,
			path:   "/v1/subscriptions?dry_run=true",
			body:   "[" + subscriptionItem(fernanda, "2026-01-01") + "]",
			begins: `{"result":"success","total_created_items":1,"total_not_created_items":0,"not_created_items":[]}`,
		},
		{
			about:  "A bad item says everything that is wrong with it.",
			method: post,
			path:   "/v1/subscriptions",
			body:   `[{"plan_id":"` + demoPlan + `","is_group_plan":true,"beneficiary":{"cpf":"123"}}]`,
			begins: `{"result":"failure","total_created_items":0,"total_not_created_items":1,` +
				`"not_created_items":[{"cpf":"123"`,
		},
		{about: "List the partner's subscriptions.", method: get, path: "/v1/subscriptions?page=1&page_size=2"},
		{about: "Fetch Ana's subscription.", method: get, path: "/v1/subscriptions/" + demoPlan + "/" + people[0].CPF},
		{
			about: "Watch one more e-mail of Ana's. In the sandbox, addresses at @vazamento.test are found at once; " +
				"look at the alerts page.",
			method:  post,
			path:    "/v1/cyber/monitoring",
			body:    fmt.Sprintf(`{"value":"ana.trabalho@vazamento.test","type":"email","userHash":"%s"}`, ana),
			begins:  `{"status":200,"description":"Dados adicionados com sucesso."}`,
			isFirst: true,
		},
		{
			about:   "What is watched for Ana, and how it stands.",
			method:  get,
			path:    "/v1/cyber/monitoring/" + ana,
			isFirst: true,
		},
		{
			about:   "The findings behind those statuses.",
			method:  get,
			path:    "/v1/cyber/findings/" + ana,
			begins:  `[{"id":"fd_`,
			isFirst: true,
		},
		{
			about:  "Stop watching an old address (works once for each start).",
			method: http.MethodDelete,
			path:   "/v1/cyber/monitoring/" + old + "/" + ana,
			begins: `{"status":200,"description":"Dados removidos com sucesso."}`,
		},
		{
			about:   "Is a password known from breaches? These are the first ten characters of SHA-1 of \"password\".",
			method:  post,
			path:    "/v1/cyber/password-check",
			body:    `{"passwordHashPrefix":"5BAA61E4C9"}`,
			begins:  `{"exposed":true,"recommendations":["Esta senha`,
			isFirst: true,
		},
		{about: "Services that people can get help with.", method: get, path: "/v1/cyber/services"},
		{
			about:  "Open a support case.",
			method: post,
			path:   "/v1/cyber/case",
			body:   fmt.Sprintf(`{"serviceId":"sv_ajuda_phishing","userHash":"%s"}`, ana),
			begins: `{"msg":"Caso criado com sucesso.","task":{"id":"`,
		},
		{
			about:  "An antivirus key for Ana's phone: the same device gets the same key.",
			method: post,
			path:   "/v1/cyber/epp",
			body: fmt.Sprintf(
				`{"operatingSystem":"android","type":"antivirus","deviceName":"Celular da Ana","userHash":"%s"}`, ana,
			),
			begins: `{"eppKey":"`,
		},
		{about: "Her protected devices.", method: get, path: "/v1/cyber/epp?userHash=" + ana},
		{about: "Advice that fits her situation.", method: get, path: "/v1/cyber/advise/" + ana},
		{
			about:   "Her risk score: 0 is best.",
			method:  get,
			path:    "/v1/cyber/score/" + ana,
			begins:  `{"breachScore":`,
			isFirst: true,
		},
		{about: "Her insurance cover, in reais.", method: get, path: "/v1/cyber/insurance/" + ana},
		{
			about:  "Every plan in force for her, with sub-limits and waiting period.",
			method: get,
			path:   "/v1/cyber/cover/" + ana,
		},
		{
			about:  "Every event of the partner, in order.",
			method: get,
			path:   "/v1/events?limit=1",
			begins: `{"events":[{"id":"evt_`,
		},
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
