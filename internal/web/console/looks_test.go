package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// waiting makes a live partner whose first looks are stopped, and a person of it with three values that have waited for
// theirs for 30 hours.
func (d *adminSession) waiting(name string) (partner.Partner, subject.Person) {
	d.t.Helper()
	ctx := d.t.Context()
	p, _, err := d.app.Partners.CreatePartner(ctx, name, partner.Live, partner.Settings{
		FirstLooksPerHour: partner.NoFirstLooks, // or the server would make them
		People:            7,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	longAgo := func() time.Time { return time.Now().Add(-30 * time.Hour) }
	unmatched := func(byte, []byte) uint64 { return 0 }
	rules := cyber.NewMonitoring(d.app.Store.Monitoring, d.app.Store.Partners, cyber.Unasked{}, unmatched, longAgo)
	who := subject.Person{Partner: p.ID, User: "pessoa-1"}
	var items []cyber.BulkItem
	for _, mail := range []string{"dora@exemplo.com.br", "dora@clube.com.br", "dora@trabalho.com.br"} {
		items = append(items, cyber.BulkItem{User: string(who.User), Kind: "email", Value: mail})
	}
	added, err := rules.AddAssets(ctx, cyber.NewOwner(p.ID, p.Mode, p.Settings), items)
	if err != nil || added.Waiting != len(items) {
		d.t.Fatal(added, err)
	}
	return p, who
}

// TestConsoleIsNotCalmBeforeTheLook: of values that wait for their first look no page says that nothing was found; the
// first pages of operators and of the partner tell of those that have waited for a day, and lead to what mends it.
func TestConsoleIsNotCalmBeforeTheLook(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, who := d.waiting("Banco Parado")
	opened, err := d.app.Cases.OpenCaseByPhone(
		t.Context(), p.ID, cyber.CaseRequest{Service: "sv_ajuda_phishing", User: who.User, Mode: p.Mode},
	)
	if err != nil {
		t.Fatal(err)
	}
	sees := func(path string, texts ...string) string {
		t.Helper()
		res, page := d.send(path, "", nil)
		if res.StatusCode != http.StatusOK {
			t.Fatal(path, res.StatusCode, page)
		}
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s does not say %q:\n%s", path, text, page)
			}
		}
		return page
	}
	person := "/people/" + string(p.ID) + "/" + d.app.Subjects.Reference(who)
	for path, texts := range map[string][]string{
		person:                        {"Ainda não verificado", "3 de 3", "não se sabe se", "Com base em 0 de 3", "não se sabe</strong>"},
		"/cases/" + string(opened.ID): {"3 de 3", "não se sabe se"},
	} {
		page := sees(path, texts...)
		for _, calm := range []string{"Sem ocorrências", "Nada em aberto", ">0,0</strong>"} {
			if strings.Contains(page, calm) {
				t.Errorf("%s says %q", path, calm)
			}
		}
	}
	of := "/monitoring?partner=" + string(p.ID) + "&status="
	if page := sees(of + "esperando"); strings.Count(page, "Ainda não verificado") != 3 {
		t.Error("the list of those that wait:", page)
	}
	if page := sees(of + "monitorado"); strings.Contains(page, "***@") || strings.Contains(page, "Ainda não verificado") {
		t.Error("values that were not looked for stand among those without findings:", page)
	}
	if page := sees(of + "todos"); strings.Count(page, "Ainda não verificado") != 3 {
		t.Error("the list of all:", page)
	}

	if err := d.app.Store.Overview.CountFigures(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	sees("/", "3 dados esperam", "Banco Parado", "buscas paradas pela operação", "3 ainda sem busca",
		`href="/partners/`+string(p.ID)+`?aba=limites">Conceder buscas`)

	_, cookie := enter(t, d, p.ID, "eva@banco.example", operator.PartnerViewer)
	d.cookie = cookie
	sees("/", "3 dados das suas pessoas esperam", "3 há mais de um dia", "paradas pela operação")
}

// TestPartnerFormDemandsItsSize: the forms of a live partner ask how many people the contract covers, say what it
// grants, and do not let it be left empty; a sandbox needs none.
func TestPartnerFormDemandsItsSize(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	const rule = "Diga quantas pessoas o contrato cobre"
	for _, people := range []string{"", "0"} {
		_, page := d.post(http.StatusUnprocessableEntity, "/partners/new", "name", "Banco", "mode", "live", "people", people)
		if !strings.Contains(page, rule) || !strings.Contains(page, "3 buscas retroativas por pessoa") {
			t.Errorf("%q people: %s", people, page)
		}
	}
	d.post(http.StatusOK, "/partners/new", "name", "Testes", "mode", "sandbox")
	d.post(http.StatusOK, "/partners/new", "name", "Banco", "mode", "live", "people", "100000")
	all, err := d.app.Partners.ListPartners(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	for _, p := range all {
		path := "/partners/" + string(p.ID)
		if p.Mode == partner.Sandbox {
			d.post(http.StatusSeeOther, path+"/settings", "name", "Testes")
			continue
		}
		_, page := d.post(http.StatusUnprocessableEntity, path+"/settings", "name", "Banco", "people", "")
		if !strings.Contains(page, rule) {
			t.Error("emptied:", page)
		}
		if _, page := d.send(path+"?aba=limites", "", nil); !strings.Contains(page, "hoje 300.000 de uma vez e 500 por hora") {
			t.Error("what it grants:", page)
		}
	}
}
