package api

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestBrokenQuery: a query that does not parse is refused on every route, and nothing is done.
func TestBrokenQuery(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Sandbox)
	s.as(t, s.Sandbox, http.MethodPost, "/cyber/epp", sampleBody(routes[5]))
	for _, rt := range routes {
		body := sampleBody(rt)
		if rt.op == 12 {
			body = itemsOf(1, 2)
		}
		for _, query := range []string{"dry_run=true%", "%zz", "a=%zz", "a=%2", "%", "a;b", "dry_run=true;x=1", "a=1;", "page=1&b=%g0", "userHash=%"} {
			for _, prefix := range prefixes {
				got := s.as(t, s.Sandbox, rt.method, prefix+sample(rt)+"?"+query, body)
				if got.status != 400 || got.body != rt.area.invalidBody() ||
					!strings.HasPrefix(got.header.Get(detailHeader), "query: ") {
					t.Errorf(
						"%s %s?%s: %d %s %q",
						rt.method,
						rt.path,
						query,
						got.status,
						got.body,
						got.header.Get(detailHeader),
					)
				}
			}
		}
	}
	if n := s.total(t, s.Sandbox); n != 0 {
		t.Errorf("%d subscriptions were created by broken queries", n)
	}
}

// TestUnknownParameters: where a parameter changes what is done, a name that is nearly right is refused, and the detail
// names the right ones; elsewhere names are nobody's business.
func TestUnknownParameters(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Sandbox)
	near := map[string][]string{
		"dry_run": {
			"dryRun",
			"dry-run",
			"DRY_RUN",
			"dryrun",
		},
		"userHash":  {"userhash", "user_hash", "userHash[]", "UserHash"},
		"page":      {"Page", "p"},
		"page_size": {"pageSize", "size", "per_page"},
		"after":     {"cursor", "After"},
		"limit":     {"Limit", "max"},
	}
	right := map[string]string{
		"dry_run":   "true",
		"userHash":  hashOf("ninguem"),
		"page":      "1",
		"page_size": "1",
		"limit":     "1",
	}
	tried := map[string]bool{}
	for _, rt := range routes {
		body := sampleBody(rt)
		if rt.op == 12 {
			body = itemsOf(1, 2)
		}
		if len(rt.query) == 0 {
			with, without := s.as(t, s.Sandbox, rt.method, sample(rt)+"?dryRun=true&x=1", body), s.as(t, s.Sandbox, rt.method, sample(rt), body)
			if with.status != without.status {
				t.Errorf("%s %s with a parameter that it has no use for: %d", rt.method, rt.path, with.status)
			}
			continue
		}
		for _, known := range rt.query {
			tried[known] = true
			for _, name := range append(near[known], "") {
				got := s.as(t, s.Sandbox, rt.method, sample(rt)+"?"+url.QueryEscape(name)+"="+right[known], body)
				if d := got.header.Get(detailHeader); got.status != 400 || got.body != rt.area.invalidBody() ||
					!strings.Contains(d, known) {
					t.Errorf("%s %s?%s: %d %s %q", rt.method, rt.path, name, got.status, got.body, d)
				}
			}
			if v := right[known]; v != "" {
				if got := s.as(t, s.Sandbox, rt.method, sample(rt)+"?"+known+"="+v, body); got.status != 200 {
					t.Errorf("%s %s?%s: %d %s", rt.method, rt.path, known, got.status, got.header.Get(detailHeader))
				}
			}
		}
	}
	if n := s.total(t, s.Sandbox); n != 0 {
		t.Errorf("%d subscriptions were created by rehearsals", n)
	}
	for known := range near {
		if !tried[known] {
			t.Errorf("no route knows %s any more", known)
		}
	}
}

// TestPlusInQuery: in standard base64 a plus is a digit, and many clients send it as it is.
func TestPlusInQuery(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	n := 0
	for !strings.Contains(base64.StdEncoding.EncodeToString(digestOf(n)), "+") {
		n++
	}
	texts := spelled(digestOf(n))
	body := `{"operatingSystem":"android","type":"antivirus","deviceName":"Celular","userHash":"` + texts[0] + `"}`
	if got := s.as(t, s.Sandbox, http.MethodPost, "/cyber/epp", body); got.status != 200 {
		t.Fatal(got)
	}
	for _, text := range texts {
		for _, sent := range []string{text, url.QueryEscape(text), strings.ReplaceAll(text, "=", "%3d")} {
			got := s.as(t, s.Sandbox, http.MethodGet, "/cyber/epp?userHash="+sent, "")
			if got.status != 200 || !strings.Contains(got.body, "Celular") {
				t.Errorf("%s: %d %s", sent, got.status, got.body)
			}
		}
	}
	if got := s.as(
		t,
		s.Sandbox,
		http.MethodGet,
		fmt.Sprintf("/cyber/epp?userHash=%s&userHash=%s", texts[2], url.QueryEscape(texts[1])),
		"",
	); got.status != 200 {
		t.Errorf("one person twice: %d", got.status)
	}
}
