package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/subscription"
)

// enrolment is a table with one record that is right and one that is not; the heading is that of the page.
const enrolment = "plan_id;is_group_plan;start_date;name;cpf;birth_date;gender;email;phone_number;primary_card;user_card;zipcode;street;number;neighborhood;city;state\n" +
	"ouro;false;2026-01-01;José Souza;11144477735;1980-02-03;M;jose@exemplo.com.br;+5511987654322;4111111111111111;4111111111111111;01310100;Avenida Paulista;1;Bela Vista;São Paulo;SP\n" +
	"ouro;false;2026-01-01;Sem CPF;123;1980-02-03;F;x;+5511987654321;;;01310100;Rua;1;Centro;São Paulo;SP\n"

// TestCheckThenCreate: a file that was checked is created without being sent again, by whoever sent it and for the
// partner it was checked for; what was refused is a file to mend. Neither outlives its use.
func TestCheckThenCreate(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	p, _ := d.customer()
	other, _ := d.customer()
	at := "/subscriptions/import?partner=" + string(p.ID)
	page := d.upload(200, at+"&dry=1", "pessoas.csv", enrolment)
	has(t, page, "nada foi criado", "Criar a assinatura conferida", "Baixar as recusadas")
	create := cutOut(t, page, `action="/subscriptions/import/ex_`, `"`)
	create = "/subscriptions/import/ex_" + strings.ReplaceAll(create, "&amp;", "&")
	id, _, _ := strings.Cut(strings.TrimPrefix(create, "/subscriptions/import/"), "?")
	refused := "/exports/" + cutOut(t, page, `href="/exports/`, `"`)
	listed := func() int {
		list, _, err := d.app.Store.Overview.SubscriptionList(ctx, p.ID, subscription.ListFilter{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := listed(); n != 1 {
		t.Fatal(n, "subscriptions after a check")
	}

	res, file := d.send(refused, "", nil)
	has(t, file, "plan_id;", ";line;errors", "Sem CPF;123;", ";3;", "-11144477735")
	if !strings.Contains(res.Header.Get("content-disposition"), ".csv") {
		t.Error(res.Header)
	}
	d.recorded("list.download", strings.TrimPrefix(refused, "/exports/"), "assinaturas-recusadas: 1")
	_, exports := d.send("/exports", "", nil)
	has(t, exports, "Assinaturas recusadas", "-"+id)
	if res, _ := d.send("/exports/"+id, "", nil); res.StatusCode != http.StatusNotFound {
		t.Error("what was sent is handed out again:", res.StatusCode)
	}

	colleague := d.as(session(t, d.app, "bia@exemplo.com.br", operator.Support))
	colleague.post(404, create)
	d.post(404, "/subscriptions/import/"+id+"?partner="+string(other.ID))
	_, page = d.post(200, create)
	has(t, page, "Resultado", "Baixar as recusadas", "-assinatura conferida")
	if n := listed(); n != 2 {
		t.Error(n, "subscriptions after creating")
	}
	d.post(404, create)
	if _, err := d.app.Store.Operators.ExportPart(ctx, id, 1); err == nil {
		t.Error("the file outlives its use")
	}
	page = d.upload(200, at+"&dry=1", "pessoas.csv", enrolment)
	has(t, page, "nada foi criado", "-assinatura conferida", "-assinaturas conferidas")
	items := strings.ReplaceAll(maria[1:len(maria)-1], "\n", "")
	page = d.upload(200, at+"&dry=1", "pessoas.jsonl", strings.Replace(items, "52998224725", "123", 1)+"\n"+items+"\n")
	res, file = d.send("/exports/"+cutOut(t, page, `href="/exports/`, `"`), "", nil)
	has(t, file, `{"line":1,"errors":[`, `"cpf":"123"`)
	if !strings.Contains(res.Header.Get("content-disposition"), ".jsonl") {
		t.Error(res.Header)
	}
}
