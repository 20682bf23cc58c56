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
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// catalogue has a breach that may be told, one that may not, and one that nobody is in.
var catalogue = []catalogued{
	{
		Name:        "Loja",
		Title:       "Loja Exemplo",
		BreachDate:  "2020-01-02",
		DataClasses: []string{"Email addresses", "Passwords"},
		IsVerified:  true,
	},
	{
		Name:        "Segredo",
		Title:       "Segredo",
		BreachDate:  "2021-01-02",
		DataClasses: []string{"Email addresses"},
		IsSensitive: true,
	},
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
	if _, err := fs.AddFeed(
		context.Background(),
		feed.Feed{Name: name, Kind: feed.HIBP, Target: target, Secret: "chave", Settings: settings},
	); err != nil {
		v.T.Fatal(err)
	}
}

// longHex is more of a hash than may be told.
var longHex = regexp.MustCompile(`[0-9A-Fa-f]{7}`)

// TestHIBPCatalogue: without a key the breaches are published by title and date, and no address is asked about.
func TestHIBPCatalogue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "um", "email", "um@exemplo.com.br")
		service := &hibpService{Catalogue: catalogue}
		target, asked := asks(t, service)
		fs := v.feeds()
		if _, err := fs.AddFeed(
			context.Background(),
			feed.Feed{Name: "titulos", Kind: feed.HIBP, Target: target, Settings: feed.Settings{PerMinute: 60_000}},
		); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second run finds all of them there
			if f := v.runFeed(fs, "titulos"); f.Failures != 0 || f.State.Items == 0 {
				t.Errorf("%+v", f)
			}
		}
		if b, err := e.Store.Breaches.PublishedBreach(
			context.Background(),
			"hibp-loja",
		); err != nil || b.Title == "" ||
			b.Date.IsZero() {
			t.Error(b, err)
		}
		for _, uri := range asked() {
			if uri != "/api/v3/breaches" {
				t.Errorf("asked for %s", uri)
			}
		}
	})
}

// TestHIBPRanges: watched addresses are found with one call for each range, and the service is told six characters of a
// hash and nothing else.
func TestHIBPRanges(t *testing.T) {
	one, two := alike(t)
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		p, _ := e.NewPartner(t, partner.Live)
		other := cyber.Owner{Partner: p.ID, Mode: partner.Live}
		v.Watch(v.Live, "um", "email", one)
		v.Watch(v.Live, "dois", "email", two)
		v.Watch(other, "um", "email", strings.ToUpper(one[:1])+one[1:])
		v.Watch(v.Live, "bia", "email", "Bia@Empresa.com.br")
		v.Watch(v.Live, "limpa", "email", "limpa@exemplo.com.br")
		service := &hibpService{
			Key: "chave", KAnon: true, Others: 5, Catalogue: catalogue,
			Accounts: map[string][]string{one: {"Loja", "Segredo"}, "bia@empresa.com.br": {"Loja", "Outra"}},
		}
		target, asked := asks(t, service)
		fs := v.feeds()
		v.addHIBP(fs, "hibp", target, feed.Settings{PerMinute: 60_000})
		if f := v.runFeed(fs, "hibp"); f.Failures != 0 || f.State.Cell != 0 || f.State.Items != 5 {
			t.Errorf("%+v", f)
		}
		v.WantEqual("found", v.FindingsOf(v.Live, "um"), "email:hibp-loja:open")
		v.WantEqual("found of another partner's", v.FindingsOf(other, "um"), "email:hibp-loja:open")
		v.WantEqual("beside it", v.FindingsOf(v.Live, "dois")+v.FindingsOf(v.Live, "limpa"), "")
		if got := v.FindingsOf(
			v.Live,
			"bia",
		); !strings.Contains(got, "hibp-loja:open") ||
			!strings.Contains(got, "hibp-outra:open") {
			t.Errorf("in two breaches: %s", got)
		}
		if service.Ranges.Load() != 3 {
			t.Errorf("%d calls for three ranges", service.Ranges.Load())
		}
		for _, uri := range asked() {
			if strings.ContainsAny(uri, "@%") || longHex.MatchString(uri) {
				t.Errorf("told the service more than it needs: %s", uri)
			}
		}
	})
}

// TestHIBPGoesOn: a run that breaks off is taken up where it stopped, and a wrong answer is no clean one.
func TestHIBPGoesOn(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	v.LoadPublished()
	const people = 450
	accounts := map[string][]string{}
	for i := range people {
		address := fmt.Sprintf("p%03d@exemplo.com.br", i)
		v.Watch(v.Live, fmt.Sprint("p", i), "email", address)
		accounts[address] = []string{"Outra"}
	}
	service := &hibpService{Key: "chave", KAnon: true, Catalogue: catalogue, Accounts: accounts}
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
	v.addHIBP(fs, "hibp", target, feed.Settings{PerMinute: 200_000})
	f := v.runFeed(fs, "hibp")
	if f.Failures != 1 || f.State.Cell < 2 || f.State.Items == 0 || broken.Load() == 0 {
		t.Fatalf("after it broke off: %+v", f)
	}
	// It goes on at another address, where no call of the run that broke off can arrive late and be counted.
	done := f.State.Items
	other, asked := asks(t, service)
	_, err := v.Feeds.UpdateFeed(
		context.Background(),
		"hibp",
		func(f *feed.Feed) error { f.Target = other; return nil },
	)
	if err != nil {
		t.Fatal(err)
	}
	if f = v.runFeed(fs, "hibp"); f.Failures != 0 || f.State.Items != people || f.State.Cell != 0 {
		t.Errorf("when it went on: %+v", f)
	}
	if n := int64(strings.Count(strings.Join(asked(), "\n"), "/range/")); n == 0 || n > people-done {
		t.Errorf("asked for %d ranges of %d addresses that were left", n, people-done)
	}
	for _, i := range []int{0, 7, people - 1} {
		v.WantEqual("found", v.FindingsOf(v.Live, fmt.Sprint("p", i)), "email:hibp-outra:open")
	}
}

// TestHIBPKeepsTheRate: a service that says to wait is left alone by all who ask.
func TestHIBPKeepsTheRate(t *testing.T) {
	t.Parallel()
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	v.LoadPublished()
	for i := range 12 {
		v.Watch(v.Live, fmt.Sprint("p", i), "email", fmt.Sprintf("p%d@exemplo.com.br", i))
	}
	service := &hibpService{Key: "chave", KAnon: true, Catalogue: catalogue, Rpm: 10, Block: 700 * time.Millisecond}
	target, _ := asks(t, service)
	fs := v.feeds()
	v.addHIBP(fs, "hibp", target, feed.Settings{PerMinute: 60_000})
	if f := v.runFeed(fs, "hibp"); f.Failures != 0 || f.State.Items != 12 {
		t.Errorf("%+v", f)
	}
	// Those under way when it says to wait are refused with the first; nobody else is.
	if refused := service.Refused.Load(); refused == 0 || refused > 12 || service.Ranges.Load() != 12 {
		t.Errorf("refused %d of %d", refused, service.Ranges.Load())
	}
}

// TestHIBPPlans: what the plan does not have is said.
func TestHIBPPlans(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	target, _ := asks(t, &hibpService{Key: "chave"})
	fs := v.feeds()
	v.addHIBP(fs, "hibp", target, feed.Settings{PerMinute: 60_000})
	if f := v.runFeed(
		fs,
		"hibp",
	); f.Failures != 1 ||
		!strings.Contains(f.Error, "its plan does not include searches by range") {
		t.Errorf("%+v", f)
	}
}
