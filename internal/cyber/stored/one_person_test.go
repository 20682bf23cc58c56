package stored_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// enrol makes people known by their CPFs.
func (v *env) enrol(cpfs ...string) {
	v.T.Helper()
	ctx := context.Background()
	err := v.Plans.InsertPlan(
		ctx,
		v.Live.Partner,
		plan.Plan{
			ID:        "ouro",
			Partner:   v.Live.Partner,
			Name:      "Ouro",
			Coverage:  plan.DemoCoverage(),
			CreatedAt: v.Clock.Now(),
		},
	)
	if err != nil {
		v.T.Fatal(err)
	}
	var subs []*subscription.Subscription
	for _, cpf := range cpfs {
		subs = append(subs, &subscription.Subscription{
			Plan:        "ouro",
			Start:       subscription.DayInBrazil(v.Clock.Now()),
			Beneficiary: subscription.Beneficiary{CPF: cpf, Name: "Ana"},
		})
	}
	if _, err = storetest.Enrol(ctx, v.Subscriptions, v.Live.Partner, subs...); err != nil {
		v.T.Fatal(err)
	}
}

// named are the ids of values that events after the first few tell of, and persons the keys by which these events are
// ordered.
func (v *env) named(after int) (assets, persons map[string]bool) {
	v.T.Helper()
	rows, err := v.DB.ReadPool().Query(`SELECT id, person, body FROM event WHERE partner_id = $1 AND seq > $2`, v.Live.Partner.Number(), int64(after))
	if err != nil {
		v.T.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	assets, persons = map[string]bool{}, map[string]bool{}
	for rows.Next() {
		var id string
		var person, sealed []byte
		if err := rows.Scan(&id, &person, &sealed); err != nil {
			v.T.Fatal(err)
		}
		body, err := v.Keys.Unseal(
			seal.Place{Table: "event", Column: "body", Partner: string(v.Live.Partner), Row: id},
			sealed,
		)
		if err != nil {
			v.T.Fatal(err)
		}
		type about struct {
			Asset string `json:"assetId"`
		}
		var e struct {
			Data struct {
				about
				Findings []about `json:"findings"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &e); err != nil {
			v.T.Fatal(err)
		}
		persons[hex.EncodeToString(person)] = true
		for _, a := range append(e.Data.Findings, e.Data.about) {
			if a.Asset != "" {
				assets[a.Asset] = true
			}
		}
	}
	if err := rows.Err(); err != nil {
		v.T.Fatal(err)
	}
	return assets, persons
}

// listed are the ids that a listing shows.
func (v *env) listed(user string) map[string]bool {
	v.T.Helper()
	assets, err := v.Monitoring.ListAssets(
		context.Background(),
		cyber.AssetScope{Partner: v.Live.Partner, User: partner.UserHash(user)},
	)
	if err != nil {
		v.T.Fatal(err)
	}
	ids := map[string]bool{}
	for _, a := range assets {
		ids[string(a.ID)] = true
	}
	return ids
}

// spellings are the two digests of a CPF, each written in its own way.
func (v *env) spellings(cpf string) (short, long string) {
	d256, d512 := partner.PersonDigests(cpf, v.Salt)
	return base64.StdEncoding.EncodeToString(d256[1:]), hex.EncodeToString(d512[1:])
}

// TestBothDigestsAreOnePerson: values that were added under both digests of a CPF before anybody knew of it. Once the
// person is enrolled, a breach is one alert, in one order, about values that the listing shows; the value that was
// added twice counts once everywhere, and what was resolved under either digest is resolved.
func TestBothDigestsAreOnePerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		ctx, cpf := context.Background(), "12345678901"
		short, long := v.spellings(cpf)
		for _, add := range [][2]string{
			{long, "so-longo@exemplo.com.br"}, {short, "dobrado@exemplo.com.br"}, {short, "so-curto@exemplo.com.br"}, {long, "Dobrado@exemplo.com.br"},
		} {
			v.Watch(v.Live, add[0], "email", add[1])
			v.Clock.Advance(time.Second)
		}
		// Nobody can know yet: two people, two alerts.
		v.Import(
			dumptest.MakeBreach("antes", cyber.SourceBreach, cyber.ExposedEmail),
			v.File("antes.csv", "dobrado@exemplo.com.br\n"),
		)
		v.RunJobs()
		if told := v.EventsOf(v.Live); dumptest.CountLines(told, "leak ") != 2 || dumptest.CountLines(told, "leak "+short) != 1 ||
			dumptest.CountLines(told, "leak "+long) != 1 {
			t.Errorf("before the enrolment: %s", strings.Join(told, "\n"))
		}
		found, err := v.Monitoring.ListFindings(ctx, v.Live.Partner, partner.UserHash(long))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if err := v.Monitoring.ResolveFinding(
			ctx,
			v.Live.Partner,
			partner.UserHash(long),
			found[0].ID,
			"password_changed",
		); err != nil {
			t.Fatal(err)
		}

		v.enrol(cpf)
		before, first := len(v.EventsOf(v.Live)), v.listed(long)
		v.WantEqual("findings", v.FindingsOf(v.Live, short), "email:antes:password_changed")
		v.Clock.Advance(time.Second)
		v.Import(dumptest.MakeBreach("depois", cyber.SourceBreach, cyber.ExposedEmail),
			v.File("depois.csv", "so-longo@exemplo.com.br\ndobrado@exemplo.com.br\nso-curto@exemplo.com.br\n"))
		v.RunJobs()
		told := v.EventsOf(v.Live)[before:]
		if dumptest.CountLines(told, "leak ") != 1 ||
			dumptest.CountLines(told, "leak "+long+" email:depois,email:depois,email:depois") != 1 ||
			dumptest.CountLines(told, "status "+long) != len(told)-1 {
			t.Errorf("after the enrolment: %s", strings.Join(told, "\n"))
		}
		assets, persons := v.named(before)
		if len(persons) != 1 {
			t.Errorf("events of one person have %d keys", len(persons))
		}
		if len(first) != 3 || fmt.Sprint(assets) != fmt.Sprint(first) ||
			fmt.Sprint(v.listed(short)) != fmt.Sprint(first) {
			t.Errorf("events tell of %v, the listing showed %v and shows %v", assets, first, v.listed(short))
		}
		v.WantEqual(
			"findings",
			v.FindingsOf(v.Live, short),
			"email:antes:password_changed email:depois:open email:depois:open email:depois:open",
		)
		v.WantEqual("statuses", v.Statuses(v.Live, short), "email=alerta email=alerta email=alerta")
		all, err := v.Monitoring.ListFindings(ctx, v.Live.Partner, partner.UserHash(short))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if !first[string(f.Asset)] {
				t.Errorf("the finding %s is of %s, which is not listed", f.ID, f.Asset)
			}
		}
	})
}

// TestFindingsOfTwinsBeforeTheyAreOne: the listing of findings tells of listed values only, also while nothing has
// happened since the enrolment; a finding that an earlier event named can still be resolved.
func TestFindingsOfTwinsBeforeTheyAreOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		ctx, cpf := context.Background(), "12345678901"
		short, long := v.spellings(cpf)
		v.Watch(v.Live, short, "email", "ana@exemplo.com.br")
		v.Clock.Advance(time.Second)
		v.Watch(v.Live, long, "email", "ana@exemplo.com.br")
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File("loja.csv", "ana@exemplo.com.br\n"))
		v.RunJobs()
		later, err := v.Monitoring.ListFindings(ctx, v.Live.Partner, partner.UserHash(long))
		if err != nil || len(later) != 1 {
			t.Fatal(later, err)
		}
		v.enrol(cpf)
		v.WantEqual("findings", v.FindingsOf(v.Live, long), "email:loja:open")
		found, err := v.Monitoring.ListFindings(ctx, v.Live.Partner, partner.UserHash(long))
		if err != nil || !v.listed(long)[string(found[0].Asset)] {
			t.Error("a finding of a value that is not listed:", found, err)
		}
		if err := v.Monitoring.ResolveFinding(
			ctx,
			v.Live.Partner,
			partner.UserHash(short),
			later[0].ID,
			"other",
		); err != nil {
			t.Fatal(err)
		}
		v.WantEqual("findings", v.FindingsOf(v.Live, long), "email:loja:other")
		v.WantEqual("statuses", v.Statuses(v.Live, long), "email=monitorado")
	})
}

// TestHitsOfBothDigestsAreToldTogether: the two digests of a person may stand far apart among the hits of a breach, and
// the person may be enrolled after their values were added.
func TestHitsOfBothDigestsAreToldTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		ctx := context.Background()
		const people = 20
		var cpfs []string
		var lines strings.Builder
		for n := range people {
			cpfs = append(cpfs, fmt.Sprintf("%011d", n))
			short, long := v.spellings(cpfs[n])
			for _, user := range []string{short, long} {
				mail := fmt.Sprintf("p%d-%d@exemplo.com.br", n, len(user))
				v.Watch(v.Live, user, "email", mail)
				lines.WriteString(mail + "\n")
			}
		}
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File("loja.csv", lines.String()))
		prints, _, err := v.Breaches.ListProbes(ctx, leak.Place{}, 100)
		if err != nil || len(prints) != 1 || len(prints[0].Fingerprints) != 2*people {
			t.Fatal(len(prints), err)
		}
		v.enrol(cpfs...)
		pages, err := v.TellMatched(ctx, "loja", 3, prints...)
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, n := range pages {
			told += n
		}
		if told != 2*people {
			t.Errorf("%d hits told of %d", told, 2*people)
		}
		if leaks := dumptest.CountLines(v.EventsOf(v.Live), "leak "); leaks != people {
			t.Errorf("%d alerts for %d people", leaks, people)
		}
	})
}

// TestUnitedValueKeepsItsReasons: a value that was watched under both digests for different reasons is watched for all
// of them once it is one, whichever was added first.
func TestUnitedValueKeepsItsReasons(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		const both = cyber.AddedByItself | cyber.NamedBySubscription
		var dump strings.Builder
		var cpfs []string
		cases := []struct{ first, second cyber.AssetSource }{
			{cyber.AddedByItself, cyber.NamedBySubscription},
			{cyber.NamedBySubscription, cyber.AddedByItself},
			{cyber.AddedByItself, both},
			{both, cyber.NamedBySubscription},
		}
		for n, c := range cases {
			cpfs = append(cpfs, fmt.Sprintf("%011d", n))
			short, long := v.spellings(cpfs[n])
			mail := fmt.Sprintf("p%d@exemplo.com.br", n)
			dump.WriteString(mail + "\n")
			v.Watch(v.Live, short, "email", mail)
			v.setSource(short, c.first)
			v.Clock.Advance(time.Second)
			v.Watch(v.Live, long, "email", mail)
			v.setSource(long, c.second)
		}
		v.enrol(cpfs...)
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail), v.File("loja.csv", dump.String()))
		v.RunJobs()
		for n, c := range cases {
			_, long := v.spellings(cpfs[n])
			assets, err := v.Monitoring.ListAssets(
				t.Context(),
				cyber.AssetScope{Partner: v.Live.Partner, User: partner.UserHash(long)},
			)
			if err != nil || len(assets) != 1 {
				t.Fatal(assets, err)
			}
			if assets[0].Source != both {
				t.Errorf("reasons %d and %d became %d", c.first, c.second, assets[0].Source)
			}
		}
		var rows int
		if err := v.DB.ReadPool().QueryRow(`SELECT count(*) FROM asset`).Scan(&rows); err != nil || rows != len(cases) {
			t.Errorf("%d values are left of %d people: %v", rows, len(cases), err)
		}
	})
}

// setSource makes the one value of a person, who is not known by a CPF yet, watched for other reasons.
func (v *env) setSource(user string, source cyber.AssetSource) {
	v.T.Helper()
	assets, err := v.Monitoring.ListAssets(
		v.T.Context(),
		cyber.AssetScope{Partner: v.Live.Partner, User: partner.UserHash(user)},
	)
	if err != nil || len(assets) != 1 {
		v.T.Fatal(assets, err)
	}
	err = storetest.Write(
		v.T.Context(), v.Env.Env, `UPDATE asset SET source = $1 WHERE id = $2`, int64(source), string(assets[0].ID),
	)
	if err != nil {
		v.T.Fatal(err)
	}
}

// TestRenewalOfUnitedValue: when a breach has other content, the finding of a value that is united with one without a
// finding is judged by what the breach holds now, although that one's row is the one that stays.
func TestRenewalOfUnitedValue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		ctx, cpf := context.Background(), "12345678901"
		short, long := v.spellings(cpf)
		v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach), v.File("a.csv", "email,senha\nana@exemplo.com,\n"))
		v.RunJobs()
		v.LoadPublished()
		late := cyber.NewMonitoring(
			e.Store.Monitoring, e.Store.Partners, knowsNothing{}, e.Keys.Fingerprint, e.Clock.Now,
		)
		_, err := late.AddAsset(ctx, cyber.AssetRequest{
			Owner: v.Live, User: partner.UserHash(short), Type: "email", Value: "ana@exemplo.com",
		})
		if err != nil {
			t.Fatal(err)
		}
		v.Clock.Advance(time.Second)
		v.Watch(v.Live, long, "email", "ana@exemplo.com")
		v.WantEqual("before", v.FindingsOf(v.Live, short)+"|"+v.FindingsOf(v.Live, long), "|email:loja:open")
		v.enrol(cpf)
		if _, err := v.Append("loja", "email,senha\nana@exemplo.com,segredo1\n", false); err != nil {
			t.Fatal(err)
		}
		found, err := v.Monitoring.ListFindings(ctx, v.Live.Partner, partner.UserHash(short))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		v.WantEqual("told", fmt.Sprint(found[0].Breach.Exposes), "[email password]")
		v.WantEqual("status", v.Statuses(v.Live, long), "email=comprometido")
		told := v.EventsOf(v.Live)
		v.WantEqual("events", strings.Join(told[max(0, len(told)-2):], "; "),
			"leak "+long+" email:loja; status "+long+" email monitorado>comprometido")
	})
}

// knowsNothing is a process that believes to know every breach there is, and knows none.
type knowsNothing struct{ cyber.Unasked }

func (knowsNothing) ProbeFingerprint(uint64) cyber.Sighting { return cyber.Sighting{Epoch: 1 << 40} }
