package console_test

import (
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
)

// TestIncidentOffersLeaks: a leak is chosen by title and date, or named by its short name or by a title that it alone
// has. What names none, or several, is told beside the field: "nobody was hit" would not be true of it.
func TestIncidentOffersLeaks(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	d.breach("loja")
	d.found(p.ID, user)
	_, page := d.send("/incidents", "", nil)
	has(t, page, `<option value="Loja, 01/03/2026">loja</option>`)
	for _, leak := range []string{"Loja, 01/03/2026", "loja", "LOJA"} {
		_, page := d.post(200, "/incidents", "breach", leak)
		has(t, page, "1 e-mail")
	}
	d.breach("loja-de-novo")
	_, page = d.send("/incidents", "", nil)
	has(t, page, `value="Loja, 01/03/2026 (loja)"`, `value="Loja, 01/03/2026 (loja-de-novo)"`)
	for typed, want := range map[string]string{
		"Loja":        "Há mais de um vazamento com este título",
		"nunca-visto": "Nenhum vazamento tem este título ou este nome curto.",
		"":            "Informe um vazamento, ou uma janela de tempo.",
	} {
		_, page := d.post(422, "/incidents", "breach", typed)
		label := page[strings.Index(page, `name="breach"`):]
		has(t, label[:strings.Index(label, "</label>")], `aria-invalid="true"`, want)
	}
	_, page = d.post(422, "/incidents", "from", "02/03/2026 00:00", "to", "01/03/2026 00:00")
	label := page[strings.Index(page, `name="to"`):]
	has(t, label[:strings.Index(label, "</label>")], "A janela termina antes de começar.")
}

// TestIncidentOffersOwnLeaks: a partner's people are offered the leaks that hit their own, and not told of others.
func TestIncidentOffersOwnLeaks(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	own := d.tenant("Aurora", operator.Officer)
	d.leak(own)
	d.breachOf("mercado", "outra@exemplo.com.br")
	me := d.as(own.people[operator.Officer])
	_, page := me.send("/incidents", "", nil)
	has(t, page, ">loja</option>", "-mercado")
	_, page = me.post(200, "/incidents", "breach", "mercado")
	has(t, page, "Ninguém foi atingido")
}
