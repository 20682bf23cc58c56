package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/platform/bucket/buckettest"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestEverythingPassesTheGuard: feeds of every kind and imports by address reach an inner address only when the
// operator opened it. The address here is the loopback, where a server counts who comes.
func TestEverythingPassesTheGuard(t *testing.T) {
	var met atomic.Int64
	s3 := buckettest.NewFakeS3(t)
	s3.Before = func(*http.Request) { met.Add(1) }
	web := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { met.Add(1); _, _ = w.Write([]byte("[]")) }),
	)
	t.Cleanup(web.Close)
	a, err := OpenApp(
		context.Background(),
		config.Common{Data: filepath.Join(t.TempDir(), "data")},
		sqldb.Options{MaxConns: 2},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	ctx := context.Background()
	feeds := a.Feeds(nil)
	ways := map[string]func(o config.Outgoing){}
	for _, f := range []feed.Feed{
		{Name: "balde", Kind: feed.Folder, Target: s3.Address},
		{Name: "lista", Kind: feed.List, Target: web.URL + "/list?token=made-up"},
	} {
		if _, err := feeds.AddFeed(ctx, f); err != nil {
			t.Fatal(err)
		}
		ways[f.Name] = func(o config.Outgoing) {
			ran, err := a.RunFeedNow(ctx, o, f.Name)
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(ran.Error, "made-up") {
				t.Error("what is kept of a failure holds the secret of an address:", ran.Error)
			}
		}
	}
	imported := 0
	imports := func(arg string) func(config.Outgoing) {
		return func(o config.Outgoing) {
			out, err := OpenOutgoing(o)
			if err != nil {
				t.Fatal(err)
			}
			inputs, err := intake.ListInputs(ctx, out.Downloads, []string{arg})
			if err != nil {
				return // a bucket is listed at once
			}
			imported++
			_, _ = a.Leaks.Foreground.ImportBreach(
				ctx,
				intake.Spec{Inputs: inputs, Breach: cyber.Breach{ // whether it is reached is what counts
					Name: fmt.Sprint(
						"b",
						imported,
					),
					Title:   "B",
					Date:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
					Exposes: []cyber.Exposed{cyber.ExposedEmail},
				}},
			)
		}
	}
	ways["import of an address"], ways["import of a bucket"] = imports(web.URL+"/dump.txt"), imports(s3.Address)
	for name, way := range ways {
		met.Store(0)
		if way(config.Outgoing{}); met.Load() != 0 {
			t.Errorf("%s: %d requests reached an inner address", name, met.Load())
		}
		opened := config.Outgoing{WebhookAllow: []string{"127.0.0.0/8"}}
		if way(opened); met.Load() == 0 {
			t.Errorf("%s: what was opened is not reached", name)
		}
	}
}

// TestRedirectsCarryNoSecrets: what a source redirects to gets neither the key nor the address that was asked first.
func TestRedirectsCarryNoSecrets(t *testing.T) {
	var got http.Header
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	t.Cleanup(other.Close)
	first := httptest.NewServer(
		http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/x", http.StatusFound) },
		),
	)
	t.Cleanup(first.Close)
	out, err := OpenOutgoing(config.Outgoing{WebhookAllow: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, first.URL+"/list?sig=made-up", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Hibp-Api-Key": "made-up", "Authorization": "Bearer made-up", "X-Amz-Security-Token": "made-up", "User-Agent": "vigia"} {
		req.Header.Set(name, value)
	}
	res, err := out.Downloads.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if got.Get("User-Agent") != "vigia" {
		t.Fatal("the redirect was not followed")
	}
	for name, values := range got {
		if strings.Contains(strings.Join(values, " "), "made-up") {
			t.Errorf("%s went to another host: %q", name, values)
		}
	}
}
