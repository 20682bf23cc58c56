package api

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// digestOf is the n-th made-up digest: of 256 bits where n is even, of 512 where it is odd.
func digestOf(n int) []byte {
	sum := sha512.Sum512(binary.BigEndian.AppendUint64([]byte("path test"), uint64(n)))
	if n%2 == 0 {
		return sum[:32]
	}
	return sum[:]
}

// spelled are the ways in which a digest may be written, decisions.md.
func spelled(digest []byte) []string {
	text := hex.EncodeToString(digest)
	return []string{
		text,
		strings.ToUpper(text),
		base64.StdEncoding.EncodeToString(digest),
		base64.RawStdEncoding.EncodeToString(digest),
		base64.URLEncoding.EncodeToString(digest),
		base64.RawURLEncoding.EncodeToString(digest),
	}
}

// encodingTables are the ways in which a text may be put into a path: only what must be is encoded, or all that is not
// a letter or digit, or every byte, with digits of either case.
var encodingTables = func() (tables [6][256]string) {
	for i, must := range []string{"/", "+/=-_.", ""} {
		for c := range 256 {
			plain := must != "" && strings.IndexByte(must, byte(c)) < 0
			for j, format := range []string{"%%%02X", "%%%02x"} {
				tables[2*i+j][c] = string(rune(c))
				if !plain {
					tables[2*i+j][c] = fmt.Sprintf(format, c)
				}
			}
		}
	}
	return tables
}()

func encodings(text string) (list [6]string) {
	room := make([]byte, 0, 3*len(text))
	for i := range list {
		room = room[:0]
		for j := range len(text) {
			room = append(room, encodingTables[i][text[j]]...)
		}
		list[i] = string(room)
	}
	return list
}

// personRoutes are operations 2, 3, 9, 10 and 11, with a mark where the person goes.
var personRoutes = []struct{ method, path string }{
	{http.MethodGet, "/cyber/monitoring/"},
	{http.MethodDelete, "/cyber/monitoring/as_none/"},
	{http.MethodGet, "/cyber/advise/"},
	{http.MethodGet, "/cyber/score/"},
	{http.MethodGet, "/cyber/insurance/"},
}

var walkedDigests = sized(2_000, 20_000)

// TestEveryDigestIsMatched walks 20,000 digests (2,000 in the usual run) in every spelling and encoding to the routes
// of the five operations that have a person in their path, and reads the person there.
func TestEveryDigestIsMatched(t *testing.T) {
	var routesOf table
	for i := range routes {
		routesOf.addRoute(&routes[i], observed{})
	}
	eachDigest(t, func(n int, digest []byte) error {
		for _, text := range spelled(digest) {
			for i, in := range encodings(text) {
				op := personRoutes[(n+i)%len(personRoutes)]
				target := prefixes[(n+i)%2] + op.path + in
				u, err := url.ParseRequestURI(target)
				if err != nil {
					return err
				}
				path := pathSegments(u)
				b := routesOf.findRoutes(path).routeOfMethod(op.method)
				if b == nil || b.values == 0 {
					return fmt.Errorf("%s %s: no route", op.method, target)
				}
				user, err := partner.ParseUserHash("userhash", path[len(path)-1])
				if err != nil || string(user) != text || !bytes.Equal(user.Canonical()[1:], digest) {
					return fmt.Errorf("%s %s: read %q: %w", op.method, target, user, err)
				}
			}
		}
		return nil
	})
}

// eachDigest runs fn for every digest on all processors.
func eachDigest(t *testing.T, fn func(n int, digest []byte) error) {
	t.Helper()
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for n := w; n < walkedDigests; n += workers {
				if err := fn(n, digestOf(n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestEveryDigestIsAnswered asks the whole service about the same people. Operation, spelling and encoding are taken in
// turn, so that every combination of them is met twenty to a hundred times; the test above has tried them all for each
// digest.
func TestEveryDigestIsAnswered(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Sandbox)
	server := newHandler(t, s.Env)
	eachDigest(t, func(n int, digest []byte) error {
		turn := n / 2 // the lengths alternate
		op, text := turn%5, spelled(digest)[turn/5%6]
		target := versionPrefix + personRoutes[op].path + encodings(text)[turn/30%6]
		req := httptest.NewRequest(personRoutes[op].method, target, nil)
		req.Header.Set("x-api-key", s.Sandbox.APIKey)
		got := httptest.NewRecorder()
		server.ServeHTTP(got, req)
		if err := judgePerson(op, text, got); err != nil {
			return fmt.Errorf("%s %s: %w", req.Method, target, err)
		}
		return nil
	})
}

// judgePerson tells whether the operation itself has answered about the person.
func judgePerson(i int, text string, got *httptest.ResponseRecorder) error {
	var advice []struct {
		UserID string `json:"userId"`
	}
	body, right := got.Body.String(), false
	switch i {
	case 0:
		right = got.Code == 200 && body == "[]"
	case 1:
		right = got.Code == 404 && strings.Contains(body, byCode["asset.not_found"])
	case 2:
		right = got.Code == 200 && json.Unmarshal(got.Body.Bytes(), &advice) == nil && len(advice) > 0 &&
			advice[0].UserID == text
	case 3:
		right = got.Code == 200 && strings.Contains(body, `"breachScore":0`)
	case 4:
		right = got.Code == 200 && strings.Contains(body, "detalhesCobertura")
	}
	if !right {
		return fmt.Errorf("%d %.200s", got.Code, body)
	}
	return nil
}

// TestOnePersonInEverySpelling: what is watched under one spelling is listed and removed under every other.
func TestOnePersonInEverySpelling(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Sandbox)
	// The first digests whose base64 begins with a slash, holds two in a row, or ends with one.
	for name, has := range map[string]func(string) bool{
		"begins":      func(b string) bool { return b[0] == '/' },
		"two slashes": func(b string) bool { return strings.Contains(b, "//") },
		"ends":        func(b string) bool { return strings.TrimRight(b, "=")[len(strings.TrimRight(b, "="))-1] == '/' },
	} {
		for size := range 2 {
			n := size
			for !has(base64.StdEncoding.EncodeToString(digestOf(n))) {
				if n += 2; n > walkedDigests {
					break // one digest length cannot end so
				}
			}
			digest := digestOf(n)
			for i, text := range spelled(digest) {
				value := fmt.Sprintf("%s.%d.%d@exemplo.com.br", strings.Fields(name)[0], size, i)
				body := fmt.Sprintf(`{"value":%q,"type":"email","userHash":%q}`, value, text)
				if got := s.as(t, s.Sandbox, http.MethodPost, "/cyber/monitoring", body); got.status != 200 {
					t.Fatalf("%s: %d %s", name, got.status, got.body)
				}
				for _, in := range encodings(spelled(digest)[(i+1)%6]) {
					var list []assetItem
					got := s.as(t, s.Sandbox, http.MethodGet, "/v1/cyber/monitoring/"+in, "")
					if err := json.Unmarshal(
						[]byte(got.body),
						&list,
					); err != nil || len(list) != 1 ||
						list[0].Value != value {
						t.Fatalf("%s: %d %s", in, got.status, got.body)
					}
				}
				var list []assetItem
				_ = json.Unmarshal(
					[]byte(s.as(t, s.Sandbox, http.MethodGet, "/cyber/monitoring/"+url.PathEscape(text), "").body),
					&list,
				)
				last := encodings(spelled(digest)[(i+2)%6])[i]
				if got := s.as(
					t,
					s.Sandbox,
					http.MethodDelete,
					"/cyber/monitoring/"+list[0].ID+"/"+last,
					"",
				); got.status != 200 {
					t.Errorf("DELETE %s: %d %s", last, got.status, got.body)
				}
			}
		}
	}
}

// TestDotsNeverEnter: a name that no path can carry is refused by every way in, so that nothing is made that cannot be
// asked for.
func TestDotsNeverEnter(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	for _, dots := range []string{".", "..", ""} {
		for _, rt := range routes {
			body := strings.Replace(sampleBody(rt), hashOf("amostra"), dots, 1)
			if rt.body == noBody || body == sampleBody(rt) {
				continue
			}
			got := s.as(t, s.Sandbox, rt.method, sample(rt), body)
			if rt.body == listBody { // each item has a verdict of its own
				if got.status != 200 || !strings.Contains(got.body, `"userHash: `) {
					t.Errorf("%s with userHash %q: %d %s", rt.path, dots, got.status, got.body)
				}
				continue
			}
			if got.status != 400 || !strings.HasPrefix(got.header.Get(detailHeader), "userHash: ") {
				t.Errorf("%s with userHash %q: %d %q", rt.path, dots, got.status, got.header.Get(detailHeader))
			}
		}
		item := strings.Replace(itemOf(1, ""), `"plan_id":"p"`, `"plan_id":"`+dots+`"`, 1)
		got := s.as(t, s.Sandbox, http.MethodPost, "/subscriptions", "["+item+"]")
		if !strings.Contains(got.body, `"total_created_items":0`) || !strings.Contains(got.body, `"plan_id: `) {
			t.Errorf("plan %q: %d %s", dots, got.status, got.body)
		}
		_, err := plan.NewCatalogue(s.Store.Plans, s.Clock.Now).CreatePlan(t.Context(), plan.Plan{
			ID: plan.ID(dots), Partner: s.Live.ID, Name: "Plano", Coverage: plan.DemoCoverage(),
		})
		if err == nil {
			t.Errorf("the operator registered plan %q", dots)
		}
		if dots == "" {
			continue
		}
		for _, in := range encodings(dots) {
			req := httptest.NewRequest(http.MethodGet, "/v1/cyber/score/"+in, nil)
			req.Header.Set("x-api-key", s.Live.APIKey)
			rec := httptest.NewRecorder()
			newHandler(t, s.Env).ServeHTTP(rec, req)
			if rec.Code != 400 {
				t.Errorf("%s in a path: %d %s", in, rec.Code, rec.Body)
			}
		}
	}
}

// TestNoPathIsRedirected: a redirect would repeat a person's CPF in a header.
func TestNoPathIsRedirected(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	server := newHandler(t, s.Env)
	for _, target := range []string{
		"//v1/cyber/services", "/v1//cyber/services", "/v1/./cyber/services", "/v1/cyber/../cyber/services", "/v1/cyber/services/", "/v1/cyber/",
		"/v1/cyber/score/", "/v1/cyber/score//", "/v1/cyber/score//a", "/v1/cyber/score/a/", "/v1/subscriptions/p//1", "/v1/subscriptions/p/", "/v1/../x", "//",
		"/v1/v1/cyber/services", "/docs/../v1/cyber/services", "/docs//x", "/cyber%2Fservices", "/v1%2Fcyber/services",
	} {
		req := httptest.NewRequest(http.MethodGet, target, nil)
		req.Header.Set("x-api-key", s.Live.APIKey)
		rec := httptest.NewRecorder()
		server.ServeHTTP(rec, req)
		if rec.Code != 404 || rec.Header().Get("location") != "" || rec.Header().Get("x-request-id") == "" {
			t.Errorf("%s: %d %v %s", target, rec.Code, rec.Header(), rec.Body)
		}
	}
	for _, target := range []string{"/v%31/cyber/services", "/v1/%63yber/services"} { // the same path, written otherwise
		req := httptest.NewRequest(http.MethodGet, target, nil)
		req.Header.Set("x-api-key", s.Live.APIKey)
		rec := httptest.NewRecorder()
		server.ServeHTTP(rec, req)
		if rec.Code != 200 {
			t.Errorf("%s: %d", target, rec.Code)
		}
	}
}

// TestTemplatesDoNotShadow: no path has two routes of one method, and a fixed segment wins over a value.
func TestTemplatesDoNotShadow(t *testing.T) {
	var all table
	for i := range routes {
		all.addRoute(&routes[i], observed{})
	}
	for _, b := range all {
		found := all.findRoutes(b.segments)
		if found.routeOfMethod(b.method) != b {
			t.Errorf("%s %s leads to another route", b.method, b.path)
		}
		if methods := strings.Split(found.listMethods(), ", "); len(slices.Compact(methods)) != len(strings.Split(found.listMethods(), ", ")) {
			t.Errorf("%s answers twice to one method: %v", b.path, methods)
		}
	}
	extra := []string{"cyber", "monitoring", "extra", "u1"}
	if got := all.findRoutes(extra).listMethods(); got != "GET, HEAD" {
		t.Errorf("%v answers to %s", extra, got)
	}
}
