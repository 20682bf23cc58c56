package console_test

import (
	"context"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestFirstRun: an empty installation shows four steps and no empty charts; a step that is done says so, and the next
// one has the filled button.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	_, page := d.send("/login", "", nil)
	has(t, page, "vigia operator create VOCÊ@")
	_, page = d.send("/", "", nil)
	has(t, page, "Vamos deixar a Vigia pronta", "Passos feitos: 0 de 4",
		`<a class="button" href="/partners/new">Criar parceiro`,
		`<a class="button quiet" href="/breaches/new">`, "-Fila do dia", "-<svg class=\"chart")
	p, _, err := d.app.Partners.CreatePartner(context.Background(), "Banco Um", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, page = d.send("/", "", nil)
	plan := `<a class="button" href="/plans/` + string(p.ID) + `/new">Criar plano`
	made := "Feito em " + p.CreatedAt.Add(partner.Brasilia).UTC().Format("02/01/2006")
	has(t, page, "Passos feitos: 1 de 4", made, plan)
	if _, _, err := d.app.Partners.CreatePartner(
		context.Background(), "Testes do Um", partner.Sandbox, partner.Settings{}); err != nil {
		t.Fatal(err)
	}
	_, page = d.send("/", "", nil)
	has(t, page, plan) // for the live one, and not for the sandbox
	d.post(303, "/plans/"+string(p.ID)+"/new", "id", "ouro", "name", "Ouro", "limit", "1.000,00", "types", "Fraude")
	_, page = d.send("/", "", nil)
	has(t, page, "Passos feitos: 2 de 4", `<a class="button" href="/breaches/new">`)
}
