package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// TestFirstLooksPage: an operator sees that the brake has stopped a partner's first looks and why, releases them, and
// grants more; all of it is in the audit trail.
func TestFirstLooksPage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, _, err := d.app.Partners.CreatePartner(t.Context(), "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	path := "/partners/" + string(p.ID)
	d.post(http.StatusUnprocessableEntity, path+"/first-looks/grant", "count", "0")
	d.post(http.StatusSeeOther, path+"/first-looks/grant", "count", "300000")
	d.recorded("partner.grant-looks", string(p.ID), "300000")
	if _, page := d.send(path+"/usage", "", nil); !strings.Contains(page, "301.000") || !strings.Contains(page, "Nenhum dado espera") {
		t.Error("the page of usage:", page)
	}
	stopped, err := d.app.Store.Monitoring.StopFirstLooks(t.Context(), p.ID, cyber.LookStop{At: time.Now(), What: cyber.UnusualHits, Seen: 990, Usual: 632})
	if err != nil || !stopped {
		t.Fatal(stopped, err)
	}
	if _, page := d.send(path, "", nil); !strings.Contains(page, "Primeiras consultas paradas") || !strings.Contains(page, "990 de cada mil") {
		t.Error("the notice:", page)
	}
	if _, page := d.send("/partners", "", nil); !strings.Contains(page, "Consultas paradas") {
		t.Error("the list:", page)
	}
	d.post(http.StatusSeeOther, path+"/first-looks/release")
	d.recorded("partner.release-looks", string(p.ID), "")
	if _, page := d.send(path, "", nil); strings.Contains(page, "Primeiras consultas paradas") {
		t.Error("still stopped:", page)
	}
}
