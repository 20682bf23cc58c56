package console_test

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/web/console"
)

// field is a field of a form as a page offers it.
type field struct{ name, kind, value string }

// form is a form that a page offers: where it sends to, and what a person finds in it.
type form struct {
	page, action, route string
	multipart           bool
	fields              []field
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func carries(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func innerText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func parsed(t *testing.T, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// formsOf are the forms of a page that change or look up something, one for each address that a button sends to.
func formsOf(page string, doc *html.Node) (list []form) {
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" || attr(n, "method") != "post" {
			continue
		}
		f := form{page: page, action: attr(n, "action"), multipart: attr(n, "enctype") != ""}
		others := []string{}
		for d := range n.Descendants() {
			switch d.Data {
			case "input":
				one := field{attr(d, "name"), attr(d, "type"), attr(d, "value")}
				if carries(d, "hidden") {
					one.kind = "hidden"
				}
				f.fields = append(f.fields, one)
			case "textarea":
				f.fields = append(f.fields, field{attr(d, "name"), "textarea", strings.TrimPrefix(innerText(d), "\n")})
			case "select":
				one := field{attr(d, "name"), "select", ""}
				for o := range d.Descendants() {
					if o.Data == "option" && (one.value == "" || carries(o, "selected")) {
						if one.value = attr(o, "value"); !carries(o, "value") {
							one.value = innerText(o)
						}
					}
				}
				f.fields = append(f.fields, one)
			case "button":
				if to := attr(d, "formaction"); to != "" {
					others = append(others, to)
				}
				f.fields = append(f.fields, field{attr(d, "name"), "button", attr(d, "value")})
			}
		}
		f.fields = slices.DeleteFunc(f.fields, func(x field) bool { return x.name == "" })
		list = append(list, f)
		for _, to := range others {
			f.action = to
			list = append(list, f)
		}
	}
	return list
}

// wrong are what people type where something else is wanted.
var wrong = []string{"", "31/02/2026 " + strings.Repeat("palavra ", 700) + "\x07"}

// fitting is something that a field takes, for the fields beside the wrong one.
func fitting(f field) string {
	if f.value != "" {
		return f.value
	}
	known := map[string]string{
		"name":        "teste",
		"title":       "Teste",
		"date":        "15/11/2026",
		"reason":      "pedido 77",
		"cpf":         "529.982.247-25",
		"limit":       "R$ 50.000,00",
		"email":       "eva@exemplo.com.br",
		"url":         "https://exemplo.com.br/h",
		"value":       "empresa-exemplo.com.br",
		"hours":       "8",
		"question":    "Quando?",
		"slots":       "24/12/2030 15:00",
		"paths":       "/nada",
		"minutes":     "60",
		"target":      "/nada",
		"holder":      "12.ABC.345/01DE-35",
		"id":          "plano",
		"q":           "nada",
		"description": "Texto",
		"confirm":     "apagar",
		"key":         "x",
		"note":        "nota",
		"from":        "15/11/2026 08:00",
		"to":          "15/11/2026 09:00",
		"password":    "girafa verde na janela",
		"again":       "girafa verde na janela",
		"present":     "outra",
		"code":        "000000",
	}
	return known[f.name]
}

// send fills a form, with one field wrong, and sends it.
func (f form) send(d *adminSession, bad, value string) (*http.Response, string) {
	values := url.Values{}
	for _, one := range f.fields {
		switch {
		case one.name == bad && one.kind != "file":
			values.Set(one.name, value)
		case one.kind == "checkbox" || one.kind == "file" || one.kind == "radio":
		default:
			values.Set(one.name, fitting(one))
		}
	}
	if !f.multipart {
		return d.send(f.action, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name := range values {
		_ = w.WriteField(name, values.Get(name)) // a buffer takes everything
	}
	if bad != "file" {
		part, _ := w.CreateFormFile("file", "x.txt") // as above
		_, _ = part.Write([]byte("x\n"))
	}
	_ = w.Close()
	return d.send(f.action, w.FormDataContentType(), &b)
}

// english are words that no Portuguese sentence has, and code are names of faults.
var (
	english = regexp.MustCompile(
		`(?i)\b(the|must|of|at most|expected|such|characters?|whole|number|with|without|one of|not|no such|should|cannot|each|only|from|until|is|are|to be|invalid|not_found|refused)\b`,
	)
	code = regexp.MustCompile(
		`\b[a-z_]+\.(invalid|refused|exists|not_found|missing|busy|too_large|wrong|mismatch|input|[a-z]+_[a-z_]+)\b`,
	)
)

// harmless are forms that a test cannot send without ending what it needs, with the reason.
var harmless = map[string]string{
	"/logout":          "ends the session",
	"/account/logout":  "ends the session",
	"/account/noticed": "asks nothing",
	"/sandbox":         "asks nothing",

	"/subjects/requests/{partner}/{request}/cancel": "asks nothing",
	"/account/recovery":                             "asks nothing",
}

// offered are the forms of all pages that can be reached by links, each kind of page once.
func (d *adminSession) offered() []form {
	d.t.Helper()
	table := http.NewServeMux()
	queue := []string{"/breaches/new?from=upload", "/breaches/new"}
	for _, p := range console.ListPages() {
		table.Handle(p.Method+" "+p.Path, http.NotFoundHandler())
		if p.Method == http.MethodGet && !strings.Contains(p.Path, "{") &&
			!slices.Contains([]string{"/subjects/erasures", "/content/export", "/breaches/new"}, p.Path) {
			queue = append(queue, p.Path)
		}
	}
	var forms []form
	seen := map[string]bool{}
	for queue = append(queue, "/"); len(queue) > 0; queue = queue[1:] {
		kind := route(d.t, table, http.MethodGet, queue[0])
		if strings.Contains(queue[0], "from=upload") {
			kind = queue[0]
		}
		if _, tab, isTab := strings.Cut(queue[0], "?aba="); isTab { // each part of a page has forms of its own
			kind += "?aba=" + tab
		}
		if seen[kind] || strings.HasSuffix(kind, "/events") && kind != "/events" {
			continue
		}
		res, page := d.send(queue[0], "", nil)
		if res.StatusCode != http.StatusOK {
			continue
		}
		seen[kind] = true
		doc := parsed(d.t, "<main"+page)
		for _, f := range formsOf(queue[0], doc) {
			if f.route = route(
				d.t,
				table,
				http.MethodPost,
				f.action,
			); f.route != "" && !seen["POST "+f.route] &&
				harmless[f.route] == "" {
				seen["POST "+f.route] = true
				forms = append(forms, f)
			}
		}
		for n := range doc.Descendants() {
			if to := attr(n, "href"); n.Data == "a" && strings.HasPrefix(to, "/") {
				queue = append(queue, to)
			}
		}
	}
	return forms
}

// route is the row of the table that an address belongs to.
func route(t *testing.T, table *http.ServeMux, method, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, u.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, pattern := table.Handler(req)
	return strings.TrimPrefix(pattern, method+" ")
}

// TestRefusalsInPortuguese fills every form of the console with every field wrong in turn. What comes back says in
// Portuguese what is wrong, beside the field where it names one, and keeps what was typed.
func TestRefusalsInPortuguese(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	d.breach("loja")
	d.found(p.ID, user)
	d.furnish(p, user)
	refused, beside := 0, 0
	tried := map[string]bool{}
	for _, f := range d.offered() {
		tried[f.route] = true
		for _, one := range f.fields {
			if slices.Contains([]string{"hidden", "checkbox", "radio", "button"}, one.kind) {
				continue
			}
			for _, value := range wrong {
				res, page := f.send(d, one.name, value)
				if res.StatusCode < 400 {
					continue
				}
				refused++
				if d.judge(f, one, value, res.StatusCode, page) {
					beside++
				}
			}
		}
	}
	for _, page := range console.ListPages() {
		if page.Method == http.MethodPost && !tried[page.Path] && !slices.Contains(unoffered, page.Path) &&
			harmless[page.Path] == "" {
			t.Errorf("no form of %s was tried", page.Path)
		}
	}
	t.Logf("%d refusals of %d forms, %d beside their field", refused, len(tried), beside)
}

// TestAllProblemsOfAForm: a form with several wrong fields tells of all of them, each beside its field.
func TestAllProblemsOfAForm(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, _ := d.customer()
	for path, fields := range map[string][]string{
		"/plans/" + string(p.ID) + "/new": {
			"id", "", "name", "", "limit", "muito", "max_devices", "x", "coverage_plan", "",
		},
		"/partners/" + string(p.ID) + "/settings": {
			"name", p.Name, "rate", "-1", "burst", "x", "sites", "não é um site",
		},
		"/breaches/new": {
			"name", "Loja!", "title", "", "date", "31/02/2026", "kind", "breach", "paths", "/nada",
		},
		"/feeds/new": {
			"name", "Não!", "kind", "folder", "target", "pasta", "minutes", "x",
		},
		"/services":       {"name", "", "description", ""},
		"/answers":        {"title", "", "text", ""},
		"/subjects/erase": {"confirm", "não", "cpf", "1", "reason", ""},
		"/messages/monitoring.leak_detected/email/pt-BR": {"subject", "", "text", ""},
		"/services/" + string(phishing) + "/questions":   {"question", "", "options", strings.Repeat("x", 101)},
		"/incidents":          {"from", "ontem", "to", "31/02/2026 10:00", "known", "hoje"},
		"/incidents/download": {"from", "ontem", "to", "31/02/2026 10:00", "reveal", "on", "reason", ""},
	} {
		_, page := d.post(422, path, fields...)
		wrong := []string{}
		for n := range parsed(t, "<main"+page).Descendants() {
			if attr(n, "class") == "field-error" {
				wrong = append(wrong, attr(n, "id"))
			}
		}
		if want := map[string]int{"/subjects/erase": 3, "/feeds/new": 3, "/breaches/new": 3, "/incidents": 3, "/incidents/download": 3}[path]; len(wrong) < max(want, 2) || strings.Count(page, " autofocus") != 1 {
			t.Errorf("%s tells of %v", path, wrong)
		}
	}
}

// unoffered are addresses that no form of these pages sends to: what a script of a passkey sends, what asks nothing but
// to be confirmed, and what is there only in states that the test does not make.
var unoffered = []string{
	"/subjects/requests",
	"/login/passkey/begin",
	"/login/passkey",
	"/cases/{id}/undo",
	"/cases/{id}/writing",
	"/answers/delete",
	"/link/{token}",
	"/account/passkeys/begin",
	"/account/passkeys/{passkey}/remove",
	"/prove",
	"/second-factor",
	"/partners/{id}/resume",
	"/services/{id}/questions/{question}/remove",
	"/services/{id}/slots/{slot}/remove",
	"/subscriptions/{partner}/{seq}/resume",
	"/feeds/{name}/resume",
	"/content/{id}/offer",
	"/operators/{id}/disable",
	"/operators/{id}/enable",
	"/operators/{id}/logout",
	"/operators/{id}/reset",
	"/webhooks/{partner}/{endpoint}/test",
	"/webhooks/{partner}/{endpoint}/enable",
	"/webhooks/{partner}/{endpoint}/disable",
	"/webhooks/{partner}/{endpoint}/delete",
	"/webhooks/{partner}/{endpoint}/rotate",
	"/events/{partner}/{event}/replay",
	"/events/replay",
	"/deliveries/replay",
	"/subscriptions/import/{file}",
	"/lists/{list}/filters/{filter}/drop",
	"/lists/{list}/bulk/run",
	"/devices/{id}/reveal",
	"/devices/{id}/revoke",
	"/devices/{id}/replace",
	"/search",
	"/operators/{id}/role",
	"/monitoring/{partner}/{asset}/reveal",
	"/messages/{event}/{channel}/{lang}/reset",
}

// judge holds a refused page against what a person needs. It tells whether the problem stands beside a field.
func (d *adminSession) judge(f form, bad field, value string, status int, page string) bool {
	t := d.t
	where := f.action + " " + bad.name + " " + value[:min(len(value), 20)]
	doc := parsed(t, "<main"+page)
	var said, described string
	invalid := false
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if class := attr(
			n,
			"class",
		); class == "notice bad" && !carries(n, "hidden") || class == "field-error" ||
			class == "empty" && status >= 400 {
			said += innerText(n) + "\n"
		}
		if attr(n, "class") == "field-error" {
			described = attr(n, "id")
		}
		if attr(n, "aria-invalid") == "true" {
			invalid = true
			if !strings.Contains(attr(n, "aria-describedby"), "erro-"+attr(n, "name")) {
				t.Errorf("%s: the field is not tied to its sentence", where)
			}
		}
	}
	if strings.TrimSpace(said) == "" || status >= 500 {
		t.Errorf("%s: %d and no sentence", where, status)
	}
	if word := english.FindString(said); word != "" {
		t.Errorf("%s: English (%q): %s", where, word, said)
	}
	if raw := code.FindString(said); raw != "" {
		t.Errorf("%s: a raw code (%q): %s", where, raw, said)
	}
	if invalid != (described != "") {
		t.Errorf("%s: a field is marked: %t, a sentence stands beside one: %t", where, invalid, described != "")
	}
	if status == http.StatusUnprocessableEntity && !invalid {
		t.Errorf("%s: no field is marked: %s", where, said)
	}
	for _, again := range formsOf("", doc) {
		if again.action != f.action {
			continue
		}
		for _, one := range again.fields {
			kept := one.name == bad.name &&
				slices.Contains([]string{"", "text", "textarea", "search", "email", "url"}, one.kind)
			if kept && strings.TrimSpace(one.value) != strings.TrimSpace(value) {
				t.Errorf("%s: the form comes back with %.30q", where, one.value)
			}
		}
	}
	return invalid
}

// furnish makes one of everything that has a form of its own.
func (d *adminSession) furnish(p partner.Partner, user string) {
	d.t.Helper()
	ctx := context.Background()
	for _, step := range []struct {
		path   string
		fields []string
	}{
		{"/services", []string{"name", "Bloqueio", "description", "Ajuda"}},
		{
			"/feeds/new",
			[]string{"name", "caixa", "kind", "folder", "target", d.t.TempDir(), "minutes", "600", "exposes", "email"},
		},
		{
			"/content/yaml",
			[]string{"yaml", "- id: teste-meu\n  type: tip\n  device: all\n  rank: 1\n  title: Teste\n  body: Texto\n"},
		},
	} {
		d.post(303, step.path, step.fields...)
	}
	if _, _, err := d.app.Operators.CreateOperator(ctx, "bia@exemplo.com.br", operator.Support); err != nil {
		d.t.Fatal(err)
	}
	services, err := d.app.Services.ListServices(ctx)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.app.Cases.OpenCaseByPhone(
		ctx,
		p.ID,
		cyber.CaseRequest{Service: services[0].ID, User: partner.UserHash(user)},
	); err != nil {
		d.t.Fatal(err)
	}
	// A job that is at work for as long as the test looks: it can be cancelled.
	if _, err := d.app.Store.Jobs.EnqueueJob(ctx, "espera", "teste", nil); err != nil {
		d.t.Fatal(err)
	}
	if at, err := d.app.Store.Jobs.ClaimJobs(ctx, "ninguém", []string{"espera"}, 1); err != nil || len(at) != 1 {
		d.t.Fatal(at, err)
	}
}
