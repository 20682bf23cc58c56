package stored_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// lookEnv is a service whose partners' own requests add values.
type lookEnv struct {
	*env
	looks *cyber.FirstLooks
}

func newLookEnv(t *testing.T, e *storetest.Env) *lookEnv {
	t.Helper()
	v := &lookEnv{newEnv(t, e), cyber.NewFirstLooks(e.Store.Monitoring, e.Store.Partners, e.Clock.Now)}
	v.Live = cyber.NewOwner(v.Live.Partner, partner.Live, partner.Settings{})
	return v
}

// another is one more live partner.
func (v *lookEnv) another() cyber.Owner {
	v.T.Helper()
	p, _ := v.NewPartner(v.T, partner.Live)
	return cyber.NewOwner(p.ID, p.Mode, p.Settings)
}

func mailOf(i int) string { return fmt.Sprintf("pessoa%d@exemplo.com.br", i) }

// leaked publishes a breach that holds the addresses of people from one number to another.
func (v *lookEnv) leaked(name string, from, to int) {
	v.T.Helper()
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(mailOf(i) + "\n")
	}
	v.Import(makeBreach(name, cyber.SourceBreach, cyber.ExposedEmail), v.File(name+".txt", b.String()))
	v.RunJobs()
	v.LoadPublished()
}

// add adds the addresses of as many made-up people, in lists as partners send them.
func (v *lookEnv) add(who cyber.Owner, from, to int) {
	v.T.Helper()
	for ; from < to; from += 1000 {
		var items []cyber.BulkItem
		for i := from; i < min(from+1000, to); i++ {
			items = append(items, cyber.BulkItem{User: fmt.Sprint("u", i), Kind: "email", Value: mailOf(i)})
		}
		taken, refused, err := v.Monitoring.AddAssets(v.T.Context(), who, items)
		if err != nil || len(refused) > 0 || taken != len(items) {
			v.T.Fatalf("%d of %d added: %v %v", taken, len(items), refused, err)
		}
	}
}

// work makes the first looks for which there are tokens, as a worker does every second.
func (v *lookEnv) work() {
	v.T.Helper()
	for {
		started, err := v.looks.StartLooks(v.T.Context())
		if err != nil {
			v.T.Fatal(err)
		}
		if _, err := v.Library.SettleDueLooks(v.T.Context()); err != nil {
			v.T.Fatal(err)
		}
		if started == 0 {
			return
		}
	}
}

func (v *lookEnv) status(who cyber.Owner) cyber.LookStatus {
	v.T.Helper()
	p, err := v.Store.Partners.PartnerByID(v.T.Context(), who.Partner)
	if err != nil {
		v.T.Fatal(err)
	}
	s, err := v.looks.LookStatus(v.T.Context(), who.Partner, p.Settings)
	if err != nil {
		v.T.Fatal(err)
	}
	return s
}

// facts is how many values a partner knows to have leaked.
func (v *lookEnv) facts(who cyber.Owner) (n int) {
	v.T.Helper()
	err := v.DB.ReadPool().QueryRowContext(v.T.Context(), `SELECT count(*) FROM asset WHERE partner_id = $1 AND status <> 'monitorado'`, who.Partner.Number()).Scan(&n)
	if err != nil {
		v.T.Fatal(err)
	}
	return n
}

// TestFactsPerHour is the attack: a live partner adds the addresses of strangers who all leaked, and reads what is known
// of them. Everything is accepted; what it learns comes at the pace of its tokens. The brake is not at work here.
func TestFactsPerHour(t *testing.T) {
	e := storetest.Open(t, sqldb.SQLite)
	v := newLookEnv(t, e)
	const strangers = 7000
	v.leaked("grande", 0, strangers)
	for i := range 100 { // one by one, as operation 1 does
		v.Watch(v.Live, fmt.Sprint("u", i), "email", mailOf(i))
	}
	v.add(v.Live, 100, strangers)
	v.work()
	if got := v.facts(v.Live); got != cyber.LookBurst {
		t.Errorf("at once: %d facts", got)
	}
	if s := v.status(v.Live); s.Waiting != strangers-cyber.LookBurst || s.Until.Sub(e.Clock.Now()) != 30*time.Hour {
		t.Errorf("%d wait until %s", s.Waiting, s.Until)
	}
	before := cyber.LookBurst
	for hour := 1; hour <= 28; hour++ {
		for range 4 {
			e.Clock.Advance(15 * time.Minute)
			v.work()
		}
		now := v.facts(v.Live)
		if now-before != 200 {
			t.Errorf("hour %d: %d facts", hour, now-before)
		}
		if hour == 24 && now > 6000 {
			t.Errorf("on the first day: %d facts", now)
		}
		before = now
	}
	t.Log("facts after 28 hours:", before)
}

// TestFirstLooksWait: what waits is found by new breaches at once, is looked up oldest first, and is not refunded.
func TestFirstLooksWait(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		v.leaked("antigo", 0, 2000)
		v.add(v.Live, 500, 1500) // all tokens
		v.work()
		e.Clock.Advance(time.Second)
		v.Watch(v.Live, "ana", "email", mailOf(0))
		e.Clock.Advance(time.Second)
		v.Watch(v.Live, "bia", "email", mailOf(1))
		v.work()
		if v.Statuses(v.Live, "ana")+v.Statuses(v.Live, "bia") != "email=monitoradoemail=monitorado" {
			t.Fatal("looked up without a token")
		}
		// A source outside must not be asked about them either.
		emails, err := e.Store.Feeds.WatchedEmails(t.Context(), "", "", 5000)
		if err != nil || len(emails) != 1000 {
			t.Errorf("%d addresses are asked about outside: %v", len(emails), err)
		}
		v.leaked("novo", 1, 2)
		if got := v.FindingsOf(v.Live, "bia"); got != "email:novo:open" {
			t.Errorf("a new breach: %q", got)
		}
		// Taking a value away and adding it again gives nothing back, neither the token nor the place in the row.
		assets, err := v.Monitoring.ListAssets(t.Context(), cyber.AssetScope{Partner: v.Live.Partner, User: "u500"})
		if err != nil || len(assets) != 1 {
			t.Fatal(assets, err)
		}
		if err := v.Monitoring.DeleteAsset(t.Context(), cyber.AssetScope{Partner: v.Live.Partner, User: "u500", Group: cyber.ContractShows}, assets[0].ID); err != nil {
			t.Fatal(err)
		}
		v.Watch(v.Live, "u500", "email", mailOf(500))
		v.work()
		if got := v.Statuses(v.Live, "u500"); got != "email=monitorado" {
			t.Errorf("added again: %s", got)
		}
		e.Clock.Advance(18 * time.Second)
		v.work()
		if v.FindingsOf(v.Live, "ana") != "email:antigo:open" || v.FindingsOf(v.Live, "bia") != "email:novo:open" {
			t.Errorf("the oldest first: %q, then %q", v.FindingsOf(v.Live, "ana"), v.FindingsOf(v.Live, "bia"))
		}
		e.Clock.Advance(36 * time.Second)
		v.work()
		if v.FindingsOf(v.Live, "bia") != "email:novo:open email:antigo:open" || v.Statuses(v.Live, "u500") != "email=alerta" || v.status(v.Live).Waiting != 0 {
			t.Errorf("%q, %s", v.FindingsOf(v.Live, "bia"), v.Statuses(v.Live, "u500"))
		}
		// What an operator adds, and what a sandbox adds, is not paced.
		v.Watch(cyber.Owner{Partner: v.Live.Partner, Mode: partner.Live}, "caio", "email", mailOf(2))
		if got := v.Statuses(v.Live, "caio"); got != "email=alerta" {
			t.Errorf("by an operator: %s", got)
		}
		p, _ := e.NewPartner(t, partner.Sandbox)
		sandbox := cyber.NewOwner(p.ID, p.Mode, p.Settings)
		for i := range 1100 {
			v.Watch(sandbox, fmt.Sprint("s", i), "email", fmt.Sprintf("s%d@vazamento.test", i))
		}
		if got := v.facts(sandbox); got != 1100 {
			t.Errorf("a sandbox is paced: %d", got)
		}
	})
}

// TestGrantLooks: what an operator grants is used at once, above the burst; the setting of a partner changes its pace;
// subscriptions in force for 30 days give more, not those that only say so.
func TestGrantLooks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		v.leaked("antigo", 0, 1600)
		v.add(v.Live, 0, 1500)
		v.work()
		if err := v.looks.GrantLooks(t.Context(), v.Live.Partner, 300); err != nil {
			t.Fatal(err)
		}
		v.work()
		if got := v.facts(v.Live); got != 1300 {
			t.Errorf("after a grant: %d", got)
		}
		_, err := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil).UpdatePartner(t.Context(), v.Live.Partner, func(p *partner.Partner) { p.Settings.FirstLooksPerHour = 100 })
		if err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(time.Hour)
		v.work()
		if got := v.facts(v.Live); got != 1400 {
			t.Errorf("an hour at 100: %d", got)
		}
		// Of 48 subscriptions half were enrolled just now, with a date of the past.
		today := int64(subscription.DayInBrazil(e.Clock.Now()))
		for i := range 48 {
			created := e.Clock.Now().AddDate(0, 0, -31*(i%2)).UnixMicro()
			err := storetest.Write(t.Context(), e, `INSERT INTO subscription (created_at, suspended_at, ended_at, partner_id, seq, start_day, expiry_day, plan_id, cpf, holder, body)
				VALUES ($1, 0, 0, $2, $3, $4, 0, 'p', $5, $6, $6)`, created, v.Live.Partner.Number(), i+1, today-60, []byte{byte(i)}, []byte{})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Store.Monitoring.CountSubscriptions(t.Context(), v.Live.Partner); err != nil || v.status(v.Live).Subscriptions != 24 {
			t.Errorf("%d subscriptions give tokens: %v", v.status(v.Live).Subscriptions, err)
		}
		for _, count := range []int64{0, -1, cyber.MaxGrant + 1} {
			if err := v.looks.GrantLooks(t.Context(), v.Live.Partner, count); err == nil {
				t.Error("granted:", count)
			}
		}
		p, _ := e.NewPartner(t, partner.Sandbox)
		if err := v.looks.GrantLooks(t.Context(), p.ID, 1); err == nil {
			t.Error("granted to a sandbox")
		}
	})
}

// TestLooksOverReplicas: two processes on one database together make as many first looks as one would, also when the
// clock of one is ten minutes ahead of the other's.
func TestLooksOverReplicas(t *testing.T) {
	e := storetest.Open(t, sqldb.PostgreSQL)
	v := newLookEnv(t, e)
	v.leaked("antigo", 0, 3000)
	ahead := storetest.NewClock()
	ahead.Advance(10 * time.Minute)
	twin := &lookEnv{v.InOtherProcess(t, storetest.ReopenStore(t, e.Address, e.Folder, e.Keys, ahead)), nil}
	for i := range 1500 {
		v.Watch(v.Live, fmt.Sprint("a", i), "email", mailOf(i))
		twin.Watch(v.Live, fmt.Sprint("b", i), "email", mailOf(i))
	}
	// The clock that is ahead brings 33 tokens forward, once; a process may hold a few that it did not use.
	if got := v.facts(v.Live); got > cyber.LookBurst+33 || got < cyber.LookBurst-64 {
		t.Error("two replicas looked up", got)
	}
	before := v.facts(v.Live)
	for range 6 {
		e.Clock.Advance(10 * time.Minute)
		ahead.Advance(10 * time.Minute)
		v.work()
	}
	if got := v.facts(v.Live) - before; got > 200+64 || got < 200-33 {
		t.Error("in an hour:", got)
	}
}

// TestBrake: a partner whose first looks find far more than usual is stopped; the operator reads it in the trail, the
// partner hears of it by an event, and a release lets the rest be looked up. A partner like the others goes on.
func TestBrake(t *testing.T) {
	e := storetest.Open(t, sqldb.SQLite)
	v := newLookEnv(t, e)
	v.leaked("antigo", 0, 3000)
	brake := func() map[partner.ID]cyber.LookStop {
		t.Helper()
		stops, err := v.looks.BrakeLooks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return stops
	}
	// Three banks, of whose customers 30 % leaked.
	for bank := range 3 {
		who := v.another()
		v.add(who, 2700-bank*3, 3700-bank*3)
	}
	v.work()
	if stops := brake(); len(stops) != 0 {
		t.Fatal("the first partners:", stops)
	}
	e.Clock.Advance(25 * time.Hour)
	// A new bank, with few and then with many customers who leaked, as usual.
	honest := v.another()
	v.add(honest, 2900, 3150)
	v.work()
	if stops := brake(); len(stops) != 0 {
		t.Fatal("a small bank:", stops)
	}
	v.add(honest, 3150, 3400)
	v.add(honest, 2500, 2600)
	v.work()
	v.add(v.Live, 0, 2000)
	v.work()
	stops := brake()
	if len(stops) != 1 || stops[v.Live.Partner].What != cyber.UnusualHits || stops[v.Live.Partner].Seen < 990 {
		t.Fatalf("%+v", stops)
	}
	e.Clock.Advance(time.Hour)
	v.work()
	v.Watch(v.Live, "ana", "email", mailOf(2500))
	if got := v.facts(v.Live); got != cyber.LookBurst || v.Statuses(v.Live, "ana") != "email=monitorado" {
		t.Errorf("after the brake: %d facts", got)
	}
	if s := v.status(v.Live); !s.Stop.Stopped() || !s.Until.IsZero() || s.Left() != 0 {
		t.Errorf("%+v", s)
	}
	if err := v.looks.ReleaseLooks(t.Context(), v.Live.Partner); err != nil {
		t.Fatal(err)
	}
	v.work()
	if got := v.facts(v.Live); got != cyber.LookBurst+200 {
		t.Errorf("after the release: %d facts", got)
	}
	if stops := brake(); len(stops) != 0 {
		t.Errorf("judged again: %+v", stops)
	}
	e.Clock.Advance(2 * time.Hour) // now its own past is what is usual
	v.work()
	if stops := brake(); len(stops) != 0 {
		t.Errorf("judged by others: %+v", stops)
	}
	var states []string
	for _, told := range v.EventsOf(v.Live) {
		if strings.HasPrefix(told, "looks ") {
			states = append(states, told)
		}
	}
	if got := strings.Join(states, ", "); got != "looks stopped, looks running" {
		t.Error("the partner was told:", got)
	}
	lines, err := operator.NewTrail(e.Store.Audit, e.Clock.Now).ListEntries(context.Background(), operator.Filter{Action: "first_looks.stop", Limit: 10})
	if err != nil || len(lines) != 1 || lines[0].Subject != string(v.Live.Partner) || !strings.HasPrefix(lines[0].Detail, "hits 1000, usual up to ") {
		t.Errorf("%+v %v", lines, err)
	}
}
