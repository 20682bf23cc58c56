package feed_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/feed/hibptest"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// catalogue has a breach that may be told, one that may not, and one that nobody is in.
var catalogue = []hibptest.Breach{
	{Name: "Loja", Title: "Loja Exemplo", BreachDate: "2020-01-02", DataClasses: []string{"Email addresses", "Passwords"}, IsVerified: true},
	{Name: "Segredo", Title: "Segredo", BreachDate: "2021-01-02", DataClasses: []string{"Email addresses"}, IsSensitive: true},
	{Name: "Outra", Title: "Outra", BreachDate: "2019-05-06", DataClasses: []string{"Email addresses"}},
}

// alike returns two made-up addresses whose hashes begin with the same six characters.
func alike(t *testing.T) (a, b string) {
	t.Helper()
	seen := map[[3]byte]string{}
	for i := range 1 << 20 {
		address := fmt.Sprintf("pessoa%d@exemplo.com.br", i)
		sum := sha1.Sum([]byte(address))
		prefix := [3]byte(sum[:3])
		if other := seen[prefix]; other != "" {
			return other, address
		}
		seen[prefix] = address
	}
	t.Fatal("no two addresses in a range")
	return "", ""
}

// asks serves a stand-in and notes what it is asked.
func asks(t *testing.T, service http.Handler) (target string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		all = append(all, r.URL.RequestURI())
		mu.Unlock()
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/api/v3", func() []string { mu.Lock(); defer mu.Unlock(); return append([]string{}, all...) }
}

func (v *env) addHIBP(fs *feed.Feeds, name, target string, settings feed.Settings) {
	v.T.Helper()
	if _, err := fs.Add(context.Background(), feed.Feed{Name: name, Kind: feed.HIBP, Target: target, Secret: "chave", Settings: settings}); err != nil {
		v.T.Fatal(err)
	}
}

// longHex is more of a hash than may be told.
var longHex = regexp.MustCompile(`[0-9A-Fa-f]{7}`)

// TestHIBPWays: by address, by range and by domain the same is found, with fewer calls and with less told to the service.
func TestHIBPWays(t *testing.T) {
	one, two := alike(t)
	own := "Bia@Empresa.com.br"
	for _, c := range []struct {
		by                         feed.By
		kanon                      bool
		addresses, ranges, domains int64
	}{
		{feed.ByAddress, true, 4, 0, 0},
		{feed.ByRange, true, 0, 3, 0},
		{feed.ByAuto, true, 0, 2, 1},
		{feed.ByAuto, false, 3, 0, 1},
		{"", true, 0, 2, 1},
		{feed.ByDomain, false, 0, 0, 1},
	} {
		t.Run(fmt.Sprintf("%s %t", c.by, c.kanon), func(t *testing.T) {
			each := storetest.Each
			if c.by != "" { // how it is asked is the same to both engines; what is kept of it is looked at on both once
				each = func(t *testing.T, fn func(*testing.T, *storetest.Env)) { fn(t, storetest.Open(t, sqldb.SQLite)) }
			}
			each(t, func(t *testing.T, e *storetest.Env) {
				v := newEnv(t, e)
				v.Load()
				p, _ := e.NewPartner(t, partner.Live)
				other := cyber.Owner{Partner: p.ID, Mode: partner.Live}
				v.Watch(v.Live, "um", "email", one)
				v.Watch(v.Live, "dois", "email", two)
				v.Watch(other, "um", "email", strings.ToUpper(one[:1])+one[1:])
				v.Watch(v.Live, "bia", "email", own)
				v.Watch(v.Live, "limpa", "email", "limpa@exemplo.com.br")
				service := &hibptest.Service{
					Key: "chave", KAnon: c.kanon, Domains: []string{"empresa.com.br"}, Others: 5, Catalogue: catalogue,
					Accounts: map[string][]string{one: {"Loja", "Segredo"}, strings.ToLower(own): {"Loja", "Outra"}, "alguem@empresa.com.br": {"Loja"}},
				}
				target, asked := asks(t, service)
				fs := v.feeds()
				v.addHIBP(fs, "hibp", target, feed.Settings{PerMinute: 60_000, By: c.by})
				if f := v.runFeed(fs, "hibp"); f.Failures != 0 || f.State.Cells != 0 || f.State.DomainsDone || f.State.After != "" {
					t.Errorf("%+v", f)
				}
				found := "email:hibp-loja:open"
				if c.by == feed.ByDomain {
					found = ""
				}
				v.Want("found", v.FindingsOf(v.Live, "um"), found)
				v.Want("found of another partner's", v.FindingsOf(other, "um"), found)
				v.Want("beside it", v.FindingsOf(v.Live, "dois")+v.FindingsOf(v.Live, "limpa"), "")
				if got := v.FindingsOf(v.Live, "bia"); !strings.Contains(got, "hibp-loja:open") || !strings.Contains(got, "hibp-outra:open") {
					t.Errorf("of a proven domain: %s", got)
				}
				if service.Addresses.Load() != c.addresses || service.Ranges.Load() != c.ranges || service.DomainCalls.Load() != c.domains {
					t.Errorf("%d by address, %d by range, %d by domain; wanted %+v", service.Addresses.Load(), service.Ranges.Load(), service.DomainCalls.Load(), c)
				}
				for _, uri := range asked() {
					if c.addresses == 0 && (strings.ContainsAny(uri, "@%") || longHex.MatchString(uri)) {
						t.Errorf("told the service more than it needs: %s", uri)
					}
				}
			})
		})
	}
}

// TestHIBPGoesOn: a run that breaks off is taken up where it stopped, and a wrong answer is no clean one.
func TestHIBPGoesOn(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	v.Load()
	const people = 450 // several cells of a hundred
	accounts := map[string][]string{}
	for i := range people {
		address := fmt.Sprintf("p%03d@exemplo.com.br", i)
		v.Watch(v.Live, fmt.Sprint("p", i), "email", address)
		accounts[address] = []string{"Outra"}
	}
	service := &hibptest.Service{Key: "chave", KAnon: true, Catalogue: catalogue, Accounts: accounts}
	var left, broken atomic.Int64
	left.Store(230)
	target, _ := asks(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/range/") && left.Add(-1) < 0 {
			broken.Add(1)
			_, _ = w.Write([]byte("<html>200, but not an answer</html>"))
			return
		}
		service.ServeHTTP(w, r)
	}))
	fs := v.feeds()
	v.addHIBP(fs, "hibp", target, feed.Settings{PerMinute: 200_000, By: feed.ByRange})
	// Cells are as large as a minute's calls; small ones are had by a slow feed.
	_, err := v.Feeds.UpdateFeed(context.Background(), "hibp", func(f *feed.Feed) error { f.State.Cells, f.State.Watched = 9, people; return nil })
	if err != nil {
		t.Fatal(err)
	}
	f := v.runFeed(fs, "hibp")
	if f.Failures != 1 || f.State.Cell < 2 || f.State.Cell >= 9 || broken.Load() == 0 {
		t.Fatalf("after it broke off: %+v", f)
	}
	// It goes on at another address, where no call of the run that broke off can arrive late and be counted.
	done := f.State.Items
	other, asked := asks(t, service)
	_, err = v.Feeds.UpdateFeed(context.Background(), "hibp", func(f *feed.Feed) error { f.Target = other; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if f = v.runFeed(fs, "hibp"); f.Failures != 0 || f.State.Items != people || f.State.Cells != 0 {
		t.Errorf("when it went on: %+v", f)
	}
	if n := int64(strings.Count(strings.Join(asked(), "\n"), "/range/")); n == 0 || n > people-done {
		t.Errorf("asked for %d ranges of %d addresses that were left", n, people-done)
	}
	for _, i := range []int{0, 7, people - 1} {
		v.Want("found", v.FindingsOf(v.Live, fmt.Sprint("p", i)), "email:hibp-outra:open")
	}
}

// TestHIBPKeepsTheRate: a service that says to wait is left alone by all who ask.
func TestHIBPKeepsTheRate(t *testing.T) {
	t.Parallel()
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	v.Load()
	for i := range 12 {
		v.Watch(v.Live, fmt.Sprint("p", i), "email", fmt.Sprintf("p%d@exemplo.com.br", i))
	}
	service := &hibptest.Service{Key: "chave", KAnon: true, Catalogue: catalogue, Rpm: 10, Block: 700 * time.Millisecond}
	target, _ := asks(t, service)
	fs := v.feeds()
	v.addHIBP(fs, "hibp", target, feed.Settings{PerMinute: 60_000, By: feed.ByRange})
	if f := v.runFeed(fs, "hibp"); f.Failures != 0 || f.State.Items != 12 {
		t.Errorf("%+v", f)
	}
	// Those under way when it says to wait are refused with the first; nobody else is.
	if refused := service.Refused.Load(); refused == 0 || refused > 12 || service.Ranges.Load() != 12 {
		t.Errorf("refused %d of %d", refused, service.Ranges.Load())
	}
}

// TestHIBPPlans: what the plan does not have is said, and a wrong setting is refused at once.
func TestHIBPPlans(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	target, _ := asks(t, &hibptest.Service{Key: "chave"})
	fs := v.feeds()
	v.addHIBP(fs, "hibp", target, feed.Settings{PerMinute: 60_000, By: feed.ByRange})
	if f := v.runFeed(fs, "hibp"); f.Failures != 1 || !strings.Contains(f.Error, "the plan of this key does not include searches by range") {
		t.Errorf("%+v", f)
	}
	_, err := fs.Add(context.Background(), feed.Feed{Name: "x", Kind: feed.HIBP, Target: target, Secret: "chave", Settings: feed.Settings{By: "guess"}})
	if err == nil || !strings.Contains(err.Error(), "by: one of auto, address, range, domain") {
		t.Errorf("a way that there is not: %v", err)
	}
}
