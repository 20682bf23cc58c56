package stored_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// toldOf writes each finding of a person with its status, classes and what they are known from.
func (v *env) toldOf(user string) string {
	v.T.Helper()
	findings, err := v.Monitoring.ListFindings(context.Background(), v.Live.Partner, partner.UserHash(user))
	if err != nil {
		v.T.Fatal(err)
	}
	var lines []string
	for _, f := range findings {
		lines = append(
			lines,
			strings.TrimSpace(
				fmt.Sprintf(
					"%s %s %s %v %s %t",
					f.Breach.Name,
					f.Basis(),
					f.Severity,
					f.Breach.Exposes,
					strings.Join(f.Trace.Sites, ","),
					f.OwnSite,
				),
			),
		)
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ") + " | " + v.Statuses(v.Live, user)
}

// TestToldOfOwnRecord: people are told what stood in their own record and no more, whether they were watched before the
// import or after it; of text without records they are told of the breach.
func TestToldOfOwnRecord(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		ctx := context.Background()
		_, err := partner.NewRegistry(e.Partners, e.Clock.Now, nil).UpdatePartner(ctx, v.Live.Partner, func(p *partner.Partner) { p.Settings.Sites = "banco.test" })
		if err != nil {
			t.Fatal(err)
		}
		table := v.File("a.csv", "email,senha,nome\nana@exemplo.com,,\nbia@exemplo.com,segredo1,Bia Lima\n")
		prose := v.File("b.txt", "Escreva para davi@exemplo.com amanhã.\n")
		log := v.File(
			"2024-03-12 log.txt",
			"URL: https://www.banco.test/login\nUSER: eva@exemplo.com\nPASS: x1\n\nURL: https://loja.test/\nUSER: leo@exemplo.com\nPASS: x2\n\n",
		)
		v.LoadPublished()
		watch := func(prefix string) {
			for _, who := range []string{"ana", "bia", "davi", "eva", "leo"} {
				v.Watch(v.Live, prefix+who, "email", who+"@exemplo.com")
			}
		}
		watch("antes ")
		shop := dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail, cyber.ExposedPassword)
		v.Import(shop, table, prose)
		v.Import(dumptest.MakeBreach("espiao", cyber.SourceStealer, cyber.ExposedEmail, cyber.ExposedPassword), log)
		v.RunJobs()
		v.LoadPublished()
		watch("depois ")
		for who, want := range map[string]string{
			"ana":  "loja row low [email]  false | email=alerta",
			"bia":  "loja row high [email password name]  false | email=comprometido",
			"davi": "loja breach high [email password]  false | email=comprometido",
			"eva":  "espiao row critical [email password] banco.test true | email=comprometido",
			"leo":  "espiao row critical [email password] loja.test false | email=comprometido",
		} {
			v.WantEqual(who+" watched before", v.toldOf("antes "+who), want)
			v.WantEqual(who+" watched after", v.toldOf("depois "+who), want)
		}
	})
}

// TestWatchedSites: everybody whose credential for a watched site was taken is told so, whether the site was watched
// before the import or after it, and once. Whoever is of another partner is not.
func TestWatchedSites(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		v := newEnv(t, e)
		other, _ := e.NewPartner(t, partner.Live)
		set := func(id partner.ID, sites string) {
			t.Helper()
			_, err := partner.NewRegistry(e.Partners, e.Clock.Now, nil).UpdatePartner(ctx, id, func(p *partner.Partner) { p.Settings.WatchedSites = sites })
			if err != nil {
				t.Fatal(err)
			}
		}
		second := v.Live
		second.Partner = other.ID
		v.LoadPublished()
		for _, who := range []cyber.Owner{v.Live, second} {
			for _, name := range []string{"eva", "leo"} {
				v.Watch(who, name, "email", name+"@exemplo.com")
				v.Watch(who, name, "email", name+"@outro.com")
			}
		}
		log := func(name, domain string) {
			v.Import(
				dumptest.MakeBreach(name, cyber.SourceStealer, cyber.ExposedEmail, cyber.ExposedPassword),
				v.File(
					name+".txt",
					"URL: https://app.banco.test/login\nUSER: eva@"+domain+"\nPASS: x1\n\nURL: https://loja.test/\nUSER: leo@"+domain+"\nPASS: x2\n\n",
				),
			)
			v.RunJobs()
		}
		told := func(id partner.ID, user partner.UserHash) string {
			findings, err := v.Monitoring.ListFindings(ctx, id, user)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, f := range findings {
				list = append(list, fmt.Sprint(f.Breach.Name, " ", f.WatchedSite, " ", f.Severity))
			}
			slices.Sort(list)
			return strings.Join(list, "; ")
		}
		log("antigo", "exemplo.com")
		before := len(v.EventsOf(v.Live))
		set(v.Live.Partner, "banco.test")
		for range 2 { // the step may run twice
			v.RunJobs()
			if _, err := e.Jobs.EnqueueJob(ctx, leak.KindSites, string(v.Live.Partner), struct{}{}); err != nil {
				t.Fatal(err)
			}
		}
		v.RunJobs()
		events := v.EventsOf(v.Live)[before:]
		v.WantEqual("events of the watch", strings.Join(events, "; "), "leak eva email:antigo")
		log("novo", "outro.com")
		v.WantEqual("eva", told(v.Live.Partner, "eva"), "antigo true critical; novo true critical")
		v.WantEqual("leo", told(v.Live.Partner, "leo"), "antigo false critical; novo false critical")
		v.WantEqual("of another partner", told(other.ID, "eva"), "antigo false critical; novo false critical")
		set(v.Live.Partner, "")
		v.RunJobs()
		v.WantEqual("not watched any more", told(v.Live.Partner, "eva"), "antigo false critical; novo false critical")
	})
}
