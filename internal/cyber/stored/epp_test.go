package stored_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func TestNextNotice(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, c := range []struct {
		left, want time.Duration // from now
	}{{365 * day, 335 * day}, {31 * day, day}, {30 * day, 23 * day}, {8 * day, day}, {7 * day, 7 * day}, {day, day}, {-day, -day}} {
		if got := cyber.NextNotice(now, now.Add(c.left)); !got.Equal(now.Add(c.want)) {
			t.Errorf("with %v left: next notice at %v", c.left, got)
		}
	}
}

// TestLoadPool: forms of a vendor's file, duplicates, and what is no such file.
func TestLoadPool(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		var reports int
		load := func(text string) (cyber.Loaded, error) {
			return endpoints.LoadKeyPool(ctx, cyber.Android, strings.NewReader(text), func(cyber.Loaded) { reports++ })
		}
		for _, c := range []struct {
			name, file string
			read, new  int
		}{
			{"plain lines", "AAA-1\nAAA-2\n\nAAA-3\n", 3, 3},
			{"known ones again", "AAA-3\r\nAAA-4\r\n", 2, 1},
			{"a column by name", "\ufefforder,Key,note\n7,BBB-1,x\n8,BBB-2,\"a, b\"\n", 2, 2},
			{"twice in one file", "CCC-1\nCCC-1\n", 2, 1},
			{"more than one batch", many("DDD-", 2500), 2500, 2500},
		} {
			done, err := load(c.file)
			if err != nil || done.Read != c.read || done.New != c.new {
				t.Errorf("%s: %+v, %v", c.name, done, err)
			}
		}
		if reports != 9 { // 2,500 go in five
			t.Errorf("%d reports of progress", reports)
		}
		for name, bad := range map[string]string{"nothing": "", "only a heading": "key\n", "a missing column": "order,key\n7\n", "control characters": "A\x01B\n", "a broken quote": "\"A\n"} {
			if _, err := load(bad); !errors.Is(err, cyber.ErrPoolFile) {
				t.Errorf("%s: %v", name, err)
			}
		}
		sources, err := endpoints.ListSources(ctx)
		if err != nil || len(sources) != 4 {
			t.Fatal(sources, err)
		}
		for _, src := range sources {
			if src.Pooled != (src.System == cyber.Android) || src.System == cyber.Android && src.Free != 2507 {
				t.Errorf("%+v", src)
			}
		}
	})
}

// TestVendorEndsItsKeys: a key is over when its vendor's file says so, never later, and earlier where the plan says so;
// one that is over is never issued.
func TestVendorEndsItsKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		endpoints := cyber.NewEndpoints(e.Store.Devices, e.Clock.Now, nil)
		load := func(text string) {
			t.Helper()
			if _, err := endpoints.LoadKeyPool(ctx, cyber.Android, strings.NewReader(text), nil); err != nil {
				t.Fatal(err)
			}
		}
		issue := func(name string) cyber.Device {
			t.Helper()
			d, err := endpoints.IssueKey(ctx, p.ID, cyber.DeviceRequest{User: "u1", System: cyber.Android, Name: name})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		today := e.Clock.Now().In(time.FixedZone("-03", -3*60*60))
		date := func(days int) string { return today.AddDate(0, 0, days).Format(time.DateOnly) }
		end := func(days int) time.Time { // of that day in São Paulo
			y, m, d := today.AddDate(0, 0, days+1).Date()
			return time.Date(y, m, d, 3, 0, 0, 0, time.UTC)
		}
		load("key,expires\nOVER," + date(-1) + "\nTODAY," + date(0) + "\nSOON," + today.AddDate(0, 0, 40).Format("02/01/2006") + "\nLATE," + date(4000) + "\nOPEN,\n")
		for _, c := range []struct {
			key   string
			until time.Time
		}{{"TODAY", end(0)}, {"SOON", end(40)}, {"LATE", e.Clock.Now().Add(365 * 24 * time.Hour)}, {"OPEN", e.Clock.Now().Add(365 * 24 * time.Hour)}} {
			if d := issue(c.key); d.Key != c.key || !d.ValidUntil.Equal(c.until) {
				t.Errorf("%s until %v, want %s until %v", d.Key, d.ValidUntil, c.key, c.until)
			}
		}
		if _, err := endpoints.IssueKey(ctx, p.ID, cyber.DeviceRequest{User: "u1", System: cyber.Android, Name: "fifth"}); !errors.Is(err, cyber.ErrPoolEmpty) {
			t.Error("a key that its vendor ended was issued:", err)
		}
		sources, err := endpoints.ListSources(ctx)
		if err != nil {
			t.Fatal(err)
		}
		pool := sources[0]
		pool.Free, pool.Taken, pool.Expired = 0, 4, 1
		difftest.Check(t, "the pool", sources[0], pool)
		// Notices and the listing follow the vendor's date: one key ends soon, one is over.
		e.Clock.Advance(end(40).Sub(e.Clock.Now()) - 7*24*time.Hour)
		if told, err := endpoints.GiveNotices(ctx); err != nil || told != 2 {
			t.Error(told, err)
		}
		e.Clock.Advance(7 * 24 * time.Hour)
		if live, err := endpoints.ListDevices(ctx, p.ID, "u1"); err != nil || len(live) != 2 {
			t.Error(live, err)
		}
		// The vendor's list again, with an earlier date for a key that is in use.
		load("chave;validade\nLATE;" + e.Clock.Now().Add(24*time.Hour).Format(time.RFC3339) + "\n")
		if live, err := endpoints.ListDevices(
			ctx,
			p.ID,
			"u1",
		); err != nil || len(live) != 2 ||
			!live[1].ValidUntil.Equal(e.Clock.Now().Add(24*time.Hour).Truncate(time.Second)) {
			t.Error(live, err)
		}
		for _, bad := range []string{"31-12-2027", "2027-02-30", "amanha", "12/31/2027"} {
			if _, err := endpoints.LoadKeyPool(ctx, cyber.Android, strings.NewReader("key,expires\nX,"+bad+"\n"), nil); !errors.Is(err, cyber.ErrPoolFile) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	})
}

func many(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(prefix)
		b.WriteString(time.Duration(i).String())
		b.WriteByte('\n')
	}
	return b.String()
}
