package pages_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vigiahq/vigia/internal/web/pages"
)

// TestServeFiles: a style sheet travels compressed to those who take it, each form under a tag of its own.
func TestServeFiles(t *testing.T) {
	style := strings.Repeat("a { color: red; }\n", 100)
	h, err := pages.ServeFiles(fstest.MapFS{"page.css": {Data: []byte(style)}}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path, accept, tag string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("accept-encoding", accept)
		r.Header.Set("if-none-match", tag)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	tags := map[string]string{}
	for accept, want := range map[string]string{
		"gzip, deflate, br": "gzip", "br, GZIP;q=0.5": "gzip", "*": "gzip",
		"": "", "identity": "", "gzip;q=0, *": "", "br": "", "gzip;q=x": "",
	} {
		res := ask("/static/page.css", accept, "")
		body, err := io.ReadAll(res.Body)
		if err != nil || res.Header.Get("content-encoding") != want {
			t.Errorf("%q: encoded %q, not %q, %v", accept, res.Header.Get("content-encoding"), want, err)
		}
		if want == "gzip" {
			if len(body) > len(style)/4 {
				t.Errorf("%q: %d bytes of %d", accept, len(body), len(style))
			}
			r, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		if string(body) != style || res.Header.Get("vary") != "accept-encoding" ||
			res.Header.Get("content-type") != "text/css; charset=utf-8" ||
			res.Header.Get("cache-control") != "public, max-age=3600" {
			t.Errorf("%q: %v, %d bytes", accept, res.Header, len(body))
		}
		tags[want] = res.Header.Get("etag")
	}
	if tags["gzip"] == tags[""] || tags[""] == "" {
		t.Error("both forms have the tag", tags)
	}
	if res := ask("/static/page.css", "gzip", tags["gzip"]); res.StatusCode != http.StatusNotModified {
		t.Error("what the browser has is sent again:", res.StatusCode)
	}
	if res := ask("/static/page.css", "", tags["gzip"]); res.StatusCode != http.StatusOK {
		t.Error("who takes no gzip is told to use it:", res.StatusCode)
	}
	if res := ask("/static/nada.css", "gzip", ""); res.StatusCode != http.StatusNotFound ||
		res.Header.Get("cache-control") != "no-store" {
		t.Error(res.StatusCode, res.Header)
	}
}
