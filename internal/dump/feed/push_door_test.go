package feed_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// taker answers as it is told.
type taker struct {
	err  error
	name string
	body string
	wait chan struct{}
	at   chan struct{}
}

func (r *taker) ReceivePush(_ context.Context, name string, _ http.Header, body []byte) (feed.Receipt, error) {
	if r.wait != nil {
		r.at <- struct{}{}
		<-r.wait
		return feed.Receipt{}, r.err
	}
	r.name, r.body = name, string(body)
	return feed.Receipt{Breach: "loja", Records: 2, LeftOut: 3}, r.err
}

func open(r *taker, log io.Writer) *feed.PushDoor {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	return feed.NewPushDoor(
		feed.DoorOptions{Feeds: r, Log: slog.New(slog.NewJSONHandler(log, nil)), Now: func() time.Time { return now }},
	)
}

func post(d *feed.PushDoor, kind, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/supply/nimbo", strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// TestDoor: what is answered to whom, and that neither answers nor logs repeat what was sent.
func TestDoor(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := &taker{}
	d := open(r, &log)
	w := post(d, "application/x-ndjson; charset=utf-8", "ana@exemplo.com")
	if w.Code != 202 || strings.TrimSpace(w.Body.String()) != `{"status":"kept","breach":"loja","records":2,"values_left_out":3,"repeated":false}` || r.name != "nimbo" || r.body != "ana@exemplo.com" {
		t.Errorf("%d %s, %+v", w.Code, w.Body, r)
	}
	for _, c := range []struct {
		err   error
		code  int
		body  string
		after string
	}{
		{webhook.ErrSignature, 401, `{"error":{"code":"webhook.signature"}}`, ""},
		{
			feed.ErrPush.Note("line 3: email: not one e-mail address"), 422,
			`{"error":{"code":"push.records","detail":"line 3: email: not one e-mail address"}}`, "",
		},
		{
			feed.ErrRepeated.Note("webhook-id: x"), 409, `{"error":{"code":"push.repeated","detail":"webhook-id: x"}}`,
			"",
		},
		{feed.ErrPace.Note("feed: x"), 429, `{"error":{"code":"push.rate","detail":"feed: x"}}`, "1"},
		{feed.ErrBacklog.Note("feed: x"), 503, `{"error":{"code":"push.backlog","detail":"feed: x"}}`, "60"},
		{errors.New("no disk"), 500, `{"error":{"code":"internal"}}`, ""},
		{fault.New(fault.Internal, "x.y").Note("z"), 500, `{"error":{"code":"internal"}}`, ""},
	} {
		r.err = c.err
		w := post(d, "application/jsonl", "x")
		if w.Code != c.code || strings.TrimSpace(w.Body.String()) != c.body ||
			w.Header().Get("Retry-After") != c.after {
			t.Errorf("%v: %d %s, retry after %q", c.err, w.Code, w.Body, w.Header().Get("Retry-After"))
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%v: %v", c.err, w.Header())
		}
	}
	if text := log.String(); strings.Contains(text, "exemplo") || strings.Count(text, "nimbo") != 1 ||
		!strings.Contains(text, `"page":"/supply/{feed}"`) {
		t.Errorf("logged %s", text)
	}
}

// TestDoorIsBounded: what is too large, of another kind, too often or too many at once is refused before it is looked
// at.
func TestDoorIsBounded(t *testing.T) {
	t.Parallel()
	r := &taker{}
	d := open(r, io.Discard)
	for kind, code := range map[string]int{"application/zip": 415, "": 415, "text/csv": 202} {
		if w := post(d, kind, "x"); w.Code != code {
			t.Errorf("%q: %d", kind, w.Code)
		}
	}
	if w := post(d, "text/csv", strings.Repeat("x", feed.MaxPush+1)); w.Code != 413 {
		t.Errorf("too large: %d", w.Code)
	}
	chunked := httptest.NewRequest(http.MethodPost, "/supply/nimbo", io.LimitReader(zeros{}, feed.MaxPush+1))
	chunked.Header.Set("Content-Type", "text/csv")
	w := httptest.NewRecorder()
	if d.ServeHTTP(w, chunked); w.Code != 413 {
		t.Errorf("too large, and not said before: %d", w.Code)
	}
	w = httptest.NewRecorder()
	if d.ServeHTTP(
		w,
		httptest.NewRequest(http.MethodGet, "/supply/nimbo", nil),
	); w.Code != 405 ||
		w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: %d", w.Code)
	}

	r.wait, r.at = make(chan struct{}), make(chan struct{})
	const room = 4
	answered := make(chan int, room)
	for range room {
		go func() { answered <- post(d, "text/csv", "x").Code }()
		<-r.at
	}
	if w := post(d, "text/csv", "x"); w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("one more than fits: %d", w.Code)
	}
	close(r.wait)
	for range room {
		if code := <-answered; code != 202 {
			t.Errorf("one that fitted: %d", code)
		}
	}
	r.wait = nil
	refused := 0
	for range 100 {
		if post(d, "text/csv", "x").Code == 429 {
			refused++
		}
	}
	if refused < 40 {
		t.Errorf("%d of 100 from one address were refused", refused)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
