package leak_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// enrol makes people known by their CPFs.
func (v *env) enrol(cpfs ...string) {
	v.t.Helper()
	ctx := context.Background()
	err := v.InsertPlan(ctx, v.live.Partner, plan.Plan{ID: "ouro", Partner: v.live.Partner, Name: "Ouro", Coverage: plan.Demo(), CreatedAt: v.Clock.Now()})
	if err != nil {
		v.t.Fatal(err)
	}
	b, err := v.NewBatch(ctx, v.live.Partner)
	if err != nil {
		v.t.Fatal(err)
	}
	for i, cpf := range cpfs {
		sub := subscription.Subscription{
			Plan: "ouro", Start: subscription.DayOf(v.Clock.Now()), Beneficiary: subscription.Beneficiary{CPF: cpf, Name: "Ana"},
		}
		if err := b.Add(i, &sub); err != nil {
			v.t.Fatal(err)
		}
	}
	if _, err = b.Keep(ctx, nil, false); err != nil {
		v.t.Fatal(err)
	}
}

// named are the ids of values that events after the first few tell of, and persons the keys by which these events are ordered.
func (v *env) named(after int) (assets, persons map[string]bool) {
	v.t.Helper()
	rows, err := v.DB.Reader().Query(`SELECT id, person, body FROM event WHERE partner_id = $1 AND seq > $2`, string(v.live.Partner), int64(after))
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	assets, persons = map[string]bool{}, map[string]bool{}
	for rows.Next() {
		var id string
		var person, sealed []byte
		if err := rows.Scan(&id, &person, &sealed); err != nil {
			v.t.Fatal(err)
		}
		body, err := v.Keys.Unseal(seal.Place{Table: "event", Column: "body", Partner: string(v.live.Partner), Row: id}, sealed)
		if err != nil {
			v.t.Fatal(err)
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
			v.t.Fatal(err)
		}
		persons[hex.EncodeToString(person)] = true
		for _, a := range append(e.Data.Findings, e.Data.about) {
			if a.Asset != "" {
				assets[a.Asset] = true
			}
		}
	}
	if err := rows.Err(); err != nil {
		v.t.Fatal(err)
	}
	return assets, persons
}

// listed are the ids that a listing shows.
func (v *env) listed(user string) map[string]bool {
	v.t.Helper()
	assets, err := v.monitoring.Watched(context.Background(), v.live.Partner, partner.UserHash(user))
	if err != nil {
		v.t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, a := range assets {
		ids[string(a.ID)] = true
	}
	return ids
}

// spellings are the two digests of a CPF, each written in its own way.
func (v *env) spellings(cpf string) (short, long string) {
	d256, d512 := partner.Digests(cpf, v.salt)
	return base64.StdEncoding.EncodeToString(d256[1:]), hex.EncodeToString(d512[1:])
}

// TestBothDigestsAreOnePerson: values that were added under both digests of a CPF before anybody knew of it. Once the person is enrolled,
// a breach is one alert, in one order, about values that the listing shows; the value that was added twice counts once everywhere, and
// what was resolved under either digest is resolved.
func TestBothDigestsAreOnePerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.load()
		ctx, cpf := context.Background(), "12345678901"
		short, long := v.spellings(cpf)
		for _, add := range [][2]string{
			{long, "so-longo@exemplo.com.br"}, {short, "dobrado@exemplo.com.br"}, {short, "so-curto@exemplo.com.br"}, {long, "Dobrado@exemplo.com.br"},
		} {
			v.watch(v.live, add[0], "email", add[1])
			v.Clock.Advance(time.Second)
		}
		// Nobody can know yet: two people, two alerts.
		v.imports(breachNamed("antes", cyber.SourceBreach, cyber.ExposedEmail), v.file("antes.csv", "dobrado@exemplo.com.br\n"))
		v.runJobs()
		if told := v.events(v.live); count(told, "leak ") != 2 || count(told, "leak "+short) != 1 || count(told, "leak "+long) != 1 {
			t.Errorf("before the enrolment: %s", strings.Join(told, "\n"))
		}
		found, err := v.monitoring.Findings(ctx, v.live.Partner, partner.UserHash(long))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if err := v.monitoring.Resolve(ctx, v.live.Partner, partner.UserHash(long), found[0].ID, "password_changed"); err != nil {
			t.Fatal(err)
		}

		v.enrol(cpf)
		before, first := len(v.events(v.live)), v.listed(long)
		v.want("findings", v.findings(v.live, short), "email:antes:password_changed")
		v.Clock.Advance(time.Second)
		v.imports(breachNamed("depois", cyber.SourceBreach, cyber.ExposedEmail),
			v.file("depois.csv", "so-longo@exemplo.com.br\ndobrado@exemplo.com.br\nso-curto@exemplo.com.br\n"))
		v.runJobs()
		told := v.events(v.live)[before:]
		if count(told, "leak ") != 1 || count(told, "leak "+long+" email:depois,email:depois,email:depois") != 1 || count(told, "status "+long) != len(told)-1 {
			t.Errorf("after the enrolment: %s", strings.Join(told, "\n"))
		}
		assets, persons := v.named(before)
		if len(persons) != 1 {
			t.Errorf("events of one person have %d keys", len(persons))
		}
		if len(first) != 3 || fmt.Sprint(assets) != fmt.Sprint(first) || fmt.Sprint(v.listed(short)) != fmt.Sprint(first) {
			t.Errorf("events tell of %v, the listing showed %v and shows %v", assets, first, v.listed(short))
		}
		v.want("findings", v.findings(v.live, short), "email:antes:password_changed email:depois:open email:depois:open email:depois:open")
		v.want("statuses", v.statuses(v.live, short), "email=alerta email=alerta email=alerta")
		all, err := v.monitoring.Findings(ctx, v.live.Partner, partner.UserHash(short))
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

// TestFindingsOfTwinsBeforeTheyAreOne: the listing of findings tells of listed values only, also while nothing has happened since the
// enrolment; a finding that an earlier event named can still be resolved.
func TestFindingsOfTwinsBeforeTheyAreOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.load()
		ctx, cpf := context.Background(), "12345678901"
		short, long := v.spellings(cpf)
		v.watch(v.live, short, "email", "ana@exemplo.com.br")
		v.Clock.Advance(time.Second)
		v.watch(v.live, long, "email", "ana@exemplo.com.br")
		v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail), v.file("loja.csv", "ana@exemplo.com.br\n"))
		v.runJobs()
		later, err := v.monitoring.Findings(ctx, v.live.Partner, partner.UserHash(long))
		if err != nil || len(later) != 1 {
			t.Fatal(later, err)
		}
		v.enrol(cpf)
		v.want("findings", v.findings(v.live, long), "email:loja:open")
		found, err := v.monitoring.Findings(ctx, v.live.Partner, partner.UserHash(long))
		if err != nil || !v.listed(long)[string(found[0].Asset)] {
			t.Error("a finding of a value that is not listed:", found, err)
		}
		if err := v.monitoring.Resolve(ctx, v.live.Partner, partner.UserHash(short), later[0].ID, "other"); err != nil {
			t.Fatal(err)
		}
		v.want("findings", v.findings(v.live, long), "email:loja:other")
		v.want("statuses", v.statuses(v.live, long), "email=monitorado")
	})
}

// TestHitsOfBothDigestsAreToldTogether: the two digests of a person may stand far apart among the hits of a breach, and the person may be
// enrolled between match and telling.
func TestHitsOfBothDigestsAreToldTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.load()
		ctx := context.Background()
		const people = 20
		var cpfs []string
		var lines strings.Builder
		for n := range people {
			cpfs = append(cpfs, fmt.Sprintf("%011d", n))
			short, long := v.spellings(cpfs[n])
			for _, user := range []string{short, long} {
				mail := fmt.Sprintf("p%d-%d@exemplo.com.br", n, len(user))
				v.watch(v.live, user, "email", mail)
				lines.WriteString(mail + "\n")
			}
		}
		v.imports(breachNamed("loja", cyber.SourceBreach, cyber.ExposedEmail), v.file("loja.csv", lines.String()))
		prints, err := v.Fingerprints(ctx, math.MinInt64, 100)
		if err != nil || len(prints) != 2*people {
			t.Fatal(len(prints), err)
		}
		if n, err := v.KeepHits(ctx, "loja", prints); err != nil || n != 2*people {
			t.Fatal(n, err)
		}
		v.enrol(cpfs...)
		told := 0
		for n := -1; n != 0; told += n {
			if n, err = v.TellHits(ctx, "loja", 3); err != nil {
				t.Fatal(err)
			}
		}
		if told != 2*people {
			t.Errorf("%d hits told of %d", told, 2*people)
		}
		if leaks := count(v.events(v.live), "leak "); leaks != people {
			t.Errorf("%d alerts for %d people", leaks, people)
		}
	})
}
