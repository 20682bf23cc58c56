package api

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
)

// vendorSecret is what the vendor of the antivirus signs with in tests.
var vendorSecret = secretOf(7)

func secretOf(b byte) webhook.Secret {
	s, err := webhook.NewSecret(bytes.NewReader(bytes.Repeat([]byte{b}, 32)))
	if err != nil {
		panic(err)
	}
	return s
}

// vendorCall is a request that is signed in place of a partner's key.
type vendorCall struct {
	path, body string
	secret     webhook.Secret
	at         time.Time
}

func (s *service) vendor(t *testing.T, c vendorCall, more ...string) answered {
	t.Helper()
	h := http.Header{}
	if err := webhook.SignHeaders(h, "call_1", c.at, []byte(c.body), []webhook.Key{c.secret}); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	// Sent as it is: the document has no word for a request that is accepted without a key.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = h
	return send(t, req)
}

// TestVendorReports: the vendor's signature is as good as the partner's key for the two reports, about the key and the
// action that were signed, for five minutes, and for nothing else.
func TestVendorReports(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		user := hashOf("avisos")
		key, other := s.eppKeyOf(t, s.Live, user), s.eppKeyOf(t, s.Other, user)
		secret(key, other)
		now := s.Clock.Now()
		report := func(key, action string) vendorCall {
			return vendorCall{
				"/v1/cyber/epp/" + key + "/" + action,
				`{"eppKey":"` + key + `","report":"` + map[string]string{"activate": "activated", "heartbeat": "running"}[action] + `"}`,
				vendorSecret,
				now,
			}
		}
		changed := func(change func(*vendorCall)) vendorCall {
			c := report(key, "activate")
			change(&c)
			return c
		}
		elsewhere := func(path string) vendorCall { return changed(func(c *vendorCall) { c.path = path }) }
		for name, c := range map[string]struct {
			call vendorCall
			more []string
			want int
		}{
			"another secret":          {changed(func(c *vendorCall) { c.secret = secretOf(8) }), nil, http.StatusForbidden},
			"too late":                {changed(func(c *vendorCall) { c.at = now.Add(-webhook.Tolerance - time.Second) }), nil, http.StatusForbidden},
			"another id":              {report(key, "activate"), []string{webhook.HeaderID, "call_2"}, http.StatusForbidden},
			"with a wrong key too":    {report(key, "activate"), []string{"x-api-key", "vg_wrong"}, http.StatusForbidden},
			"a large body":            {changed(func(c *vendorCall) { c.body += strings.Repeat(" ", maxVendorBody) }), nil, http.StatusForbidden},
			"signed for another key":  {elsewhere("/v1/cyber/epp/" + other + "/activate"), nil, http.StatusBadRequest},
			"signed for another act":  {elsewhere("/v1/cyber/epp/" + key + "/heartbeat"), nil, http.StatusBadRequest},
			"no body":                 {changed(func(c *vendorCall) { c.body = "" }), nil, http.StatusBadRequest},
			"an unknown key":          {report("AAAAA", "activate"), nil, http.StatusNotFound},
			"a route that takes none": {elsewhere("/v1/cyber/epp/" + key + "/revoke"), nil, http.StatusForbidden},
		} {
			if got := s.vendor(t, c.call, c.more...); got.status != c.want {
				t.Errorf("%s: %d %s %s", name, got.status, got.body, got.header.Get("x-error-detail"))
			}
		}
		if got := s.as(t, s.Live, http.MethodGet, "/v1/cyber/epp/"+key, ""); !strings.Contains(got.body, `"state":"issued"`) {
			t.Fatal("a refused report counted:", got.body)
		}
		for _, one := range []vendorCall{report(key, "activate"), report(key, "activate"), report(other, "heartbeat")} {
			if got := s.vendor(t, one); got.status != http.StatusOK || strings.Contains(got.body, key) {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		for _, who := range []struct {
			tenant
			key string
		}{{s.Live, key}, {s.Other, other}} {
			if got := s.as(t, who.tenant, http.MethodGet, "/v1/cyber/epp/"+who.key, ""); !strings.Contains(got.body, `"state":"active"`) {
				t.Error(got.body)
			}
			if got := s.as(t, who.tenant, http.MethodGet, "/v1/events", ""); strings.Count(got.body, `"epp.key_activated"`) != 1 {
				t.Error(got.body)
			}
		}
	})
}

// TestNoVendorWithoutASecret: an installation that set none takes no signature, not even one by an empty secret.
func TestNoVendorWithoutASecret(t *testing.T) {
	r := &request{
		http:  &http.Request{Header: http.Header{http.CanonicalHeaderKey(webhook.HeaderSignature): {"v1,x"}}},
		route: &route{vendor: true},
	}
	if !(&Server{Options: Options{VendorSecrets: []webhook.Secret{vendorSecret}}}).fromVendor(r) ||
		(&Server{}).fromVendor(r) {
		t.Error("who may sign does not follow from the secrets that were set")
	}
}
