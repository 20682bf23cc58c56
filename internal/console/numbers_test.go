package console_test

import (
	"context"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/leak"
)

// TestImportFiguresAgree: while a breach is imported, and afterwards, its page, the list and the job tell one number of
// each thing.
func TestImportFiguresAgree(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	ctx := context.Background()
	const kind, worker, name = intake.KindImport, "w_test", "grande"
	err := d.app.Store.Breaches.InsertBreach(ctx, leak.Record{State: leak.Importing, Breach: cyber.Breach{
		Name: name, Title: "Grande", Kind: cyber.SourceBreach, Date: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), AddedAt: time.Now(),
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
		Read: 112_000_000, Total: 224_000_000, Scanned: 112_000_000, Elapsed: 10 * time.Second, Found: map[string]int64{"email": 400, "cpf": 52},
	}
	if err := d.app.Store.Jobs.SaveJob(ctx, worker, j.ID, p); err != nil {
		t.Fatal(err)
	}
	const told = "112,0 MB de 224,0 MB lidos, 452 identificadores encontrados, 50,0 %, 11,2 MB/s, faltam 10,0 s"
	_, page := d.send("/breaches/"+name, "", nil)
	has(t, page, told, "<dt>Lidos</dt><dd>112,0 MB</dd>", "<dt>E-mail</dt><dd>400</dd>", "<dt>CPF</dt><dd>52</dd>", "-0 B<", "-<dd>0</dd>", "-Impressões no índice")
	_, page = d.send("/breaches", "", nil)
	has(t, page, told, `-data-label="Identificadores">0<`)

	d.breach("loja")
	_, page = d.send("/breaches/loja", "", nil)
	has(t, page, "28 B lidos, 1 identificador encontrado, 3 impressões no índice", "<dt>Lidos</dt><dd>28 B</dd>", "</span></dt><dd>3</dd>", "<dt>E-mail</dt><dd>1</dd>")
}
