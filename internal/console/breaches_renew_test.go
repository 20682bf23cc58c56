package console_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
)

// TestConsoleRenewals: a breach is appended to, replaced and read again from the browser, by files of the server and by a
// file that is sent; nothing of that stays. What cannot be done is refused at once.
func TestConsoleRenewals(t *testing.T) {
	d := newAdmin(t)
	d.breach("loja")
	path := filepath.Join(t.TempDir(), "mais.txt")
	if err := os.WriteFile(path, []byte("bia@exemplo.com.br:654321\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	renewed := func(way, from string, renewals, emails int64) {
		t.Helper()
		if j := d.job(intake.KindRenew, "loja"); j.State != job.Done {
			t.Fatal(way, j.State, j.Error)
		}
		d.recorded("breach."+way, "loja", from)
		rec, err := d.app.Leaks.Breaches.FindBreach(context.Background(), "loja")
		if err != nil || rec.Renewals != renewals || rec.Tally.Found["email"] != emails {
			t.Errorf("%s: %+v, %v", way, rec, err)
		}
	}
	if _, page := d.send("/breaches/loja", "", nil); !strings.Contains(page, `href="/breaches/loja/renew"`) {
		t.Error("the page of the breach does not lead to the form")
	}
	d.post(303, "/breaches/loja/renew", "way", "append", "paths", path)
	renewed("append", path, 1, 2)
	d.upload(303, "/breaches/loja/renew/upload", "certo.txt", "caio@exemplo.com.br:1\n", "way", "replace")
	renewed("replace", "upload", 2, 1)
	d.noUploads()
	if _, page := d.post(422, "/breaches/loja/renew", "way", "outro", "paths", path); !strings.Contains(page, "Escolha uma opção da lista.") {
		t.Error(page)
	}
	d.post(422, "/breaches/loja/renew", "way", "append", "paths", "relativo.txt")
	d.post(404, "/breaches/nada/renew", "way", "append", "paths", path)
	d.post(422, "/breaches/loja/retract", "confirm", "outro")
	d.post(303, "/breaches/loja/retract", "confirm", "loja")
	if res, _ := d.post(409, "/breaches/loja/renew", "way", "append", "paths", path); res.StatusCode != 409 {
		t.Error(res.Status)
	}
}
