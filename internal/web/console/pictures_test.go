package console_test

import (
	"context"
	"strings"
	"testing"
)

// TestPicturesOnPages: the pages that show numbers over time draw them for each period, with the numbers as a table,
// and without a script.
func TestPicturesOnPages(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, user := d.customer()
	d.breach("loja")
	d.found(p.ID, user)
	if err := d.app.Store.Overview.CountFigures(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	for path, title := range map[string]string{
		"/": "Ocorrências por gravidade", "/breaches": "Vazamentos por tamanho", "/cases": "Casos resolvidos: prazo",
		"/partners": "Novas assinaturas por parceiro",
	} {
		for _, days := range []string{"7", "30", "90", "365", "x"} {
			res, page := d.send(path+"?dias="+days, "", nil)
			if res.StatusCode != 200 || !strings.Contains(page, "<h3>"+title+"</h3>") ||
				!strings.Contains(page, "dias=365#graficos") ||
				strings.Contains(page, "<script") {
				t.Fatalf("%s over %s days: %d\n%s", path, days, res.StatusCode, page)
			}
			if path != "/cases" &&
				(!strings.Contains(page, `role="img" aria-label="`+title) || !strings.Contains(page, `aria-label="Números de `+title)) {
				t.Errorf("%s over %s days is not drawn, or has no table", path, days)
			}
		}
	}
}
