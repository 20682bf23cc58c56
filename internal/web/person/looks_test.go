package person_test

import (
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
)

// liveTenant is a live partner of the world with a key of its own.
func (w *world) liveTenant(t *testing.T) tenant {
	t.Helper()
	p, cred := w.NewPartner(t, partner.Live)
	gate := partner.NewKeyGate(w.Store.Partners, w.Clock.Now)
	who, err := gate.Authenticate(t.Context(), cred.APIKey, partner.ScopeCyber)
	if err != nil {
		t.Fatal(err)
	}
	return tenant{p, who}
}

// addWaiting adds values of a person that wait for their first look.
func (w *world) addWaiting(t *testing.T, of tenant, user partner.UserHash, emails ...string) {
	t.Helper()
	var items []cyber.BulkItem
	for _, mail := range emails {
		items = append(items, cyber.BulkItem{User: string(user), Kind: "email", Value: mail})
	}
	who := cyber.NewOwner(of.ID, of.Mode, of.Settings)
	added, err := w.rules.Monitoring.AddAssets(t.Context(), who, items)
	if err != nil || added.Waiting != len(emails) {
		t.Fatal(added, err)
	}
}

// lookUp gives first looks to as many of a partner's waiting values, the oldest first, and makes them: they find
// nothing.
func (w *world) lookUp(t *testing.T, of tenant, values int64) {
	t.Helper()
	looks := cyber.PaceOf(of.Settings)
	if n, err := w.Store.Monitoring.StartLooks(t.Context(), of.ID, looks, values); err != nil || n != values {
		t.Fatal(n, err)
	}
	due, err := w.Store.Breaches.ListDueLooks(t.Context(), leak.DuePlace{}, int(values))
	if err != nil {
		t.Fatal(err)
	}
	epoch, err := w.Store.Breaches.CorporaEpoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range due {
		kept, err := w.Store.Breaches.SettleLooks(t.Context(), d.Partner, epoch, []cyber.AssetID{d.Asset}, nil)
		if err != nil || kept != 1 {
			t.Fatal(kept, err)
		}
	}
}

// calmWords are what a page says only of a person whose values were all looked at.
var calmWords = []string{
	"Nenhum vazamento em aberto", "Nada a fazer", "Os seus dados monitorados não estão", "Baixo", "Tudo feito",
}

// TestNeverCalmBeforeTheLook: while a value waits for its first look, no page of the person says that all is well, and
// each says what is not known yet, since when, and until when; when all are looked at they say so.
func TestNeverCalmBeforeTheLook(t *testing.T) {
	w := newWorld(t)
	of := w.liveTenant(t)
	w.addWaiting(t, of, "pessoa-1", "dora@exemplo.com.br", "dora@trabalho.com.br", "dora@clube.com.br")
	v := w.visit(t, of, "pessoa-1", partner.Portuguese)
	expect := func(when string, home ...string) {
		t.Helper()
		for _, path := range []string{"/p/", "/p/leaks", "/p/steps", "/p/score"} {
			body := v.sees(path)
			for _, calm := range calmWords {
				if path == "/p/" && calm == "Baixo" || path == "/p/score" && calm == "Baixo" {
					if strings.Contains(body, `class="big">Baixo`) {
						t.Errorf("%s: %s judges the risk as low", when, path)
					}
				} else if strings.Contains(body, calm) {
					t.Errorf("%s: %s says %q", when, path, calm)
				}
			}
		}
		v.sees("/p/", append(home, "Ainda não sabemos", "Ainda não verificamos este dado", "na fila desde 15/11/2026")...)
		v.sees("/p/leaks", "Nenhum até agora, mas ainda não olhamos todos", "Ainda não verificamos este dado, desde 15/11/2026")
		v.sees("/p/steps", "Pode aparecer mais a fazer")
		v.sees("/p/score", "Ainda não sabemos")
	}
	expect("none", "Ainda não olhamos os seus dados", "Devem ser olhados até 15/11/2026")
	w.lookUp(t, of, 1)
	expect("one", "Ainda não olhamos 2 dos seus 3 dados", "Olhamos 1 dos seus 3 dados", "Nada em aberto")

	pace := func(perHour int) {
		t.Helper()
		change := func(p *partner.Partner) { p.Settings.FirstLooksPerHour = perHour }
		if _, err := w.registry.UpdatePartner(t.Context(), of.ID, change); err != nil {
			t.Fatal(err)
		}
	}
	pace(partner.NoFirstLooks)
	expect("stopped", "Ainda não há data para isso")
	pace(partner.LooksBySize)

	w.lookUp(t, of, 2)
	v.sees("/p/", "Nenhum vazamento em aberto", "Nada a fazer por agora", `class="big">Baixo`)
	if body := v.sees("/p/leaks", "Nada em aberto"); strings.Contains(body, "verificamos") {
		t.Error("all are looked at, and the page says otherwise")
	}
	days, err := w.rules.Persons.ScoreHistory(t.Context(), of.ID, "pessoa-1")
	if err != nil || len(days) != 1 {
		t.Errorf("%d days are kept: a risk that was not known is none: %v", len(days), err)
	}
}

// TestNothingWatchedIsNotCalm: of a person without values nothing is known.
func TestNothingWatchedIsNotCalm(t *testing.T) {
	w := newWorld(t)
	of := w.liveTenant(t)
	w.openCase(t, of, "pessoa-2", "")
	v := w.visit(t, of, "pessoa-2", partner.Portuguese)
	if body := v.sees("/p/", "Nenhum dado é monitorado ainda", "Ainda não sabemos"); strings.Contains(
		body, "Nenhum vazamento em aberto") {
		t.Error("a person of whom nothing is watched has no open leak")
	}
}
