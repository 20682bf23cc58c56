package stored_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
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

func mailOf(i int) string { return fmt.Sprintf("pessoa%d@exemplo.com.br", i) }

// leaked publishes a breach that holds the addresses of people from one number to another.
func (v *lookEnv) leaked(name string, from, to int) {
	v.T.Helper()
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(mailOf(i) + "\n")
	}
	v.Import(dumptest.MakeBreach(name, cyber.SourceBreach, cyber.ExposedEmail), v.File(name+".txt", b.String()))
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
		added, err := v.Monitoring.AddAssets(v.T.Context(), who, items)
		if err != nil || added.Watched() != len(items) {
			v.T.Fatalf("%d added: %+v %v", len(items), added, err)
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
// of them. Everything is accepted; what it learns comes at the pace of its tokens, although a feed makes the breach grow in
// the first hour.
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
		for quarter := range 4 {
			e.Clock.Advance(15 * time.Minute)
			if hour == 1 {
				line := fmt.Sprintf("mais%d@exemplo.com.br\n", quarter)
				if _, err := v.Append("grande", line, false); err != nil {
					t.Fatal(err)
				}
			}
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

// TestWaitingIsNotMatched is the append oracle: a partner has used its tokens, and a breach that it knows of grows by one
// line, as a feed makes it do. Nothing is told of the values that wait; a new breach tells nothing of them either. Their
// first look finds both.
func TestWaitingIsNotMatched(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		v.leaked("antigo", 0, 2000)
		v.add(v.Live, 0, 2000)
		v.work()
		if got := v.facts(v.Live); got != cyber.LookBurst {
			t.Fatalf("at once: %d facts", got)
		}
		if _, err := v.Append("antigo", "alguem@exemplo.com.br\n", false); err != nil {
			t.Fatal(err)
		}
		v.RunJobs()
		v.LoadPublished()
		v.leaked("novo", 1990, 2000)
		if got := v.facts(v.Live); got != cyber.LookBurst {
			t.Errorf("after one appended line and a new breach: %d facts", got)
		}
		e.Clock.Advance(5 * time.Hour)
		v.work()
		if got := v.facts(v.Live); got != 2000 {
			t.Errorf("after their first looks: %d facts", got)
		}
		if got := v.FindingsOf(v.Live, "u1999"); got != "email:antigo:open email:novo:open" {
			t.Errorf("the first look found %q", got)
		}
	})
}

// TestFirstLooksWait: what waits is found by no breach, is looked up oldest first, and is not refunded.
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
		if got := v.FindingsOf(v.Live, "bia"); got != "" {
			t.Errorf("a new breach: %q", got)
		}
		// Taking a value away and adding it again gives nothing back, neither the token nor the place in the row.
		assets, err := v.Monitoring.ListAssets(t.Context(), cyber.AssetScope{Partner: v.Live.Partner, User: "u500"})
		if err != nil || len(assets) != 1 {
			t.Fatal(assets, err)
		}
		if err := v.Monitoring.DeleteAsset(
			t.Context(),
			cyber.AssetScope{Partner: v.Live.Partner, User: "u500", Group: cyber.ContractShows},
			assets[0].ID,
		); err != nil {
			t.Fatal(err)
		}
		v.Watch(v.Live, "u500", "email", mailOf(500))
		v.work()
		if got := v.Statuses(v.Live, "u500"); got != "email=monitorado" {
			t.Errorf("added again: %s", got)
		}
		e.Clock.Advance(18 * time.Second)
		v.work()
		if v.FindingsOf(v.Live, "ana") != "email:antigo:open" || v.FindingsOf(v.Live, "bia") != "" {
			t.Errorf("the oldest first: %q, then %q", v.FindingsOf(v.Live, "ana"), v.FindingsOf(v.Live, "bia"))
		}
		e.Clock.Advance(36 * time.Second)
		v.work()
		if v.FindingsOf(v.Live, "bia") != "email:antigo:open email:novo:open" ||
			v.Statuses(v.Live, "u500") != "email=alerta" ||
			v.status(v.Live).Waiting != 0 {
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

// TestNewerDoesNotOvertake: a value that is added while older ones wait waits behind them, although tokens have returned.
func TestNewerDoesNotOvertake(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		v.leaked("antigo", 0, 2000)
		v.add(v.Live, 0, 1001)
		v.work()
		e.Clock.Advance(time.Hour)
		v.Watch(v.Live, "nova", "email", mailOf(1500))
		if got := v.Statuses(v.Live, "nova"); got != "email=monitorado" {
			t.Errorf("the newer one came first: %s", got)
		}
		v.work()
		if old, young := v.Statuses(v.Live, "u1000"), v.Statuses(v.Live, "nova"); old != "email=alerta" || young != "email=alerta" {
			t.Errorf("then %s and %s", old, young)
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
			err := storetest.Write(
				t.Context(),
				e,
				`INSERT INTO subscription (created_at, suspended_at, ended_at, partner_id, seq, start_day, expiry_day, plan_id, cpf, holder, body)
				VALUES ($1, 0, 0, $2, $3, $4, 0, 'p', $5, $6, $6)`,
				created,
				v.Live.Partner.Number(),
				i+1,
				today-60,
				[]byte{byte(i)},
				[]byte{},
			)
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Store.Monitoring.CountSubscriptions(
			t.Context(),
			v.Live.Partner,
		); err != nil ||
			v.status(v.Live).BonusPerDay != 24 {
			t.Errorf("%d subscriptions give tokens: %v", v.status(v.Live).BonusPerDay, err)
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
	twin := &lookEnv{&env{v.InOtherProcess(t, storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), ahead))}, nil}
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

// TestTellLookChanges: a partner is told by one event each that its values have waited for a day, that the operator has
// stopped its first looks, and that they go on. Nothing is learned while they are stopped, whatever tokens there are.
func TestTellLookChanges(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		v.leaked("antigo", 0, 3000)
		review := func() cyber.LookStatus {
			t.Helper()
			var statuses map[partner.ID]cyber.LookStatus
			for range 2 { // as two replicas do
				var err error
				if statuses, err = v.looks.ReviewLooks(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			return statuses[v.Live.Partner]
		}
		setPace := func(perHour int) {
			t.Helper()
			_, err := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil).UpdatePartner(t.Context(), v.Live.Partner,
				func(p *partner.Partner) { p.Settings.FirstLooksPerHour = perHour })
			if err != nil {
				t.Fatal(err)
			}
		}
		v.add(v.Live, 0, 1100)
		setPace(1)
		v.work()
		review()
		e.Clock.Advance(24*time.Hour + time.Second)
		v.work()
		if s := review(); s.Waiting != 76 || s.Overdue != 76 {
			t.Errorf("after a day: %+v", s)
		}
		setPace(partner.NoFirstLooks)
		if err := v.looks.GrantLooks(t.Context(), v.Live.Partner, 50); err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(24 * time.Hour)
		v.work()
		v.Watch(cyber.NewOwner(v.Live.Partner, partner.Live, partner.Settings{FirstLooksPerHour: partner.NoFirstLooks}),
			"ana", "email", mailOf(2000))
		if got := v.facts(v.Live); got != 1024 || v.Statuses(v.Live, "ana") != "email=monitorado" {
			t.Errorf("while stopped: %d facts", got)
		}
		// If they went on now, 50 of the 77 would have the granted tokens and 27 those that return.
		s := review()
		if s.Left != 0 || s.Until.Sub(e.Clock.Now()) != 27*time.Hour/200 || s.State() != cyber.LooksStopped {
			t.Errorf("while stopped: %+v", s)
		}
		setPace(200)
		v.work()
		e.Clock.Advance(time.Hour)
		v.work()
		if s := review(); s.Waiting != 0 {
			t.Errorf("in the end: %+v", s)
		}
		var told []string
		for _, event := range v.EventsOf(v.Live) {
			if strings.HasPrefix(event, "looks ") {
				told = append(told, event)
			}
		}
		want := "looks waiting tokens 76 1, looks stopped operator 77 0, looks running operator 0 200"
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("the partner was told: %s, want %s", got, want)
		}
	})
}

// TestOnboardingBank: a bank with a size adds all its people on its first day, and none of them waits.
func TestOnboardingBank(t *testing.T) {
	e := storetest.Open(t, sqldb.SQLite)
	v := newLookEnv(t, e)
	const people = 3600
	v.leaked("antigo", 0, people)
	_, err := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil).UpdatePartner(t.Context(), v.Live.Partner,
		func(p *partner.Partner) { p.Settings.People = people })
	if err != nil {
		t.Fatal(err)
	}
	v.add(v.Live, 0, people)
	v.work()
	if s := v.status(v.Live); s.Waiting != 0 || s.Left != cyber.LookBurst+2*people {
		t.Errorf("%+v", s)
	}
	if got := v.facts(v.Live); got != people {
		t.Errorf("%d facts", got)
	}
}

// TestHitsCountValues: a value that stands in several breaches is one hit of one first look.
func TestHitsCountValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		var made, found int
		e.Store.Monitoring.ObserveLooks(func(_ partner.ID, looks, hits int) { made, found = made+looks, found+hits })
		v.leaked("um", 0, 10)
		v.leaked("dois", 0, 10)
		v.add(v.Live, 5, 15)
		v.work()
		v.Watch(v.Live, "ana", "email", mailOf(0))
		if made != 11 || found != 6 {
			t.Errorf("%d first looks, %d of them found something", made, found)
		}
	})
}

// TestForgedTokens: with write access to the database and without the key file nobody learns more: a row of tokens that
// was changed or deleted gives none, and a value that was made due or given another fingerprint is not looked up as due.
func TestForgedTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		v.leaked("antigo", 0, 1200)
		v.add(v.Live, 0, 1200)
		v.work()
		number := v.Live.Partner.Number()
		write := func(query string, args ...any) {
			t.Helper()
			if err := storetest.Write(t.Context(), e, query, args...); err != nil {
				t.Fatal(err)
			}
		}
		write(`UPDATE asset SET look = 1 WHERE partner_id = $1 AND look = 2`, number)
		v.work()
		if got := v.facts(v.Live); got != cyber.LookBurst {
			t.Errorf("values made due: %d facts", got)
		}
		write(`UPDATE asset SET look = 2 WHERE partner_id = $1 AND fingerprint IS NULL`, number)
		for _, change := range []string{
			`UPDATE first_look SET tokens = 1000 WHERE partner_id = $1`,
			`DELETE FROM first_look WHERE partner_id = $1`,
		} {
			write(change, number)
			if _, err := v.looks.StartLooks(t.Context()); err == nil {
				t.Errorf("%s: first looks go on", change)
			}
			if _, err := v.looks.LookStatus(t.Context(), v.Live.Partner, partner.Settings{}); err == nil {
				t.Errorf("%s: it is shown as if nothing had happened", change)
			}
		}
		if got := v.facts(v.Live); got != cyber.LookBurst {
			t.Errorf("%d facts", got)
		}
	})
}

// TestOldestDueLook: how long a first look has been due is told from when it got its token, not from when its value was
// added, until it is made.
func TestOldestDueLook(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		v.leaked("antigo", 0, 1)
		oldest := func() time.Time {
			t.Helper()
			b, err := e.Store.Upkeep.CountBacklog(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return b.OldestLook
		}
		v.add(v.Live, 0, 10)
		e.Clock.Advance(48 * time.Hour)
		if got := oldest(); !got.IsZero() {
			t.Error("values without a token are due since", got)
		}
		due := e.Clock.Now().Truncate(time.Microsecond)
		if n, err := v.looks.StartLooks(t.Context()); err != nil || n != 10 {
			t.Fatal(n, err)
		}
		e.Clock.Advance(time.Hour)
		if got := oldest(); !got.Equal(due) {
			t.Errorf("due since %s, want %s", got, due)
		}
		v.work()
		if got := oldest(); !got.IsZero() {
			t.Error("all is looked up, and due since", got)
		}
	})
}

// TestFirstLooksPassDamage: a partner whose tokens were tampered with does not hold up the first looks of others.
func TestFirstLooksPassDamage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newLookEnv(t, e)
		all := []cyber.Owner{v.Live}
		for range 2 {
			p, _ := e.NewPartner(t, partner.Live)
			all = append(all, cyber.NewOwner(p.ID, partner.Live, partner.Settings{}))
		}
		// The damaged one is the first whose turn it is.
		slices.SortFunc(all, func(a, b cyber.Owner) int { return cmp.Compare(a.Partner.Number(), b.Partner.Number()) })
		v.leaked("antigo", 0, 5)
		for _, who := range all {
			v.add(who, 0, 5)
		}
		if err := storetest.Write(t.Context(), e, `UPDATE first_look SET granted = granted + 1 WHERE partner_id = $1`,
			all[0].Partner.Number()); err != nil {
			t.Fatal(err)
		}
		if err := v.Library.MakeFirstLooks(t.Context(), v.looks); err == nil {
			t.Error("nothing is told of the damage")
		}
		if a, b, c := v.facts(all[0]), v.facts(all[1]), v.facts(all[2]); a != 0 || b != 5 || c != 5 {
			t.Errorf("facts: %d of the damaged partner, %d and %d of the others", a, b, c)
		}
	})
}
