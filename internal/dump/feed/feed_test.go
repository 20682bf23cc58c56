package feed_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func (v *env) feeds() *feed.Feeds {
	guard := webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	return &feed.Feeds{
		Store:    v.Feeds,
		Breaches: v.Breaches,
		Jobs:     v.Jobs,
		Importer: v.Importer,
		Client:   guard.NewClient(webhook.ClientOptions{Timeout: time.Minute}),
		Now:      v.Clock.Now,
	}
}

// runFeed runs a feed once and returns how it stands.
func (v *env) runFeed(fs *feed.Feeds, name string) feed.Feed {
	v.T.Helper()
	if err := fs.Run(context.Background(), &job.Run{Job: job.Job{Subject: name}}); err != nil {
		v.T.Fatal(err)
	}
	f, err := v.Feeds.FeedByName(context.Background(), name)
	if err != nil {
		v.T.Fatal(err)
	}
	return f
}

func TestFolderFeed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		fs, folder := v.feeds(), t.TempDir()
		drop := func(name, content string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fs.AddFeed(
			context.Background(),
			feed.Feed{Name: "caixa", Kind: feed.Folder, Target: folder, Every: time.Minute},
		); err != nil {
			t.Fatal(err)
		}
		drop("loja.csv.gz", string(dumptest.GzipText(t, []byte("ana@exemplo.com.br,bia@exemplo.com.br"))))
		drop("sem-manifesto.txt", "caio@exemplo.com.br")
		v.runFeed(fs, "caixa")
		v.WantEqual("without a manifest", v.Names(), "")
		drop("loja.json", `{"title":"Loja","date":"2026-03-01","exposes":["email"]}`)
		drop("quebrado.json", `{"title":`)
		f := v.runFeed(fs, "caixa")
		v.WantEqual("with one", v.Names(), "loja:published:2")
		if f.Failures != 1 || !strings.Contains(f.Error, "quebrado.json") ||
			!f.NextAt.Equal(v.Clock.Now().Add(time.Minute)) {
			t.Errorf("a broken manifest is the feed's failure: %+v", f)
		}
		if err := os.Remove(filepath.Join(folder, "quebrado.json")); err != nil {
			t.Fatal(err)
		}
		drop("b/1.txt", "davi@exemplo.com.br")
		drop("b/2.txt", "eva@exemplo.com.br")
		drop(
			"b.json",
			`{"name":"outro","title":"Outro","date":"2026-03-02","exposes":["email"],"files":["b/1.txt","../../etc/passwd"]}`,
		)
		f = v.runFeed(fs, "caixa")
		if f.Failures != 0 || f.Error != "" || f.State.Items != 2 || f.State.Orphans != 1 {
			t.Errorf("after it was mended: %+v", f)
		}
		v.runFeed(fs, "caixa")
		v.WantEqual("named files only, and once", v.Names(), "loja:published:2 outro:published:1")
	})
}

// TestListFeed against a list that misbehaves.
func TestListFeed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		var answer atomic.Pointer[http.HandlerFunc]
		var dumps atomic.Int64
		mux := http.NewServeMux()
		mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) { (*answer.Load())(w, r) })
		mux.HandleFunc("/dump", func(w http.ResponseWriter, _ *http.Request) {
			dumps.Add(1)
			_, _ = io.WriteString(w, "ana@exemplo.com.br\nbia@exemplo.com.br\n")
		})
		server := httptest.NewServer(mux)
		defer server.Close()
		fs := v.feeds()
		if _, err := fs.AddFeed(
			context.Background(),
			feed.Feed{Name: "lista", Kind: feed.List, Target: server.URL + "/list", Secret: "chave"},
		); err != nil {
			t.Fatal(err)
		}
		bad := []http.HandlerFunc{
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 5<<20)) },
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
			},
			func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
		}
		for i, h := range bad {
			answer.Store(&h)
			f := v.runFeed(fs, "lista")
			if f.Failures != int64(i+1) || f.Error == "" {
				t.Errorf("answer %d: %+v", i, f)
			}
			if pause := f.NextAt.Sub(v.Clock.Now()); pause != time.Minute<<i {
				t.Errorf("answer %d: next try after %v", i, pause)
			}
		}
		tagged := 0
		good := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer chave" {
				t.Error("the list was asked for without its key")
			}
			if r.Header.Get("If-None-Match") == `"1"` {
				tagged++
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("ETag", `"1"`)
			_, _ = fmt.Fprintf(
				w,
				`[{"name":"pasta","title":"Pasta","date":"2026-01-01","exposes":["email"],"kind":"paste","urls":["%s/dump"]}]`,
				server.URL,
			)
		})
		answer.Store(&good)
		for range 3 {
			if f := v.runFeed(fs, "lista"); f.Failures != 0 {
				t.Errorf("%+v", f)
			}
		}
		v.WantEqual("breaches", v.Names(), "pasta:published:2")
		if dumps.Load() != 1 || tagged != 2 {
			t.Errorf("%d downloads, %d unchanged lists", dumps.Load(), tagged)
		}
	})
}

// TestHIBPFeed against a stand-in that is slow, limits and changes its mind.
func TestHIBPFeed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		p, _ := e.NewPartner(t, partner.Sandbox)
		v.Watch(v.Live, "ana", "email", "Ana+x@exemplo.com.br")
		v.Watch(v.Live, "bia", "email", "bia@exemplo.com.br")
		v.Watch(v.Live, "bia", "cpf", "52998224725")
		v.Watch(cyber.Owner{Partner: p.ID, Mode: partner.Sandbox}, "eva", "email", "eva@exemplo.com.br")
		service := &hibpService{
			Key:   "chave",
			KAnon: true,
			Accounts: map[string][]string{
				"ana+x@exemplo.com.br": {"Loja Exemplo", "???"},
				"eva@exemplo.com.br":   {"Loja Exemplo"},
			},
			Catalogue: []catalogued{
				{
					Name:        "Loja Exemplo",
					Title:       "Loja",
					BreachDate:  "2020-01-02",
					DataClasses: []string{"Email addresses", "Passwords"},
					IsVerified:  true,
				},
				{Name: "???", BreachDate: "nunca"},
			},
		}
		var calls atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1)%2 == 1 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			service.ServeHTTP(w, r)
		}))
		defer server.Close()
		fs := v.feeds()
		add := func(name, key string) {
			t.Helper()
			f := feed.Feed{
				Name:     name,
				Kind:     feed.HIBP,
				Target:   server.URL + "/api/v3",
				Secret:   key,
				Settings: feed.Settings{PerMinute: 60_000},
			}
			if _, err := fs.AddFeed(context.Background(), f); err != nil {
				t.Fatal(err)
			}
		}
		add("hibp", "chave")
		for range 2 {
			if f := v.runFeed(fs, "hibp"); f.Failures != 0 || f.State.Cell != 0 {
				t.Errorf("%+v", f)
			}
			v.WantEqual("findings", v.FindingsOf(v.Live, "ana"), "email:hibp-loja-exemplo:open")
			v.WantEqual(
				"statuses",
				v.Statuses(v.Live, "ana")+" "+v.Statuses(v.Live, "bia"),
				"email=comprometido email=monitorado cpf=monitorado",
			)
			if told := v.EventsOf(v.Live); dumptest.CountLines(told, "leak") != 1 {
				t.Errorf("told %v", told)
			}
		}
		add("errado", "outra")
		if f := v.runFeed(
			fs,
			"errado",
		); f.Failures != 1 || strings.Contains(f.Error, "@") ||
			strings.Contains(f.Error, "outra") {
			t.Errorf("a wrong key: %+v", f)
		}
		var secret []byte
		if err := v.DB.ReadPool().QueryRow(`SELECT secret FROM feed WHERE name = 'hibp'`).Scan(&secret); err != nil ||
			strings.Contains(string(secret), "chave") {
			t.Errorf("the key is kept in the clear: %v", err)
		}
	})
}

// TestFeedSchedule: due feeds become jobs, once; paused ones do not.
func TestFeedSchedule(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		fs, ctx := v.feeds(), context.Background()
		for _, name := range []string{"a", "b"} {
			if _, err := fs.AddFeed(ctx, feed.Feed{Name: name, Kind: feed.Folder, Target: t.TempDir()}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fs.PauseFeed(ctx, "b", true); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := fs.Schedule(ctx); err != nil {
				t.Fatal(err)
			}
		}
		jobs, err := v.Jobs.ClaimJobs(ctx, "w", []string{feed.KindRun}, 10)
		if err != nil || len(jobs) != 1 || jobs[0].Subject != "a" {
			t.Errorf("%+v, %v", jobs, err)
		}
	})
}
