package api

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// ask sends a request whose Accept-Encoding is exactly what is given, and leaves the answer as it came.
func (s *service) ask(t *testing.T, method, path, body string, accept ...string) (answered, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", s.Sandbox.APIKey)
	req.Header["Accept-Encoding"] = accept
	plain := &http.Transport{DisableCompression: true}
	defer plain.CloseIdleConnections()
	res, err := plain.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := answered{res.StatusCode, res.Header, string(raw)}
	if res.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(strings.NewReader(got.body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		got.body = string(text)
	}
	if n := res.Header.Get("Content-Length"); n != fmt.Sprint(len(raw)) {
		t.Errorf("%s: Content-Length %s of %d bytes", path, n, len(raw))
	}
	return got, raw
}

// TestPackedAnswers: large answers are packed for those who ask, the same bytes after unpacking, and nothing else is.
func TestPackedAnswers(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	want, plain := s.ask(t, http.MethodGet, "/cyber/services", "")
	if len(plain) <= minPacked || want.header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("%d bytes, %v", len(plain), want.header)
	}
	for accept, is := range map[string]bool{
		"gzip": true, "GZIP": true, "x-gzip": true, "gzip, deflate, br": true, "br;q=1.0, gzip;q=0.8, *;q=0.1": true, "*": true, "gzip;q=0.001": true, " gzip ; q=1 ": true,
		"identity;q=0.5, gzip;q=1.0": true, "identity, gzip": true,
		"": false, "br": false, "identity": false, "gzip;q=0": false, "gzip;q=0, *": false, "*;q=0": false, "gzip;q=2": false, "gzip;q=x": false, "gzip;x=1": false,
		"gzip;q=0.5, identity": false, "gzipped": false, "gzip;q=NaN": false,
	} {
		got, raw := s.ask(t, http.MethodGet, "/cyber/services", "", accept)
		if packed := got.header.Get("Content-Encoding") == "gzip"; packed != is || got.body != want.body || is && len(raw) >= len(plain) {
			t.Errorf("Accept-Encoding %q: %v, %d bytes", accept, got.header, len(raw))
		}
		if got.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: Vary %q", accept, got.header.Get("Vary"))
		}
	}
	if got, _ := s.ask(t, http.MethodGet, "/cyber/services", "", "br", "gzip"); got.header.Get("Content-Encoding") != "gzip" {
		t.Error("two lines of Accept-Encoding are one list")
	}
	if got, _ := s.ask(
		t,
		http.MethodGet,
		"/cyber/monitoring/"+hashOf("ninguem"),
		"",
		"gzip",
	); got.header.Get("Content-Encoding") != "" ||
		got.body != "[]" {
		t.Errorf("a short answer: %v %s", got.header, got.body)
	}
}

// TestSecretsAreNotPacked: whoever watches the connection and chooses a part of an answer must learn nothing from its
// length.
func TestSecretsAreNotPacked(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	for n := range 20 {
		s.as(
			t,
			s.Sandbox,
			http.MethodPost,
			"/cyber/epp",
			fmt.Sprintf(
				`{"operatingSystem":"android","type":"antivirus","deviceName":"Aparelho número %d","userHash":"%s"}`,
				n,
				hashOf("aparelhos"),
			),
		)
	}
	got, raw := s.ask(t, http.MethodGet, "/cyber/epp", "", "gzip")
	if got.header.Get("Content-Encoding") != "" || len(raw) <= minPacked {
		t.Errorf("keys: %d bytes, %v", len(raw), got.header)
	}
	made := []string{
		"POST /webhooks",
		"POST /webhooks/{id}/rotate",
		"POST /keys",
		"POST /keys/{id}/roll",
		"POST /cyber/portal-session",
	}
	for _, rt := range routes {
		secret := strings.HasSuffix(rt.path, "-check") || slices.Contains(made, rt.method+" "+rt.path) ||
			slices.Contains([]string{"/cyber/epp", "/cyber/epp/{key}", "/cyber/epp/{key}/move"}, rt.path)
		if rt.secret != secret {
			t.Errorf("%s %s: secret is %v", rt.method, rt.path, rt.secret)
		}
	}
}

// TestPackedBodies: what comes packed is what it unpacks to, within the same limits.
func TestPackedBodies(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Sandbox)
	bomb := gzipped(strings.Repeat(" ", 2*maxBulkBody), gzip.BestSpeed)
	for _, rt := range routes {
		if rt.body == noBody {
			continue
		}
		good, limit := sampleBody(rt), int(rt.body.maxBodyLength())
		if rt.body == streamBody {
			good = itemsOf(1, 2)
		}
		send := func(body, encoding string) answered {
			h := http.Header{"x-api-key": {s.Sandbox.APIKey}, "content-encoding": {encoding}}
			return s.do(t, call{method: rt.method, path: sample(rt), body: body, header: h, unchecked: true})
		}
		plain := s.as(t, s.Sandbox, rt.method, sample(rt), good).status
		whole := gzipped(good, gzip.BestSpeed)
		half := len(good) / 2
		padded := good[:1] + randomSpaces(limit-len(good)) + good[1:]
		for name, c := range map[string]struct {
			body, encoding string
			status         int
		}{
			"gzip":             {whole, "gzip", plain},
			"GZIP":             {whole, "GZIP", plain},
			"x-gzip":           {whole, "x-gzip", plain},
			"identity":         {good, "identity", plain},
			"two members":      {gzipped(good[:half], 1) + gzipped("", 1) + gzipped(good[half:], 9), "gzip", plain},
			"at the limit":     {gzipped(padded, gzip.BestSpeed), "gzip", plain},
			"over the limit":   {gzipped(padded+" ", gzip.BestSpeed), "gzip", 413},
			"a bomb":           {bomb, "gzip", 413},
			"not packed":       {good, "gzip", 400},
			"empty":            {"", "gzip", 400},
			"cut":              {whole[:len(whole)-1], "gzip", 400},
			"cut in the head":  {whole[:5], "gzip", 400},
			"a wrong checksum": {whole[:len(whole)-8] + "\x00" + whole[len(whole)-7:], "gzip", 400},
			"trailing bytes":   {whole + "x", "gzip", 400},
			"twice":            {gzipped(whole, 1), "gzip, gzip", 415},
			"packed twice":     {gzipped(whole, 1), "gzip", 400},
			"deflate":          {whole, "deflate", 415},
		} {
			if got := send(c.body, c.encoding); got.status != c.status {
				t.Errorf("%s %s: %d %q, want %d", rt.path, name, got.status, got.header.Get(detailHeader), c.status)
			}
		}
	}
}

// randomSpaces is white space that packs to about a quarter, as people's data may: it is no bomb.
func randomSpaces(n int) string {
	b := make([]byte, n)
	state := uint32(1)
	for i := range b {
		state = state*1664525 + 1013904223
		b[i] = " \t\r\n"[state>>30]
	}
	return string(b)
}

// TestBombIsCheap: a body that unpacks to a thousand times its size is refused long before the limit of the route.
func TestBombIsCheap(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	bomb := gzipped("["+strings.Repeat(" ", maxBulkBody-2)+"]", gzip.BestCompression)
	h := http.Header{"x-api-key": {s.Sandbox.APIKey}, "content-encoding": {"gzip"}}
	got := s.do(t, call{method: http.MethodPost, path: "/subscriptions", body: bomb, header: h, unchecked: true})
	if got.status != 413 || !strings.Contains(got.header.Get(detailHeader), "100 times") {
		t.Errorf("%d bytes that unpack to %d: %d %q", len(bomb), maxBulkBody, got.status, got.header.Get(detailHeader))
	}
}
