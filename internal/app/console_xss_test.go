package app_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Payloads that run if a page lets them. The second fits where a slash is refused.
const (
	payload     = `"><img src=x onerror="window.xss=1"><script>window.xss=1</script><a href="javascript:window.xss=1">{{1}}'`
	payloadFlat = `"><img src=x onerror=window.xss=1>'{{1}}`
)

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

// hostile fills every field that a partner, a receiver, a dump or a colleague can fill.
func hostile(t *testing.T, a *app.App, api string) partner.ID {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p, cred, err := a.Partners.CreatePartner(ctx, payload, partner.Sandbox, partner.Settings{DefaultPlan: payloadFlat})
	must(err)
	_, _, err = a.Partners.CreateKey(ctx, p.ID, payload, partner.ContractScopes(), time.Time{})
	must(err)
	sv, err := a.Services.AddService(ctx, payload, payload)
	must(err)
	_, err = a.Cases.AddQuestion(ctx, sv.ID, payload, false, []string{payloadFlat, "outra"})
	must(err)
	_, err = a.Plans.CreatePlan(ctx, plan.Plan{ID: payloadFlat, Partner: p.ID, Name: payload, Coverage: plan.Coverage{
		Plan:       payload,
		Types:      []string{payload},
		Conditions: payload,
		Exclusions: payload,
		SubLimits:  []plan.SubLimit{{Name: payload}},
	}})
	must(err)
	post := func(path, body string) {
		t.Helper()
		if status, answer := call(
			t,
			"POST",
			api+path,
			cred.APIKey,
			body,
		); status != 200 ||
			strings.Contains(answer, `"failure"`) {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
	}
	q, user := quoted(payload), quoted(payloadFlat)
	post(
		"/subscriptions",
		`[{"start_date":"2026-01-01","expiry_date":null,"plan_id":`+user+`,"is_group_plan":false,"partner_internal_id":`+q+`,"partner_metadata":`+quoted(
			`{"a":`+q+`}`,
		)+`,
		"beneficiary":{"primary_card":"4111111111111111","user_card":"4111111111111111","name":`+q+`,"cpf":"52998224725","birth_date":"1990-05-17","gender":"F",
		"email":"ana@exemplo.com.br","phone_number":"+5511987654321","address":{"zipcode":"01001000","street":`+q+`,"number":`+user+`,"complement":`+q+`,"neighborhood":`+q+`,"city":`+q+`,"state":"SP"}}}]`,
	)
	post("/cyber/monitoring", `{"userHash":`+user+`,"type":"email","value":"img@vazamento.test"}`)
	post(
		"/cyber/case",
		`{"userHash":`+user+`,"serviceId":"`+string(
			sv.ID,
		)+`","appointments":[{"appointment":"2026-12-24T10:00:00-03:00","obs":`+q+`}],"questions":[{"question":`+q+`,"answer":`+q+`}]}`,
	)
	post("/cyber/epp", `{"userHash":`+user+`,"operatingSystem":"android","type":"antivirus","deviceName":`+user+`}`)
	cases, err := a.Cases.ListCases(ctx, cyber.CaseFilter{Limit: 10})
	must(err)
	_, err = a.Cases.MoveCase(ctx, cases[0].ID, cyber.CaseInProgress, payloadFlat, payload)
	must(err)
	_, err = a.Cases.AssignCase(ctx, cases[0].ID, payloadFlat)
	must(err)
	dump := filepath.Join(t.TempDir(), url.PathEscape(payload)+".txt")
	must(os.WriteFile(dump, []byte("x@exemplo.org "+payload+"\n"), 0o600))
	inputs, err := intake.ListInputs(context.Background(), nil, []string{dump})
	must(err)
	_, err = a.Leaks.Foreground.ImportBreach(ctx, intake.Spec{Inputs: inputs, Breach: cyber.Breach{
		Name:        "xss",
		Title:       payload,
		Source:      payload,
		Description: payload,
		Kind:        cyber.SourceBreach,
		Exposes:     []cyber.Exposed{cyber.ExposedEmail},
		Date:        time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}})
	must(err)
	lists := filepath.Join(t.TempDir(), "lista.txt")
	must(os.WriteFile(lists, []byte(strings.Repeat("A", 40)+":1\n"), 0o600))
	hashes, err := password.ListInputs(lists)
	must(err)
	_, err = a.Passwords.ImportCorpus(ctx, password.Import{Algorithm: password.SHA1, Inputs: hashes, Source: payload})
	must(err)
	_, err = a.Monitoring.AddAsset(
		ctx,
		cyber.AssetRequest{
			Owner: cyber.Owner{Partner: p.ID, Mode: p.Mode},
			User:  payloadFlat,
			Group: cyber.OperatorAdds,
			Type:  "domain",
			Value: "vazamento.test",
		},
	)
	must(err)
	items, err := a.Content.ListItems(ctx)
	must(err)
	item := items[len(items)-1]
	item.Title, item.Body = strings.ReplaceAll(payload[:100], "{{1}}", ""), strings.ReplaceAll(payload, "{{1}}", "")
	must(a.Content.ImportItems(ctx, []cyber.Item{item}, false))
	return p.ID
}

// hostileJobs leaves a failed job of every kind. No server may run yet: it would do some of them itself, and complain
// of a feed that there is not.
func hostileJobs(t *testing.T, a *app.App) {
	t.Helper()
	ctx := context.Background()
	for _, kind := range []string{
		intake.KindImport, leak.KindVerify, feed.KindRun, password.KindImport, password.KindVerify, "keys.rewrite",
	} {
		if _, err := a.Store.Jobs.EnqueueJob(ctx, kind, payload, struct{}{}); err != nil {
			t.Fatal(err)
		}
		j, taken, err := a.Store.Jobs.TakeJobOf(ctx, "w_test", kind, payload)
		if err != nil || !taken {
			t.Fatal(kind, taken, err)
		}
		if err := a.Store.Jobs.FinishJob(ctx, "w_test", j, job.Failed, payload); err != nil {
			t.Fatal(err)
		}
	}
}

// TestConsoleHostileText crawls every page that links lead to, with hostile text in every field: none of it runs.
func TestConsoleHostileText(t *testing.T) {
	gatetest.Needs(t, gatetest.Browser)
	t.Parallel()
	a := open(t, common(t, sqldb.SQLite))
	hostileJobs(t, a)
	srv := serveLogged(t, a)
	b := newBrowser(t, "http://"+srv.ConsoleAddr.String())
	id := hostile(t, a, "http://"+srv.APIAddr.String()+"/v1")
	sink := newReceiver(t, payload)
	_, token, err := a.Operators.CreateOperator(context.Background(), "ana@exemplo.com.br", operator.Admin)
	if err != nil {
		t.Fatal(err)
	}
	b.visit("/link/" + token)
	b.fill("form", "password", consolePassword, "again", consolePassword)
	b.press("form button")
	o, err := a.Operators.FindByEmail(context.Background(), "ana@exemplo.com.br")
	if err != nil {
		t.Fatal(err)
	}
	b.fill("form", "code", operator.AuthenticatorCode(o.TOTP, time.Now()))
	b.press("form button")

	b.visit("/webhooks/" + string(id) + "/new")
	b.fill("main form", "url", sink.URL+"/"+url.PathEscape(payloadFlat)+"?"+url.QueryEscape(payload))
	b.press(`main form button[type="submit"]`)
	b.press("main p a.button")
	b.press(`form[action$="/test"] button`)
	b.harmless("webhook test")
	b.crawl()

	for _, path := range []string{
		"/audit?actor=P&action=P&subject=P", "/findings?breach=P&all=P", "/deliveries?state=P&before=P", "/monitoring?status=P&at=1&id=P", "/login?next=P",
		"/?done=P", "/prove?next=P", "/cases?service=P&owner=P&partner=P&at=1&id=P", "/cases?status=P", "/breaches/new?from=P", "/events/report?from=2026-01-01T00:00&to=2100-01-01T00:00", "/keys?done=P",
	} {
		b.visit(strings.ReplaceAll(path, "P", url.QueryEscape(payload)))
		b.harmless(path)
	}
	b.reveal("/subscriptions?partner="+string(id), "td a")
	b.reveal("/cases?status=em-andamento&partner="+string(id), ".open")
	b.reveal("/devices?partner="+string(id), "td a.open")
	b.visit("/breaches/new")
	b.fill("main form", "name", "outro", "title", payload, "date", "2026-03-01", "paths", "/nada/"+payload)
	b.do(chromedp.Click(`input[name="exposes"][value="email"]`))
	b.press(`main form button[type="submit"]`)
	b.see("não puderam ser lidos")
	b.harmless("refused form")
	b.visit("/audit")
	b.harmless("audit")
	b.hostilePosts(id)
}

// hostilePosts opens the pages that only a form leads to.
func (b *browser) hostilePosts(id partner.ID) {
	b.t.Helper()
	b.visit("/monitoring")
	b.fill(`form[action="/monitoring/find"]`, "partner", string(id), "user_hash", payloadFlat)
	b.press(`form[action="/monitoring/find"] button`)
	b.see("onerror")
	b.harmless("person")
	for _, action := range []string{"", "/subjects/access"} {
		b.visit("/subjects")
		b.fill("main form", "partner", string(id), "user_hash", payloadFlat, "reason", payload)
		b.press(`main form button` + map[bool]string{true: "", false: `[formaction="` + action + `"]`}[action == ""])
		b.see("onerror")
		b.harmless("subjects " + action)
	}
	b.visit("/subjects/erase")
	b.fill("main form", "cpf", payload[:14], "reason", payload, "confirm", "APAGAR")
	b.press("main form button")
	b.see("Onze números")
	b.harmless("refused erasure")
	b.visit("/incidents")
	b.fill("main form", "from", "2026-01-01T00:00")
	b.press("main form button")
	b.see("Quem viu ou mudou dados pessoais")
	b.harmless("incident")
	b.visit("/subscriptions/move?partner=" + string(id))
	b.fill(`form[action$="/holder"]`, "holder", payload[:14])
	b.do(chromedp.Click(`form[action$="/holder"] [name="sure"]`))
	b.press(`form[action$="/holder"] button`)
	b.see("Um CNPJ, como")
	b.harmless("refused move")
}

// reveal opens the first thing of a list and has it shown, unless a reason was given for the person before.
func (b *browser) reveal(list, link string) {
	b.t.Helper()
	b.visit(list)
	b.press(link)
	if !eval[bool](b, `document.querySelector("form[action*='/reveal']") !== null`) {
		b.see("onerror")
		b.harmless(list)
		return
	}
	b.do(chromedp.Click(`details:has(form[action*="/reveal"]) > summary`, chromedp.NodeVisible))
	b.fill(`form[action*="/reveal"]`, "reason", payload)
	b.press(`form[action*="/reveal"] button`)
	b.see("onerror")
	b.harmless(list)
}

// becamePart selects what no page of the console has of its own.
const becamePart = "main img, main script, a[href^='javascript'], [onerror]"

// harmless expects that nothing of the hostile text became part of the page.
func (b *browser) harmless(where string) {
	b.t.Helper()
	if eval[bool](b, `window.xss !== undefined || document.querySelector("`+becamePart+`") !== null`) {
		b.t.Fatalf("%s: hostile text became part of the page", where)
	}
}

var valueInQuery = regexp.MustCompile(`=[^&]*`)

// fetched is what the browser makes of a page without opening it.
type fetched struct {
	Path   string
	Status int
	// Says tells whether hostile text is anywhere in the page, Broken whether it became part of it.
	Says, Broken bool
	Links        []string
}

// fetch has the browser fetch pages and take them apart with the parser that it opens pages with.
func (b *browser) fetch(paths []string) []fetched {
	b.t.Helper()
	list, err := json.Marshal(paths)
	if err != nil {
		b.t.Fatal(err)
	}
	return eval[[]fetched](b, `Promise.all(`+string(list)+`.map(async path => {
		const answer = await fetch(path), text = await answer.text(), page = new DOMParser().parseFromString(text, "text/html");
		return {Path: path, Status: answer.status, Says: /onerror|window.xss/.test(text), Broken: page.querySelector("`+becamePart+`") !== null,
			Links: [...page.querySelectorAll("a[href]:not([download])")].map(a => a.getAttribute("href")).filter(h => h.startsWith("/"))};
	}))`)
}

// combinations is how many sets of filters of one list are opened, but at full size: each filter adds a link to the
// lists of all others. The first that links lead to have one filter each.
const combinations = 8

// crawl follows every link from the first page on; files are no pages. Only an open page runs what is in it, so those
// that have hostile text in them are opened; at full size all are.
func (b *browser) crawl() {
	b.t.Helper()
	alike, lists, queue := map[string]bool{"/": true}, map[string]int{}, []string{"/"}
	opened, hostile := 1, 0
	for len(queue) > 0 {
		pages := b.fetch(queue)
		queue = nil
		for _, page := range pages {
			if page.Status != 200 || page.Broken {
				b.t.Fatalf(
					"%s: status %d; hostile text became part of the page: %v",
					page.Path,
					page.Status,
					page.Broken,
				)
			}
			if page.Says {
				hostile++
			}
			if page.Says || fullLooks() {
				b.visit(page.Path)
				b.harmless(page.Path)
			}
			for _, next := range page.Links {
				bare, _, _ := strings.Cut(next, "#")
				kind := valueInQuery.ReplaceAllString(bare, "=")
				list, _, _ := strings.Cut(bare, "?")
				if alike[kind] || !fullLooks() && lists[list] == combinations {
					continue // other values of one filter are one page
				}
				alike[kind] = true
				lists[list]++
				opened++
				queue = append(queue, bare)
			}
		}
	}
	b.t.Logf("%d pages, hostile text on %d of them", opened, hostile)
	if opened < 60 || hostile < 15 {
		b.t.Errorf("the crawl came to %d pages and found hostile text on %d: is it still there?", opened, hostile)
	}
}
