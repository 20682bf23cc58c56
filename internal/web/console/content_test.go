package console_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
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

// TestContentForm: every item of the catalogue comes out of its form as it went in; the form previews, saves, adds, and
// says beside the field what is wrong. YAML stays for those who prefer it.
func TestContentForm(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	all, err := d.app.Content.ListItems(ctx)
	if err != nil || len(all) < 10 {
		t.Fatal(len(all), err)
	}
	for i, it := range all {
		if i%7 > 0 && it.Question == nil &&
			len(it.When.Answered) == 0 { // those with most in them, and some of the rest
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
		"id",
		"troque-a-senha",
		"type",
		"advice",
		"device",
		"mobile",
		"rank",
		"1.000",
		"title",
		"Troque a senha",
		"body",
		"Uma linha.\r\nOutra linha.",
		"question",
		"Já trocou?",
		"mends",
		"Trocar a senha",
		"option_a_value",
		"sim",
		"option_a_label",
		"Sim",
		"option_a_risk",
		"0",
		"option_b_value",
		"nao",
		"option_b_label",
		"Ainda não",
		"option_b_risk",
		"7",
		"no_findings",
		"on",
		"not_watched",
		"cpf",
		"answered",
		"usa-gerenciador: nao, talvez",
	}
	_, page := d.post(200, "/content/new", append(item, "preview", "1")...)
	has(t, page, "<h3>Troque a senha</h3>", "Ainda não", `value="troque-a-senha"`)
	if _, err := d.app.Content.GetItem(ctx, "troque-a-senha"); err == nil {
		t.Error("a preview was kept")
	}
	d.post(303, "/content/new", item...)
	made, err := d.app.Content.GetItem(ctx, "troque-a-senha")
	if err != nil || made.Question == nil {
		t.Fatalf("%+v %v", made, err)
	}
	want := made
	want.Rank, want.Body, want.Device = 1000, "Uma linha.\nOutra linha.", cyber.DeviceMobile
	want.When.NoFindings = true
	difftest.Check(t, "the new item", made, want)
	difftest.Check(t, "its options", len(made.Question.Options), 2)
	difftest.Check(t, "the answers it is for", made.When.Answered["usa-gerenciador"], []string{"nao", "talvez"})
	d.recorded("content.add", "troque-a-senha", "")
	_, page = d.post(409, "/content/new", item...)
	has(t, page, "Já existe um conteúdo com este identificador.", `value="Ainda não"`)
	for field, wrong := range map[string]string{
		"rank": "muitos", "title": "", "option_b_risk": "11", "answered": "sem valores", "id": "Não É",
	} {
		sent := append([]string{}, item...)
		for i := 0; i < len(sent); i += 2 {
			if sent[i] == field {
				sent[i+1] = wrong
			}
		}
		_, page := d.post(422, "/content/new", sent...)
		has(t, page, `aria-invalid="true"`, "field-error")
		if strings.Count(page, " autofocus") != 1 ||
			!regexp.MustCompile(`aria-invalid="true" [^>]* autofocus `).MatchString(page) {
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

// TestFirstLooksPage: an operator says how many people a partner's contract covers, grants more first looks, stops them
// and lets them go on; the pages say so, and all of it is in the audit trail.
func TestFirstLooksPage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, _, err := d.app.Partners.CreatePartner(t.Context(), "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	path := "/partners/" + string(p.ID)
	d.post(http.StatusUnprocessableEntity, path+"/first-looks/grant", "count", "0")
	d.post(http.StatusSeeOther, path+"/first-looks/grant", "count", "300000")
	d.recorded("partner.grant-looks", string(p.ID), "300000")
	if _, page := d.send(
		path+"/usage",
		"",
		nil,
	); !strings.Contains(page, "301.000") ||
		!strings.Contains(page, "Nenhum dado espera") {
		t.Error("the page of usage:", page)
	}
	d.post(
		http.StatusSeeOther,
		path+"/settings",
		"name",
		"Banco Exemplo",
		"people",
		"100000",
		"first_looks_per_hour",
		"",
	)
	if _, page := d.send(
		path+"/usage",
		"",
		nil,
	); !strings.Contains(page, "601.000") ||
		!strings.Contains(page, "<dd>500</dd>") {
		t.Error("the page of usage of 100.000 people:", page)
	}
	d.post(http.StatusUnprocessableEntity, path+"/settings", "name", "Banco Exemplo", "first_looks_per_hour", "dez")
	d.post(http.StatusUnprocessableEntity, path+"/settings", "name", "Banco Exemplo", "people", "300000001")
	d.post(
		http.StatusSeeOther,
		path+"/settings",
		"name",
		"Banco Exemplo",
		"people",
		"100000",
		"first_looks_per_hour",
		"0",
	)
	if _, page := d.send(path, "", nil); !strings.Contains(page, "Buscas retroativas paradas") {
		t.Error("the notice:", page)
	}
	if _, page := d.send("/partners", "", nil); !strings.Contains(page, "Consultas paradas") {
		t.Error("the list:", page)
	}
	d.post(
		http.StatusSeeOther,
		path+"/settings",
		"name",
		"Banco Exemplo",
		"people",
		"100000",
		"first_looks_per_hour",
		"",
	)
	if _, page := d.send(path, "", nil); strings.Contains(page, "Buscas retroativas paradas") {
		t.Error("still stopped:", page)
	}
}

// TestThemePage: the look of people's pages is set in the console too, refused in Portuguese, and in the audit trail.
func TestThemePage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, _, err := d.app.Partners.CreatePartner(t.Context(), "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	path := "/partners/" + string(p.ID) + "/theme"
	colours := []string{"accent", "#ffcc00", "accent_text", "#000000", "title", "Proteção"}
	_, page := d.post(http.StatusUnprocessableEntity, path, colours...)
	if !strings.Contains(page, "O contraste é de 1,5") && !strings.Contains(page, "O contraste é de 1.5") ||
		!strings.Contains(page, "Proteção") {
		t.Error("the ratio is not said, or what was typed is lost:", page)
	}
	colours[1], colours[3] = "#7a1fa2", "#ffffff"
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 40, 20))); err != nil {
		t.Fatal(err)
	}
	d.upload(
		http.StatusSeeOther,
		path,
		"logo.png",
		picture.String(),
		append(colours, "intro-es", "Hola", "frame", "https://app.banco.com.br")...,
	)
	kept, err := d.app.Partners.GetTheme(t.Context(), p.ID)
	if err != nil || len(kept.Logo) == 0 {
		t.Fatalf("%+v %v", kept, err)
	}
	difftest.Must(t, "the accent", kept.Accent, "#7a1fa2")
	difftest.Must(t, "the Spanish text", kept.Texts[partner.Spanish].Intro, "Hola")
	difftest.Must(t, "how many frames", len(kept.Frames), 1)
	d.recorded("partner.theme", string(p.ID), "")
	if _, page := d.send(
		path,
		"",
		nil,
	); !strings.Contains(page, "Hola") ||
		!strings.Contains(page, "Retirar o logotipo") {
		t.Error("the page does not show what was kept:", page)
	}
	d.post(http.StatusSeeOther, path, append(colours, "no_logo", "on")...)
	if kept, err := d.app.Partners.GetTheme(t.Context(), p.ID); err != nil || len(kept.Logo) != 0 {
		t.Error("the logo is still there:", err)
	}
}

// TestImportFiguresAgree: while a breach is imported, and afterwards, its page, the list and the job tell one number of
// each thing.
func TestImportFiguresAgree(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	const kind, worker, name = intake.KindImport, "w_test", "grande"
	err := d.app.Store.Breaches.InsertBreach(ctx, leak.Record{State: leak.Importing, Breach: cyber.Breach{
		Name:    name,
		Title:   "Grande",
		Kind:    cyber.SourceBreach,
		Date:    time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		AddedAt: time.Now(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.app.Store.Jobs.EnqueueJob(ctx, kind, name, struct{}{}); err != nil {
		t.Fatal(err)
	}
	j, _, err := d.app.Store.Jobs.TakeJobOf(ctx, worker, kind, name)
	if err != nil {
		t.Fatal(err)
	}
	p := intake.Progress{
		Read:    112_000_000,
		Total:   224_000_000,
		Scanned: 112_000_000,
		Elapsed: 10 * time.Second,
		Found:   map[string]int64{"email": 400, "cpf": 52},
	}
	if err := d.app.Store.Jobs.SaveJob(ctx, worker, j.ID, p); err != nil {
		t.Fatal(err)
	}
	const told = "112,0 MB de 224,0 MB lidos, 452 identificadores encontrados, 50,0 %, 11,2 MB/s, faltam 10,0 s"
	_, page := d.send("/breaches/"+name, "", nil)
	has(
		t,
		page,
		told,
		"<dt>Lidos</dt><dd>112,0 MB</dd>",
		"<dt>E-mail</dt><dd>400</dd>",
		"<dt>CPF</dt><dd>52</dd>",
		"-0 B<",
		"-<dd>0</dd>",
		"-Impressões no índice",
	)
	_, page = d.send("/breaches", "", nil)
	has(t, page, told, `-data-label="Impressões">0<`)

	d.breach("loja")
	_, page = d.send("/breaches/loja", "", nil)
	has(
		t,
		page,
		"28 B lidos, 1 identificador encontrado, 3 impressões no índice",
		"<dt>Lidos</dt><dd>28 B</dd>",
		"</span></dt><dd>3</dd>",
		"<dt>E-mail</dt><dd>1</dd>",
	)
}
