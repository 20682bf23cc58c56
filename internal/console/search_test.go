package console_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// TestSearch: whatever an attendant is told leads to the person or the thing, and nothing that was typed stands in an address
// or in the trail.
func TestSearch(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	ctx := context.Background()
	c, err := d.app.Cases.OpenCase(ctx, p.ID, cyber.CaseRequest{Service: phishing, User: partner.UserHash(user)})
	if err != nil {
		t.Fatal(err)
	}
	find := func(q string) string {
		t.Helper()
		res, page := d.post(303, "/search", "q", q)
		to := res.Header.Get("location")
		if page != "" && strings.Contains(page, q) || strings.Contains(to, q) && !strings.HasPrefix(q, "cs_") && !strings.HasPrefix(q, "pt_") {
			t.Errorf("%q stands in %s", q, to)
		}
		return to
	}
	person := find(user)
	if !strings.HasPrefix(person, "/people/"+string(p.ID)+"/us_") {
		t.Fatal(person)
	}
	for _, q := range []string{"529.982.247-25", "52998224725", " Maria@Exemplo.com.br ", strings.ToUpper(user)} {
		if to := find(q); to != person {
			t.Errorf("%s leads to %s", q, to)
		}
	}
	if to := find(string(c.ID)); to != "/cases/"+string(c.ID) {
		t.Error(to)
	}
	for _, q := range []string{"1", "#1"} {
		if res, _ := d.post(303, "/search", "q", q); res.Header.Get("location") != "/cases/"+string(c.ID) {
			t.Errorf("the number %s leads to %s", q, res.Header.Get("location"))
		}
	}
	_, mistyped := d.post(200, "/search", "q", "529.982.247-26")
	has(t, mistyped, "Este CPF não existe")
	for _, q := range []string{string(p.ID), "banco exemplo", "BANCO E"} {
		if to := find(q); to != "/partners/"+string(p.ID) {
			t.Errorf("%s leads to %s", q, to)
		}
	}
	for _, q := range []string{"ninguem@exemplo.com.br", "cs_nada", "11 91234-5678", "x"} {
		_, page := d.post(200, "/search", "q", q)
		has(t, page, "Nada encontrado")
	}
	d.post(422, "/search", "q", " ")
	d.post(422, "/search", "q", strings.Repeat("x", 321))

	// The same person with two partners is two people to choose from: what one partner knows is not the other's.
	other, cred, err := d.app.Partners.CreatePartner(ctx, "Clube", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	hash := partner.LongUserHash("52998224725", cred.Salt)
	if _, err := d.app.Monitoring.AddAsset(ctx, cyber.AssetRequest{Owner: cyber.Owner{Partner: other.ID, Mode: other.Mode}, User: hash, Type: "cpf", Value: "52998224725"}); err != nil {
		t.Fatal(err)
	}
	_, page := d.post(200, "/search", "q", "529.982.247-25")
	has(t, page, "Banco Exemplo", "Clube", person)
	if n := strings.Count(page, `href="/people/`); n != 2 {
		t.Errorf("%d people, not 2", n)
	}

	lines, err := d.app.Audit.ListEntries(ctx, operator.Filter{Action: "search", Limit: 100})
	if err != nil || len(lines) < 10 {
		t.Fatal(len(lines), err)
	}
	for _, l := range lines {
		for _, typed := range []string{user, "52998224725", "aria@", "12345678", "91234-5678"} {
			if strings.Contains(l.Subject+l.Detail, typed) {
				t.Errorf("the trail holds what was typed: %+v", l)
			}
		}
	}
}

// findings waits until so many are there.
func (d *adminSession) findings(want int) []cyber.Found {
	d.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		found, _, err := d.app.Store.Overview.FindingList(context.Background(), cyber.FindingFilter{Limit: 10})
		if err == nil && len(found) == want {
			return found
		}
		if time.Now().After(deadline) {
			d.t.Fatal(found, err)
		}
	}
}

// TestPersonPage: everything of one person on one page, masked, with what an attendant does from there.
func TestPersonPage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	ctx := context.Background()
	d.breach("loja")
	found := d.findings(1)
	if _, err := d.app.Endpoints.IssueKey(ctx, p.ID, cyber.DeviceRequest{User: partner.UserHash(user), System: cyber.Android, Name: "Celular"}); err != nil {
		t.Fatal(err)
	}
	res, _ := d.post(303, "/search", "q", user)
	path := res.Header.Get("location")
	_, page := d.send(path, "", nil)
	has(t, page, "Ma••• S.", "ouro", "Loja", "Android", "Senha", "Em aberto", "monitoring.leak_detected", "-Maria da", "-maria@", "-87654321", "-Celular")
	d.post(303, path+"/reveal", "reason", "chamado 9")
	_, page = d.send(path, "", nil)
	has(t, page, "Maria da Silva", "maria@exemplo.com.br", "5511987654321", "viu os dados", "chamado 9")
	d.recorded("person.reveal", strings.TrimPrefix(path, "/people/"+string(p.ID)+"/"), "chamado 9")

	_, page = d.post(422, path+"/values", "type", "domain", "value", "nada")
	has(t, page, "Pessoa de Banco Exemplo")
	d.post(303, path+"/values", "type", "domain", "value", "empresa-exemplo.com.br")
	opened, _ := d.post(303, path+"/case", "service", string(phishing))
	_, page = d.send(opened.Header.Get("location"), "", nil)
	has(t, page, path, "Caso aberto em nome da pessoa.")
	d.post(404, path+"/case", "service", "sv_nada")

	res, _ = d.post(303, "/findings/"+string(p.ID)+"/"+string(found[0].Finding.ID)+"/resolve", "resolution", "password_changed", "person", "1")
	if to := res.Header.Get("location"); !strings.HasPrefix(to, path) {
		t.Error(to)
	}
	_, page = d.send(path, "", nil)
	has(t, page, "Senha trocada", "Domínio", "ana@exemplo.com.br", "resolveu uma ocorrência")
	_, list := d.send("/findings?state=all", "", nil)
	has(t, list, path)
	_, page = d.send("/subscriptions/"+string(p.ID)+"/1", "", nil)
	has(t, page, path)
	kept, _, err := d.app.Store.Overview.ListEvents(ctx, p.ID, alert.EventFilter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, page = d.send("/events/"+string(p.ID)+"/"+string(kept[0].ID), "", nil)
	has(t, page, path)

	// Nobody's reference, another partner's, and no reference at all.
	other, _, err := d.app.Partners.CreatePartner(ctx, "Clube", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{
		"/people/" + string(p.ID) + "/us_00", "/people/" + string(p.ID) + "/x", strings.Replace(path, string(p.ID), string(other.ID), 1), "/people/x/us_00",
	} {
		if res, _ := d.send(wrong, "", nil); res.StatusCode != 404 {
			t.Errorf("%s: %d", wrong, res.StatusCode)
		}
	}
}
