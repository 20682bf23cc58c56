package console_test

import (
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/plan"
)

// TestPlanFormWatches: an operator says in the form of a plan what it watches, sees it there and in the list, and takes
// it away again. A kind that no plan watches is refused.
func TestPlanFormWatches(t *testing.T) {
	d := newAdmin(t)
	p, _ := d.customer()
	at := "/plans/" + string(p.ID)
	fields := []string{"name", "Prata", "limit", "0", "max_devices", "0", "key_days", "0", "coverage_plan", "Prata"}
	d.post(303, at+"/new", append(fields, "id", "prata", "watch", "email", "watch", "cpf")...)
	kept, err := d.app.Plans.GetPlan(t.Context(), p.ID, "prata")
	if err != nil || kept.Watch != plan.NewWatch(identifier.Email, identifier.CPF) {
		t.Fatal(kept.Watch, err)
	}
	_, page := d.send(at+"/edit/prata", "", nil)
	if strings.Count(page, `name="watch"`) != 3 || strings.Count(page, " checked") != 3 { // the third: it is for sale
		t.Errorf("%s", page)
	}
	_, page = d.send("/plans?partner="+string(p.ID), "", nil)
	has(t, page, "e-mail, CPF")
	d.post(422, at+"/edit/prata", append(fields, "watch", "domain", "offered", "on")...)
	d.post(303, at+"/edit/prata", append(fields, "offered", "on")...)
	if kept, err = d.app.Plans.GetPlan(t.Context(), p.ID, "prata"); err != nil || kept.Watch != 0 {
		t.Error(kept.Watch, err)
	}
}
