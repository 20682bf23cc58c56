package store_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

const day = 24 * time.Hour

// generatedKey is the form of a key that the service makes itself.
var generatedKey = regexp.MustCompile(`^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$`)

func phone(user, name string) cyber.DeviceRequest {
	return cyber.DeviceRequest{User: partner.UserHash(user), System: cyber.Android, Name: name}
}

// defaultPlan gives a partner's people a plan without a subscription.
func defaultPlan(t *testing.T, e *storetest.Env, id partner.ID, p plan.Plan) {
	t.Helper()
	ctx := context.Background()
	p.ID, p.Partner, p.Name = "padrao", id, "Plano padrão"
	if _, err := plan.NewCatalogue(e.Store.Plans, e.Clock.Now).CreatePlan(ctx, p); err != nil {
		t.Fatal(err)
	}
	registry := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	_, err := registry.UpdatePartner(ctx, id, func(p *partner.Partner) { p.Settings.DefaultPlan = "padrao" })
	if err != nil {
		t.Fatal(err)
	}
}

// TestOneDeviceOneKey: many requests at once for one device get one key; a key that ended is followed by another.
func TestOneDeviceOneKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		var mu sync.Mutex
		keys := map[string]int{}
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				d, err := endpoints.IssueKey(ctx, p.ID, phone("u1", " Celular da Ana "))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				keys[d.Key]++
				mu.Unlock()
			})
		}
		wg.Wait()
		if len(keys) != 1 {
			t.Fatalf("%d keys for one device", len(keys))
		}
		first, err := endpoints.IssueKey(ctx, p.ID, phone("u1", "Celular da Ana"))
		if err != nil {
			t.Fatal(err)
		}
		if keys[first.Key] != 12 || !generatedKey.MatchString(first.Key) {
			t.Fatalf("the key %s of %v", first.Key, keys)
		}
		difftest.Must(t, "the end of the key", first.ValidUntil, storetest.Start.Add(365*day))
		for name, r := range map[string]cyber.DeviceRequest{
			"another name":   phone("u1", "Celular da ana"),
			"another person": phone("u2", "Celular da Ana"),
			"another system": {User: "u1", System: cyber.IOS, Name: "Celular da Ana"},
		} {
			if d, err := endpoints.IssueKey(ctx, p.ID, r); err != nil || d.Key == first.Key {
				t.Errorf("%s: %v, %v", name, d.Key == first.Key, err)
			}
		}
		e.Clock.Advance(365*day - time.Second)
		if d, err := endpoints.IssueKey(ctx, p.ID, phone("u1", "Celular da Ana")); err != nil || d.Key != first.Key {
			t.Error("a second before its end the key is not the same", err)
		}
		e.Clock.Advance(time.Second)
		if list, err := endpoints.ListDevices(ctx, p.ID, "u1"); err != nil || len(list) != 0 {
			t.Errorf("%d devices listed after their keys ended, %v", len(list), err)
		}
		second, err := endpoints.IssueKey(ctx, p.ID, phone("u1", "Celular da Ana"))
		if err != nil || second.Key == first.Key {
			t.Error("an ended key was issued again", err)
		}
		if old, err := endpoints.DeviceByID(ctx, first.ID); err != nil || old.EndReason != cyber.EndExpired {
			t.Errorf("%+v, %v", old, err)
		}
	})
}

// TestDeviceLimit: of many requests at once as many succeed as the plan has room for.
func TestDeviceLimit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		defaultPlan(t, e, p.ID, plan.Plan{MaxDevices: 3, KeyDays: 30})
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		var mu sync.Mutex
		var issued []cyber.Device
		refused := 0
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				d, err := endpoints.IssueKey(ctx, p.ID, phone("u1", fmt.Sprintf("Celular %d", i)))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					issued = append(issued, d)
				case errors.Is(err, cyber.ErrDeviceLimit) && fault.KindOf(err) == fault.Conflict:
					refused++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(issued) != 3 || refused != 7 {
			t.Fatalf("%d issued, %d refused", len(issued), refused)
		}
		if !issued[0].ValidUntil.Equal(storetest.Start.Add(30 * day)) {
			t.Error("the plan's validity was not used:", issued[0].ValidUntil)
		}
		if d, err := endpoints.IssueKey(ctx, p.ID, phone("u1", issued[1].Name)); err != nil || d.Key != issued[1].Key {
			t.Error("at the limit a known device does not get its key:", err)
		}
		if _, err := endpoints.IssueKey(ctx, p.ID, phone("u2", "Celular")); err != nil {
			t.Error("another person met the limit:", err)
		}
		if _, err := endpoints.RevokeDevice(ctx, issued[0].ID); err != nil {
			t.Fatal(err)
		}
		if _, err := endpoints.RevokeDevice(ctx, issued[0].ID); !errors.Is(err, cyber.ErrDeviceEnded) {
			t.Error("revoked twice:", err)
		}
		if _, err := endpoints.IssueKey(ctx, p.ID, phone("u1", "Outro celular")); err != nil {
			t.Error("a revoked key still takes a place:", err)
		}
	})
}

// TestReplaceDevice: the place of a lost phone goes to the new one, until the same day, even at the limit.
func TestReplaceDevice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		defaultPlan(t, e, p.ID, plan.Plan{MaxDevices: 1})
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		lost, err := endpoints.IssueKey(ctx, p.ID, phone("u1", "Celular perdido"))
		if err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(100 * day)
		next, err := endpoints.ReplaceDevice(ctx, lost.ID, cyber.IOS, "Celular novo")
		if err != nil || next.Key == lost.Key {
			t.Fatalf("%+v, %v", next, err)
		}
		want := next
		want.ValidUntil, want.User = lost.ValidUntil, "u1"
		difftest.Must(t, "the key in its place", next, want)
		list, err := endpoints.ListDevices(ctx, p.ID, "u1")
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		want = list[0]
		want.Key, want.System = next.Key, cyber.IOS
		difftest.Check(t, "the listed device", list[0], want)
		_, err = endpoints.ReplaceDevice(ctx, lost.ID, cyber.IOS, "Terceiro")
		if !errors.Is(err, cyber.ErrDeviceEnded) {
			t.Error("an ended key was replaced:", err)
		}
		if _, err := endpoints.ReplaceDevice(ctx, next.ID, cyber.IOS, "Celular novo"); err != nil {
			t.Error("a device cannot be given a fresh key:", err)
		}
		if found, err := endpoints.FindDevice(
			ctx,
			next.Key,
		); err != nil || found.ID != next.ID ||
			found.EndReason != cyber.EndMoved {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// TestLastPooledKey: two replicas take the last key of a pool, and exactly one gets it.
func TestLastPooledKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		twin := storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), e.Clock)
		replicas := []*cyber.Endpoints{
			cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil),
			cyber.NewEndpoints(twin.Store.Devices, e.Clock.Now, nil),
		}
		for round := range 10 {
			key := fmt.Sprintf("VENDOR-KEY-%d", round)
			if n, err := e.Devices.LoadKeyPool(
				ctx,
				cyber.Android,
				[]cyber.VendorKey{{Key: key}},
			); err != nil ||
				n != 1 {
				t.Fatal(n, err)
			}
			var wg sync.WaitGroup
			got, errs := make([]cyber.Device, 4), make([]error, 4)
			for i := range got {
				wg.Go(func() {
					got[i], errs[i] = replicas[i%2].IssueKey(
						ctx,
						p.ID,
						phone(fmt.Sprintf("u%d-%d", round, i), "Celular"),
					)
				})
			}
			wg.Wait()
			winners := 0
			for i, err := range errs {
				switch {
				case err == nil && got[i].Key == key:
					winners++
				case errors.Is(err, cyber.ErrPoolEmpty) && fault.KindOf(err) == fault.Unavailable:
				default:
					t.Errorf("round %d: %q, %v", round, got[i].Key, err)
				}
			}
			if winners != 1 {
				t.Fatalf("round %d: %d got the last key", round, winners)
			}
		}
		if d, err := replicas[0].IssueKey(
			ctx,
			p.ID,
			cyber.DeviceRequest{User: "u", System: cyber.Windows, Name: "PC"},
		); err != nil ||
			!generatedKey.MatchString(d.Key) {
			t.Error("a system without a pool does not generate:", err)
		}
	})
}

// TestPoolLevels: low and full again are each told once, whoever asks.
func TestPoolLevels(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		turned := func(want string) {
			t.Helper()
			list, err := endpoints.PoolsTurnedLow(ctx)
			var got []string
			for _, src := range list {
				got = append(got, fmt.Sprintf("%s low=%t free=%d", src.System, src.Low(), src.Free))
			}
			if err != nil || strings.Join(got, "; ") != want {
				t.Errorf("turned: %v, %v; want %q", got, err, want)
			}
		}
		mark := int64(2)
		if err := endpoints.UpdateSource(ctx, cyber.Android, cyber.SourceChange{LowMark: &mark}); err != nil {
			t.Fatal(err)
		}
		turned("")
		if _, err := e.Devices.LoadKeyPool(ctx, cyber.Android, []cyber.VendorKey{{Key: "A"}, {Key: "B"}}); err != nil {
			t.Fatal(err)
		}
		turned("")
		if _, err := endpoints.IssueKey(ctx, p.ID, phone("u1", "Celular")); err != nil {
			t.Fatal(err)
		}
		turned("android low=true free=1")
		turned("")
		if _, err := e.Devices.LoadKeyPool(ctx, cyber.Android, []cyber.VendorKey{{Key: "C"}}); err != nil {
			t.Fatal(err)
		}
		turned("android low=false free=2")
		turned("")
		generated := false
		if err := endpoints.UpdateSource(ctx, cyber.Android, cyber.SourceChange{Pooled: &generated}); err != nil {
			t.Fatal(err)
		}
		if d, err := endpoints.IssueKey(ctx, p.ID, phone("u2", "Celular")); err != nil || !generatedKey.MatchString(d.Key) {
			t.Error("switched back, the service does not generate:", err)
		}
	})
}

// TestExpiryNotices: 30 and 7 days ahead and at the end, once each, though two workers look.
func TestExpiryNotices(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		q, _ := e.NewPartner(t, partner.Live)
		twin := storetest.ReopenStore(t, e.Address, e.Folder, e.Keys.Root(), e.Clock)
		workers := []*cyber.Endpoints{
			cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil),
			cyber.NewEndpoints(twin.Store.Devices, e.Clock.Now, nil),
		}
		for i := range 3 {
			for _, id := range []partner.ID{p.ID, q.ID} {
				if _, err := workers[0].IssueKey(ctx, id, phone(fmt.Sprintf("u%d", i), "Celular")); err != nil {
					t.Fatal(err)
				}
			}
		}
		ended, err := workers[0].IssueKey(ctx, p.ID, phone("u9", "Celular"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := workers[0].RevokeDevice(ctx, ended.ID); err != nil {
			t.Fatal(err)
		}
		events := func() (n int) {
			t.Helper()
			err := e.DB.ReadPool().QueryRowContext(ctx, `SELECT count(*) FROM event
				WHERE type IN ('epp.key_expiring', 'epp.key_ended')`).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n - 1 // that of the key that was revoked
		}
		told := 0
		for _, step := range []struct {
			advance time.Duration
			want    int
		}{
			{334 * day, 0},
			{day, 6},
			{time.Hour, 6},
			{23*day - 2*time.Hour, 6},
			{time.Hour, 12},
			{6 * day, 12},
			{2 * day, 18},
			{day, 18},
		} {
			e.Clock.Advance(step.advance)
			var wg sync.WaitGroup
			counts := make([]int, 4)
			for i := range counts {
				wg.Go(func() {
					var err error
					if counts[i], err = workers[i%2].GiveNotices(ctx); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for _, n := range counts {
				told += n
			}
			if told != step.want || events() != step.want {
				t.Fatalf(
					"after %v: %d told, %d events, want %d",
					e.Clock.Now().Sub(storetest.Start),
					told,
					events(),
					step.want,
				)
			}
		}
	})
}

// TestNothingOfADeviceInTheClear looks for names and keys in the tables.
func TestNothingOfADeviceInTheClear(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		if _, err := e.Devices.LoadKeyPool(
			ctx,
			cyber.Android,
			[]cyber.VendorKey{{Key: "VENDORKEYINTHECLEAR"}},
		); err != nil {
			t.Fatal(err)
		}
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		_, err := endpoints.IssueKey(ctx, p.ID, phone("userhashintheclear", "Celular da Fulana"))
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"epp_key", "epp_pool", "epp_holder"} {
			text := dumpTable(t, e, table)
			for _, secret := range []string{"VENDORKEYINTHECLEAR", "Fulana", "userhashintheclear"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s holds %q in the clear", table, secret)
				}
			}
		}
	})
}

// dumpTable is every value of a table as raw bytes.
// TestNothingOfACaseInTheClear: what a person answered and what an operator noted are sealed.
func TestNothingOfACaseInTheClear(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		if err := cyber.NewServices(e.Store.Services, e.Clock.Now).SeedServices(ctx); err != nil {
			t.Fatal(err)
		}
		cases := cyber.NewCases(e.Store.Cases, e.Clock.Now)
		c, err := cases.OpenCase(ctx, p.ID, cyber.CaseRequest{
			Service: "sv_ajuda_phishing", User: "u1",
			Answers: []cyber.TriageAnswer{{JSON: `{"answer":"Cliquei num link"}`}},
		})
		if err == nil {
			_, err = cases.MoveCase(ctx, c.ID, cyber.CaseInProgress, "bruna", "nota sobre Fulano")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"support_case", "case_move"} {
			if text := dumpTable(t, e, table); strings.Contains(text, "Cliquei") || strings.Contains(text, "Fulano") {
				t.Errorf("%s holds free text in the clear", table)
			}
		}
	})
}

func dumpTable(t *testing.T, e *storetest.Env, table string) string {
	t.Helper()
	rows, err := e.DB.ReadPool().QueryContext(context.Background(), `SELECT * FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			fmt.Fprintf(&b, "%s|", *v.(*any))
		}
		b.WriteByte('\n')
	}
	if err := rows.Err(); err != nil || b.Len() == 0 {
		t.Fatal(table, "is empty", err)
	}
	return b.String()
}
