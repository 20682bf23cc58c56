package console_test

import (
	"context"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/vigiahq/vigia/internal/cyber"
)

// filled are the fields of a form as a browser would send them.
func filled(t *testing.T, page, action string) []string {
	t.Helper()
	var pairs []string
	for n := range parsed(t, "<main"+page).Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" || attr(n, "action") != action {
			continue
		}
		for f := range n.Descendants() {
			if f.Type != html.ElementNode || attr(f, "name") == "" || f.Data == "button" {
				continue
			}
			value := attr(f, "value")
			switch kind := attr(f, "type"); {
			case f.Data == "textarea":
				value = innerText(f)
			case f.Data == "select":
				for o := range f.Descendants() {
					if o.Type == html.ElementNode && carries(o, "selected") {
						value = attr(o, "value")
					}
				}
			case (kind == "checkbox" || kind == "radio") && !carries(f, "checked"):
				continue
			}
			pairs = append(pairs, attr(f, "name"), value)
		}
	}
	if len(pairs) == 0 {
		t.Fatalf("no form sends to %s:\n%s", action, page)
	}
	return pairs
}

// TestContentForm: every item of the catalogue comes out of its form as it went in; the form previews, saves, adds, and says
// beside the field what is wrong. YAML stays for those who prefer it.
func TestContentForm(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	all, err := d.app.Content.ListItems(ctx)
	if err != nil || len(all) < 10 {
		t.Fatal(len(all), err)
	}
	for i, it := range all {
		if i%7 > 0 && it.Question == nil && len(it.When.Answered) == 0 { // those with most in them, and some of the rest
			continue
		}
		path := "/content/" + string(it.ID)
		_, page := d.send(path, "", nil)
		d.post(303, path, filled(t, page, path)...)
		if now, err := d.app.Content.GetItem(ctx, it.ID); err != nil || !reflect.DeepEqual(now, it) {
			t.Errorf("%s comes back otherwise: %v\n%+v\n%+v", it.ID, err, it, now)
		}
	}
	item := []string{
		"id", "troque-a-senha", "type", "advice", "device", "mobile", "rank", "1.000", "title", "Troque a senha", "body", "Uma linha.\r\nOutra linha.",
		"question", "Já trocou?", "mends", "Trocar a senha", "option_a_value", "sim", "option_a_label", "Sim", "option_a_risk", "0",
		"option_b_value", "nao", "option_b_label", "Ainda não", "option_b_risk", "7", "no_findings", "on", "not_watched", "cpf",
		"answered", "usa-gerenciador: nao, talvez",
	}
	_, page := d.post(200, "/content/new", append(item, "preview", "1")...)
	has(t, page, "<h3>Troque a senha</h3>", "Ainda não", `value="troque-a-senha"`)
	if _, err := d.app.Content.GetItem(ctx, "troque-a-senha"); err == nil {
		t.Error("a preview was kept")
	}
	d.post(303, "/content/new", item...)
	made, err := d.app.Content.GetItem(ctx, "troque-a-senha")
	if err != nil || made.Rank != 1000 || made.Body != "Uma linha.\nOutra linha." || made.Question == nil || len(made.Question.Options) != 2 ||
		!made.When.NoFindings || strings.Join(made.When.Answered["usa-gerenciador"], "+") != "nao+talvez" || made.Device != cyber.DeviceMobile {
		t.Errorf("%+v %v", made, err)
	}
	d.recorded("content.add", "troque-a-senha", "")
	_, page = d.post(409, "/content/new", item...)
	has(t, page, "Já existe um conteúdo com este identificador.", `value="Ainda não"`)
	for field, wrong := range map[string]string{"rank": "muitos", "title": "", "option_b_risk": "11", "answered": "sem valores", "id": "Não É"} {
		sent := append([]string{}, item...)
		for i := 0; i < len(sent); i += 2 {
			if sent[i] == field {
				sent[i+1] = wrong
			}
		}
		_, page := d.post(422, "/content/new", sent...)
		has(t, page, `aria-invalid="true"`, "field-error")
		if strings.Count(page, " autofocus") != 1 || !regexp.MustCompile(`aria-invalid="true" [^>]* autofocus `).MatchString(page) {
			t.Errorf("%s: the refused field does not have the focus", field)
		}
	}
	d.post(303, "/content/troque-a-senha/retire")
	_, page = d.send("/content/troque-a-senha", "", nil)
	d.post(303, "/content/troque-a-senha", filled(t, page, "/content/troque-a-senha")...)
	if now, err := d.app.Content.GetItem(ctx, "troque-a-senha"); err != nil || !now.Retired {
		t.Error("saving the text offers the item again:", err)
	}
	yaml := cutOut(t, page, `name="yaml"`, "</textarea>")
	_, yaml, _ = strings.Cut(html.UnescapeString(yaml), ">")
	d.post(303, "/content/troque-a-senha/yaml", "yaml", strings.Replace(yaml, "Troque a senha", "Troque já", 1))
	d.post(422, "/content/troque-a-senha/yaml", "yaml", strings.Replace(yaml, "troque-a-senha", "outro", 1))
	if now, err := d.app.Content.GetItem(ctx, "troque-a-senha"); err != nil || now.Title != "Troque já" {
		t.Error(now.Title, err)
	}
}
