package console_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// TestAuditList: the trail is narrowed by an operator's e-mail and by a period, turned round, and read page by page.
func TestAuditList(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	ana, err := d.app.Operators.FindByEmail(ctx, "ana@exemplo.com.br")
	if err != nil {
		t.Fatal(err)
	}
	today := func() string { return time.Now().In(time.FixedZone("", -3*60*60)).Format(time.DateOnly) }
	first := today()
	for i := range 60 {
		if err := d.app.Audit.RecordAction(ctx, operator.Actor{Name: string(ana.ID), From: "192.0.2.1"}, "test.line", fmt.Sprint("of-ana-", i), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.app.Audit.RecordAction(ctx, operator.Actor{Name: "cli:root", From: "host"}, "test.line", "of-root", ""); err != nil {
		t.Fatal(err)
	}
	last := today() // another day than the first when midnight was in between
	for query, want := range map[string][]string{
		"actor=Ana%40exemplo.com.br&action=test.line": {"of-ana-59", "-of-root", "Mostrando 50; há mais nas próximas páginas.", `value="Ana@exemplo.com.br"`},
		"actor=ninguem%40exemplo.com.br":              {"Nada com este filtro"},
		"actor=cli:root":                              {"of-root", "-of-ana-", "1 no total."},
		"action=test.line&sort=old":                   {"of-ana-0<", "-of-ana-59<", "-of-root"},
		"action=test.line&from=" + first:              {"of-root"},
		"action=test.line&to=2020-01-01":              {"Nada com este filtro"},
		"action=test.line&to=" + last:                 {"of-root"},
	} {
		_, page := d.send("/audit?"+query, "", nil)
		has(t, page, want...)
	}
	_, page := d.send("/audit?action=test.line&sort=old", "", nil)
	next := strings.ReplaceAll(cutOut(t, page, `<a class="button quiet" href="`, `">Próxima`), "&amp;", "&")
	_, page = d.send(next, "", nil)
	has(t, page, "of-ana-50<", "of-root", "-of-ana-49<", "é o fim da lista")
	file := d.exported("audit", url.Values{"actor": {"ana@exemplo.com.br"}, "action": {"test.line"}}.Encode())
	has(t, file, "ana@exemplo.com.br", "of-ana-0", "-of-root")
}

// TestDeskIsNarrowed: the desk is narrowed by the days of opening, and turned round.
func TestDeskIsNarrowed(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	var opened []string
	for range 3 {
		c, err := d.app.Cases.OpenCase(context.Background(), p.ID, cyber.CaseRequest{Service: phishing, User: partner.UserHash(user)})
		if err != nil {
			t.Fatal(err)
		}
		opened = append(opened, string(c.ID))
	}
	_, page := d.send("/cases?to=2020-01-01", "", nil)
	has(t, page, "Nenhum caso", `name="to" value="2020-01-01"`)
	for sort, first := range map[string]string{"new": opened[2], "old": opened[0], "urgent": opened[0]} {
		_, page := d.send("/cases?from=2020-01-01&sort="+sort, "", nil)
		if got := cutOut(t, page, `href="/cases/`, `"`); got != first {
			t.Errorf("%s begins with %s", sort, got)
		}
	}
	lines := strings.Split(strings.TrimSpace(d.exported("cases", "sort=new")), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[1], opened[2]) {
		t.Error(lines)
	}
	has(t, d.exported("cases", "to=2020-01-01"), "-"+opened[0])
}
