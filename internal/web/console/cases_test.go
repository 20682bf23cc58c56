package console_test

import (
	"context"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

const phishing = cyber.ServiceID("sv_ajuda_phishing")

// has holds a page against texts that it must show, and after a dash those that it must not.
func has(t *testing.T, page string, texts ...string) {
	t.Helper()
	var wrong []string
	for _, text := range texts {
		if _, not := strings.CutPrefix(text, "-"); not == strings.Contains(page, strings.TrimPrefix(text, "-")) {
			wrong = append(wrong, text)
		}
	}
	if len(wrong) > 0 {
		t.Errorf("not as it should be: %q\n%s", wrong, page)
	}
}

// TestDeskTellsTotals: the desk shows part of what waits, says so, and its pages lead through all of it.
func TestDeskTellsTotals(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	ctx := context.Background()
	for range 60 {
		if _, err := d.app.Cases.OpenCase(
			ctx,
			p.ID,
			cyber.CaseRequest{Service: phishing, User: partner.UserHash(user)},
		); err != nil {
			t.Fatal(err)
		}
	}
	_, page := d.send("/cases", "", nil)
	has(
		t,
		page,
		"1–50 de 60",
		`Todos <span class="count">60</span>`,
		`Sem responsável <span class="count">60</span>`,
		"Ma••• S.",
		"-Maria",
	)
	_, page = d.send("/cases?view=lanes", "", nil)
	has(t, page, "Mostrando 25 de 60.", `<span class="soft">60</span>`)
	seen := 0
	for path := "/cases"; path != ""; {
		_, page := d.send(path, "", nil)
		seen += strings.Count(page, `class="open"`)
		if path = ""; strings.Contains(page, `rel="next"`) {
			path = nextPage(t, page)
		}
	}
	if seen != 60 {
		t.Errorf("%d of 60 cases on the pages", seen)
	}
	for query, want := range map[string]string{
		"owner=ninguem": "1–50 de 60", "owner=eu": "Nenhum caso", "partner=pt_x": "Nenhum caso",
		"service=sv_x":            "Nenhum caso",
		"partner=" + string(p.ID): "1–50 de 60",
	} {
		_, page := d.send("/cases?"+query, "", nil)
		has(t, page, want)
	}
	_, page = d.send("/", "", nil)
	has(t, page, "Fila do dia", `<a class="tile" href="/cases?partner=&amp;owner=ninguem">`)
}

// TestCaseOnThePage: an attendant reads whom a case is about and what they wrote, with a reason, takes it over, writes
// into it and moves it.
func TestCaseOnThePage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	ctx := context.Background()
	q, err := d.app.Cases.AddQuestion(ctx, phishing, "Qual é o sistema?", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.app.Cases.OpenCase(ctx, p.ID, cyber.CaseRequest{
		Service:      phishing,
		User:         partner.UserHash(user),
		Appointments: []cyber.Appointment{{JSON: `{"appointment":"2026-12-24T15:00:00Z"}`}},
		Answers: []cyber.TriageAnswer{
			{
				Question: string(q.ID),
				Answer:   "Android",
				JSON:     `{"questionId":"` + string(q.ID) + `","answer":"Android"}`,
			},
			{JSON: `{"x":[1]}`},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/cases/" + string(c.ID)
	_, page := d.send(path, "", nil)
	_, thread, _ := strings.Cut(page, `class="thread"`)
	thread, _, _ = strings.Cut(thread, "</section>")
	has(t, thread, `<span class="ava" aria-hidden="true">MS</span>`)
	has(t, page, "Ma••• S.", "Conteúdo oculto", "-Maria", "-87654321", "-maria@", "-Android")
	d.post(422, path+"/reveal", "reason", "")
	d.post(303, path+"/reveal", "reason", "chamado 7")
	_, page = d.send(path, "", nil)
	has(
		t,
		page,
		"Maria da Silva",
		"5511987654321",
		"maria@exemplo.com.br",
		"Qual é o sistema?</b> Android",
		"24/12/2026 12:00",
		"&#34;x&#34;",
		"motivo “chamado 7”",
	)
	d.recorded("person.reveal", d.app.Subjects.Reference(subject.Person{User: c.User, Partner: c.Partner}), "chamado 7")

	_, page = d.post(422, path+"/assign", "assignee", "ninguém que exista")
	has(t, page, "Confira o que foi preenchido no caso.")
	d.post(303, path+"/assign", "me", "1")
	_, page = d.post(422, path+"/write", "kind", "note", "text", " ")
	has(t, page, "Confira o que foi preenchido no caso.")
	d.post(303, path+"/write", "kind", "note", "text", "ligou às 10h")
	d.recorded("case.note", string(c.ID), "")
	d.post(422, path+"/write", "kind", "reply", "text", " ")
	d.post(303, path+"/write", "kind", "reply", "text", "Pode enviar a mensagem?")
	d.recorded("case.reply", string(c.ID), "")
	if _, err := d.app.Cases.AddMessage(
		t.Context(),
		cyber.CaseKey{ID: c.ID, Partner: c.Partner, User: c.User},
		cyber.Message{Text: "segredo da Maria"},
	); err != nil {
		t.Fatal(err)
	}
	_, page = d.send(path, "", nil)
	has(t, page, `msg ours`, "Pode enviar a mensagem?", "segredo da Maria", `msg note`, "ligou às 10h")
	_, page = d.post(409, path+"/undo")
	has(t, page, "O caso não pode ir para esta situação")
	d.post(303, path+"/take")
	_, page = d.post(409, path+"/move", "to", "Em andamento")
	has(t, page, "O caso não pode ir para esta situação")
	_, page = d.send(path, "", nil)
	has(t, page, `<option value="ana@exemplo.com.br" selected>ana@exemplo.com.br`, "Você · Em andamento")
	res, _ := d.post(303, path+"/end", "to", "Resolvido", "go", "next")
	if to := res.Header.Get("location"); to != "/cases?undo="+string(c.ID)+"&done=case.ending" {
		t.Error("after the last case one goes to", to)
	}
	_, page = d.send("/cases?undo="+string(c.ID)+"&done=case.ending", "", nil)
	has(t, page, `action="/cases/`+string(c.ID)+`/undo"`, "Passa a Resolvido")
	d.post(303, path+"/undo")

	// Whoever may not work on cases is nobody to give one to.
	session(t, d.app, "leitor@exemplo.com.br", operator.Viewer)
	d.post(422, path+"/assign", "assignee", "leitor@exemplo.com.br")
	_, page = d.send("/cases?owner=ana@exemplo.com.br", "", nil)
	has(t, page, string(c.ID))
}

// TestMarkedCasesAreAssignedTogether: a case that cannot be assigned leaves the others as they were, so that the
// refusal is true of all that were marked. When all can be, each has its line in the trail.
func TestMarkedCasesAreAssignedTogether(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	var ids []cyber.CaseID
	for range 2 {
		asked := cyber.CaseRequest{Service: phishing, User: partner.UserHash(user)}
		c, err := d.app.Cases.OpenCase(t.Context(), p.ID, asked)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	assignees := func() (list []string) {
		for _, id := range ids {
			c, _, err := d.app.Cases.GetCase(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, c.Assignee)
		}
		return list
	}
	d.post(404, "/cases/assign", "row", string(ids[0]), "row", "cs_unknown", "row", string(ids[1]), "me", "1")
	if got := assignees(); got[0] != "" || got[1] != "" {
		t.Errorf("the page refuses all, but the cases are assigned to %q", got)
	}
	d.post(303, "/cases/assign", "row", string(ids[0]), "row", string(ids[1]), "me", "1")
	if got := assignees(); got[0] != "ana@exemplo.com.br" || got[1] != got[0] {
		t.Errorf("the cases are assigned to %q", got)
	}
	for _, id := range ids {
		d.recorded("case.assign", string(id), "ana@exemplo.com.br")
	}
}
