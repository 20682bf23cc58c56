package feed_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// signed are the headers of a push.
func signed(t *testing.T, secret, id string, at time.Time, body string) http.Header {
	t.Helper()
	key, err := webhook.ParseSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	if err := webhook.SignHeaders(h, id, at, []byte(body), []webhook.Key{key}); err != nil {
		t.Fatal(err)
	}
	return h
}

// receiver adds a feed that takes pushes, and returns what sends one to it.
func (v *env) receiver(
	fs *feed.Feeds,
	name string,
	settings feed.Settings,
) (secret string, send func(id, body string) (feed.Receipt, error)) {
	v.T.Helper()
	fs.Random = rand.Reader
	_, secret, err := fs.AddReceiver(context.Background(), feed.Feed{Name: name, Kind: feed.Pushed, Settings: settings})
	if err != nil {
		v.T.Fatal(err)
	}
	return secret, func(id, body string) (feed.Receipt, error) {
		v.T.Helper()
		return fs.ReceivePush(context.Background(), name, signed(v.T, secret, id, v.Clock.Now(), body), []byte(body))
	}
}

const (
	header = `{"vigia_records": 1}` + "\n"
	named  = `{"vigia_records": 1, "breach": {"name": "loja", "title": "Loja Exemplo", "date": "2026-03-01"}}` + "\n"
	ana    = `{"email": "ana@exemplo.com.br", "password": "s3gredo"}` + "\n"
	bia    = `{"email": "bia@exemplo.com.br", "health": true}` + "\n"
)

// TestPushedRecords: what a vendor sends becomes a breach, or more of the one it is of, by the usual import; people are
// told; nothing of it lies in the clear, and nothing is left of it when it is over.
func TestPushedRecords(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Watch(v.Live, "bia", "email", "bia@exemplo.com.br")
		fs := v.feeds()
		secret, send := v.receiver(fs, "nimbo", feed.Settings{})
		if got, err := send("um", named+ana); err != nil || got != (feed.Receipt{Breach: "loja", Records: 1}) {
			t.Fatalf("%+v, %v", got, err)
		}
		var body, kept []byte
		if err := v.DB.ReadPool().QueryRow(`SELECT body FROM feed_push_part`).Scan(&body); err != nil ||
			len(body) < len(named+ana) || bytes.Contains(body, []byte("exemplo")) {
			t.Errorf("kept in the clear: %v", err)
		}
		if err := v.DB.ReadPool().QueryRow(`SELECT secret FROM feed WHERE name = 'nimbo'`).Scan(&kept); err != nil ||
			bytes.Contains(kept, []byte(secret)) {
			t.Errorf("the secret is kept in the clear: %v", err)
		}
		jobs, err := v.Jobs.ClaimJobs(context.Background(), "w", []string{feed.KindRun}, 10)
		if err != nil || len(jobs) != 1 {
			t.Errorf("%+v, %v: no worker was told", jobs, err)
		}
		if _, err := send("dois", named+bia); err != nil {
			t.Fatal(err)
		}
		if _, err := send("tres", header+bia); err != nil {
			t.Fatal(err)
		}
		f := v.runFeed(fs, "nimbo")
		if f.Failures != 0 || f.State.Items != 3 || f.State.Refused != 0 {
			t.Errorf("%+v", f)
		}
		v.RunJobs()
		v.WantEqual("breaches", v.Names(), "loja:published:2 nimbo-20261115:published:1")
		v.WantEqual("ana", v.FindingsOf(v.Live, "ana"), "email:loja:open")
		if got := v.FindingsOf(
			v.Live,
			"bia",
		); !strings.Contains(got, "email:loja:open") ||
			!strings.Contains(got, "email:nimbo-20261115:open") {
			t.Errorf("bia: %s", got)
		}
		var left int
		if err := v.DB.ReadPool().QueryRow(`SELECT count(*) FROM feed_push_part`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d parts are left, %v", left, err)
		}
		// A breach of its own that is there already is added to; somebody else's is not.
		if _, err := send("quatro", strings.Replace(named, "loja", "alheia", 1)+ana); err != nil {
			t.Fatal(err)
		}
		_, other := v.receiver(fs, "outro", feed.Settings{})
		if _, err := other("um", named+ana); !errors.Is(err, feed.ErrTaken) {
			t.Errorf("into another's breach: %v", err)
		}
	})
}

// TestTwoVendorsRaceForAName: two vendors send a breach of the same name before either is imported. The first import
// has the name; what the other sent is refused and not added to it.
func TestTwoVendorsRaceForAName(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		fs := v.feeds()
		_, first := v.receiver(fs, "nimbo", feed.Settings{})
		_, second := v.receiver(fs, "outro", feed.Settings{})
		if _, err := first("um", named+ana); err != nil {
			t.Fatal(err)
		}
		if _, err := second("um", named+bia); err != nil {
			t.Fatal(err)
		}
		if f := v.runFeed(fs, "nimbo"); f.State.Items != 1 || f.State.Refused != 0 {
			t.Errorf("first: %+v", f.State)
		}
		if f := v.runFeed(fs, "outro"); f.State.Items != 0 || f.State.Refused != 1 {
			t.Errorf("second: %+v", f.State)
		}
		v.WantEqual("breaches", v.Names(), "loja:published:1")
		r, err := v.Breaches.BreachByName(t.Context(), "loja")
		if err != nil || r.Renewals != 0 || r.Tally.Found["email"] != 1 {
			t.Errorf("renewed %d times, %v: %v", r.Renewals, r.Tally.Found, err)
		}
	})
}

// TestPushIsRefused: what is not signed, not now, not once or not readable is kept nowhere, and what is wrong with it
// is told by line, field and rule.
func TestPushIsRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		fs, ctx := v.feeds(), context.Background()
		secret, send := v.receiver(fs, "nimbo", feed.Settings{})
		other, _ := v.receiver(fs, "outro", feed.Settings{})
		now, text := v.Clock.Now(), header+ana
		for name, h := range map[string]http.Header{
			"unsigned": {}, "by another's secret": signed(t, other, "um", now, text), "another body": signed(t, secret,
				"um", now, text+bia),
			"too old": signed(t, secret, "um", now.Add(-6*time.Minute), text), "too new": signed(t, secret, "um",
				now.Add(6*time.Minute), text),
		} {
			if _, err := fs.ReceivePush(ctx, "nimbo", h, []byte(text)); !errors.Is(err, webhook.ErrSignature) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := fs.ReceivePush(ctx, "nenhum", signed(t, secret, "um", now, text), []byte(text)); !errors.Is(err,
			webhook.ErrSignature) {
			t.Errorf("to a receiver that there is not: %v", err)
		}
		for body, want := range map[string]string{
			ana:    "line 1: vigia_records: the first line is",
			header: "records: at least one",
			header + ana + `{"email": "x"}` + "\n" +
				`{"email": "y"}`: "line 3: email: not one e-mail address",
			`{"vigia_records": 1, "breach": {"name": "../x", "title": "x", "date": "2026-01-01"}}` + "\n" +
				ana: "line 1: breach.name: 1 to 80",
			`{"vigia_records": 1, "breach": {"name": "x", "title": "x", "date": "2036-01-01"}}` + "\n" +
				ana: "line 1: breach.date: a day from 1970 to today",
			`{"vigia_records": 1, "breach": {"name": "x", "urls": ["https://x.test"]}}` + "\n" +
				ana: "line 1: breach: the records are in the push itself",
			`{"vigia_records": 1, "breach": {"nome": "x"}}` + "\n" +
				ana: "line 1: breach: name, title, date",
		} {
			if _, err := send("ruim", body); !errors.Is(err, feed.ErrPush) || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60s: %v, want %s", body, err, want)
			}
		}
		if waiting, err := v.Feeds.WaitingPushes(ctx, "nimbo", 10); err != nil || len(waiting) != 0 {
			t.Fatalf("kept %v, %v", waiting, err)
		}
		if _, err := send("um", text); err != nil {
			t.Fatal(err)
		}
		again := func(when string) {
			t.Helper()
			if got, err := send("um", text); err != nil || !got.Repeated || got.Records != 1 {
				t.Errorf("the same again %s: %+v, %v", when, got, err)
			}
			if _, err := send("um", header+bia); !errors.Is(err, feed.ErrRepeated) {
				t.Errorf("its id with another body %s: %v", when, err)
			}
		}
		again("while it waits")
		v.runFeed(fs, "nimbo")
		again("when it is done")
		if all, err := v.Feeds.ListPushes(
			ctx,
			"nimbo",
			10,
		); err != nil || len(all) != 1 ||
			all[0].State != feed.PushDone {
			t.Errorf("%+v, %v", all, err)
		}
		if _, err := fs.PauseFeed(ctx, "nimbo", true); err != nil {
			t.Fatal(err)
		}
		if _, err := send("dois", text); !errors.Is(err, feed.ErrPaused) {
			t.Errorf("while it is paused: %v", err)
		}
	})
}

// TestPushSecrets: a secret that was replaced is good for a day, and one before it not at all.
func TestPushSecrets(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	fs, ctx := v.feeds(), context.Background()
	first, _ := v.receiver(fs, "nimbo", feed.Settings{})
	number := 0
	good := func(secret string) bool {
		number++
		_, err := fs.ReceivePush(
			ctx,
			"nimbo",
			signed(t, secret, fmt.Sprint("n", number), v.Clock.Now(), header+ana),
			[]byte(header+ana),
		)
		if err != nil && !errors.Is(err, webhook.ErrSignature) {
			t.Fatal(err)
		}
		return err == nil
	}
	_, second, err := fs.RotateSecret(ctx, "nimbo")
	if err != nil || !good(first) || !good(second) {
		t.Fatalf("after a rotation: %v", err)
	}
	_, third, err := fs.RotateSecret(ctx, "nimbo")
	if err != nil || good(first) || !good(second) || !good(third) {
		t.Errorf("after two: %v", err)
	}
	v.Clock.Advance(25 * time.Hour)
	if good(second) || !good(third) {
		t.Error("a day later")
	}
	if err := fs.RemoveFeed(ctx, "nimbo"); err != nil || good(third) {
		t.Errorf("when it is removed: %v", err)
	}
	if err := fs.RemoveFeed(ctx, "nimbo"); !errors.Is(err, feed.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if _, _, err := fs.AddReceiver(
		ctx,
		feed.Feed{Name: "x", Settings: feed.Settings{Mapping: "format: xml"}},
	); err == nil ||
		!strings.Contains(err.Error(), "line 1: format") {
		t.Errorf("with a mapping that is none: %v", err)
	}
}

// died is a store that a killed process leaves as it was before the last word on a push.
type died struct {
	feed.Store
	when string
}

var errDied = errors.New("killed")

func (d died) FinishPush(ctx context.Context, p feed.Push) error {
	if d.when == "end" {
		return errDied
	}
	return d.Store.FinishPush(ctx, p)
}

func (d died) OpenPushBody(ctx context.Context, p feed.Push) ([]byte, error) {
	if d.when == "read" {
		return nil, errDied
	}
	return d.Store.OpenPushBody(ctx, p)
}

// TestPushSurvivesAKill: what was answered is imported once, wherever the process was killed: before the import, in its
// middle, and between the import and the last word on it. One that cannot be imported keeps no other from it.
func TestPushSurvivesAKill(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.LoadPublished()
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		v.Watch(v.Live, "bia", "email", "bia@exemplo.com.br")
		fs := v.feeds()
		_, send := v.receiver(fs, "nimbo", feed.Settings{})
		for id, body := range map[string]string{"a": named + ana, "b": named + bia} {
			if _, err := send(id, body); err != nil {
				t.Fatal(err)
			}
		}
		for _, when := range []string{"read", "end", "end"} {
			fs = v.feeds() // another process, which knows nothing but what is on disk
			fs.Store = died{v.Feeds, when}
			if err := fs.Run(context.Background(), &job.Run{Job: job.Job{Subject: "nimbo"}}); err != nil {
				t.Fatal(err)
			}
			if f, err := v.Feeds.FeedByName(context.Background(), "nimbo"); err != nil || f.Failures == 0 {
				t.Fatalf("killed at %s: %+v, %v", when, f, err)
			}
		}
		if waiting, err := v.Feeds.WaitingPushes(context.Background(), "nimbo", 10); err != nil || len(waiting) != 2 {
			t.Fatalf("%d wait, %v", len(waiting), err)
		}
		if f := v.runFeed(v.feeds(), "nimbo"); f.Failures != 0 || f.State.Items != 2 {
			t.Errorf("%+v", f)
		}
		v.RunJobs()
		v.WantEqual("breaches", v.Names(), "loja:published:2")
		v.WantEqual(
			"findings",
			v.FindingsOf(v.Live, "ana")+" "+v.FindingsOf(v.Live, "bia"),
			"email:loja:open email:loja:open",
		)
	})
}

// TestPushByMapping: a vendor's own lines by the receiver's mapping; wrong values are counted by the import, and a push
// of nothing else is refused.
func TestPushByMapping(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	fs := v.feeds()
	_, send := v.receiver(
		fs,
		"nimbo",
		feed.Settings{Mapping: "vigia_mapping: 1\nformat: jsonl\nfields:\n  login: email\n  pw: password\n"},
	)
	if _, err := send(
		"um",
		`{"login": "x", "pw": "y"}`,
	); !errors.Is(err, feed.ErrPush) ||
		fault.KindOf(err) != fault.Unprocessable {
		t.Errorf("nothing but wrong values: %v", err)
	}
	if got, err := send(
		"dois",
		`{"login": "x"}`+"\n"+`{"login": "ana@exemplo.com.br", "pw": "s", "id": 7}`,
	); err != nil || got.Records != 1 ||
		got.LeftOut != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if f := v.runFeed(fs, "nimbo"); f.Failures != 0 || f.State.LeftOut != 1 {
		t.Errorf("%+v", f)
	}
	r, err := v.Breaches.BreachByName(context.Background(), "nimbo-20261115")
	if err != nil || r.Tally.Found["email"] != 1 || r.Tally.Problems != 1 || r.Tally.Pairs != 1 {
		t.Errorf("%+v, %v", r.Tally, err)
	}
}

// TestFailedPush: a push whose breach was retracted meanwhile is given up, said why, and keeps no other waiting.
func TestFailedPush(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	fs, ctx := v.feeds(), context.Background()
	_, send := v.receiver(fs, "nimbo", feed.Settings{})
	if _, err := send("um", named+ana); err != nil {
		t.Fatal(err)
	}
	v.runFeed(fs, "nimbo")
	v.Clock.Advance(time.Second)
	if _, err := send("dois", named+bia); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Breaches.RetractBreach(ctx, "loja"); err != nil {
		t.Fatal(err)
	}
	v.Clock.Advance(time.Second)
	if _, err := send("tres", header+bia); err != nil {
		t.Fatal(err)
	}
	if f := v.runFeed(fs, "nimbo"); f.Failures != 1 || f.State.Refused != 1 || f.State.Items != 2 {
		t.Errorf("%+v", f)
	}
	all, err := v.Feeds.ListPushes(ctx, "nimbo", 10)
	if err != nil || len(all) != 3 || all[1].State != feed.PushFailed || !strings.Contains(all[1].Error, "retracted") {
		t.Errorf("%+v, %v", all, err)
	}
	v.Clock.Advance(31 * 24 * time.Hour)
	if f := v.runFeed(fs, "nimbo"); f.Failures != 0 {
		t.Errorf("%+v", f)
	}
	if all, err = v.Feeds.ListPushes(ctx, "nimbo", 10); err != nil || len(all) != 0 {
		t.Errorf("a month later: %+v, %v", all, err)
	}
}
