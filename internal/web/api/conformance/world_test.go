package conformance_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/blake2b"

	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// noKey sends no key at all.
const noKey = "-"

// world is the service with partners whose rate no suite can use up.
type world struct {
	url                  string
	http                 *http.Transport
	sandbox, live, other party
	// keys of the sandbox partner that are narrower than its own
	cyberOnly, cyberRead, subscriptionsOnly, subscriptionsRead string
	// keys that open nothing
	revoked, expired, suspended string
	// number makes names that nobody used before
	number int
}

// party is a partner.
type party struct{ id, key, salt string }

func newWorld(t *testing.T) *world {
	t.Helper()
	s := apptest.Start(t)
	w := &world{url: s.URL, http: &http.Transport{DisableCompression: true}}
	t.Cleanup(w.http.CloseIdleConnections)
	ctx := t.Context()
	make := func(name string, mode partner.Mode) party {
		p, cred, err := storetest.Registry(s.App.Store.Partners, time.Now).CreatePartner(ctx, name, mode, partner.Settings{RatePerSecond: 100_000, Burst: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		if mode == partner.Live {
			if _, err := s.App.Plans.CreatePlan(ctx, plan.Plan{
				ID: "plano", Partner: p.ID, Name: "Plano",
				Coverage: plan.DemoCoverage(), MaxDevices: 2,
			}); err != nil {
				t.Fatal(err)
			}
		}
		return party{string(p.ID), cred.APIKey, cred.Salt}
	}
	w.sandbox, w.live, w.other = make("Areia", partner.Sandbox), make("Banco", partner.Live), make("Outro",
		partner.Live)
	gone := make("Suspenso", partner.Sandbox)
	if _, err := s.App.Partners.SuspendPartner(ctx, partner.ID(gone.id)); err != nil {
		t.Fatal(err)
	}
	w.suspended = gone.key
	key := func(scopes ...partner.Scope) (partner.KeyID, string) {
		k, written, err := s.App.Partners.CreateKey(ctx, partner.ID(w.sandbox.id), "", scopes, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return k.ID, written
	}
	_, w.cyberOnly = key(partner.ScopeCyber)
	_, w.cyberRead = key(partner.ScopeCyberRead)
	_, w.subscriptionsOnly = key(partner.ScopeSubscriptions)
	_, w.subscriptionsRead = key(partner.ScopeSubscriptionsRead)
	var id partner.KeyID
	id, w.expired = key(partner.ContractScopes()...)
	if _, _, err := s.App.Partners.RollKey(
		ctx,
		partner.ID(w.sandbox.id),
		id,
		0,
	); err != nil { // over from this moment on
		t.Fatal(err)
	}
	id, w.revoked = key(partner.ContractScopes()...)
	if _, err := s.App.Partners.RevokeKey(ctx, partner.ID(w.sandbox.id), id); err != nil {
		t.Fatal(err)
	}
	return w
}

// fresh is a name that nobody used before.
func (w *world) fresh() string {
	w.number++
	return fmt.Sprintf("pessoa-%d", w.number)
}

// must sends something that has to succeed for the rows that follow.
func (w *world) must(r request) answer {
	got, err := w.send(r)
	if err != nil || got.status != http.StatusOK {
		panic(fmt.Sprintf("%s %s: %v %d %s", r.method, r.path, err, got.status, got.body))
	}
	return got
}

// operation is one of the contract, with a request that is right.
type operation struct {
	name, method string
	// path is that of the request that is right; body too.
	path, body string
	// template is the path with its parameters' names.
	template  string
	reads     bool
	extension bool
}

func (o operation) subscriptions() bool { return strings.HasPrefix(o.path, "/subscriptions") }
func (o operation) events() bool        { return o.path == "/events" }

// refused is the status of a key that opens nothing here.
func (o operation) refused() int {
	if o.subscriptions() {
		return http.StatusUnauthorized
	}
	return http.StatusForbidden
}

// spellings are the two ways to write a path.
func spellings(path string) []string { return []string{"/v1" + path, path} }

// operations are the 14 and the extensions, each with a request that answers 200 to the sandbox partner, as often as it
// is sent. The credential check is not among them: it has a limit for each person.
func (w *world) operations() []operation {
	user := digest(512, cpf(1), w.sandbox.salt)
	return []operation{
		{name: "1 POST monitoring", method: "POST", path: "/cyber/monitoring", body: watch("email",
			"ana@exemplo.com.br", user)},
		{
			name:     "2 GET monitoring",
			method:   "GET",
			path:     "/cyber/monitoring/" + user,
			template: "/cyber/monitoring/{}",
			reads:    true,
		},
		{
			name: "3 DELETE monitoring", method: "DELETE", path: "/cyber/monitoring/nada/" + user,
			template: "/cyber/monitoring/nada/{}",
		},
		{
			name: "4 POST case", method: "POST", path: "/cyber/case",
			body: `{"serviceId":"` + w.service() + `","userHash":"` + user + `"}`,
		},
		{name: "5 GET services", method: "GET", path: "/cyber/services", reads: true},
		{name: "6 POST epp", method: "POST", path: "/cyber/epp", body: device("android", "Celular", user)},
		{name: "7 GET epp", method: "GET", path: "/cyber/epp", reads: true},
		{
			name: "8 POST password-check", method: "POST", path: "/cyber/password-check",
			body: `{"passwordHashPrefix":"5BAA61E4C9"}`, reads: true,
		},
		{name: "9 GET advise", method: "GET", path: "/cyber/advise/" + user, template: "/cyber/advise/{}", reads: true},
		{name: "10 GET score", method: "GET", path: "/cyber/score/" + user, template: "/cyber/score/{}", reads: true},
		{
			name: "11 GET insurance", method: "GET", path: "/cyber/insurance/" + user, template: "/cyber/insurance/{}",
			reads: true,
		},
		{name: "12 POST subscriptions", method: "POST", path: "/subscriptions", body: "[]"},
		{name: "13 GET subscriptions", method: "GET", path: "/subscriptions", reads: true},
		{name: "14 GET subscription", method: "GET", path: "/subscriptions/nenhum/" + cpf(1), reads: true},
		{name: "GET events", method: "GET", path: "/events", reads: true, extension: true},
		{name: "POST extra", method: "POST", path: "/cyber/monitoring/extra", body: watch("pix_key",
			"123e4567-e89b-42d3-a456-426614174000", user), extension: true},
		{
			name:      "GET extra",
			method:    "GET",
			path:      "/cyber/monitoring/extra/" + user,
			template:  "/cyber/monitoring/extra/{}",
			reads:     true,
			extension: true,
		},
		{
			name: "DELETE extra", method: "DELETE", path: "/cyber/monitoring/extra/nada/" + user,
			template: "/cyber/monitoring/extra/nada/{}", extension: true,
		},
		{
			name: "GET cover", method: "GET", path: "/cyber/cover/" + user, template: "/cyber/cover/{}",
			reads: true, extension: true,
		},
		{
			name: "GET score history", method: "GET", path: "/cyber/score/" + user + "/history",
			template: "/cyber/score/{}/history", reads: true, extension: true,
		},
		{
			name: "GET findings", method: "GET", path: "/cyber/findings/" + user, template: "/cyber/findings/{}",
			reads: true, extension: true,
		},
		{
			name: "POST resolve", method: "POST", path: "/cyber/findings/nada/resolve",
			body: `{"userHash":"` + user + `","reason":"other"}`, extension: true,
		},
		{
			name: "POST answers", method: "POST", path: "/cyber/advise/" + user + "/answers",
			template: "/cyber/advise/{}/answers",
			body:     `{"catalogId":"nada","value":"sim"}`, extension: true,
		},
	}
}

// right is what the operation's own request is answered with: the three that name something unknown are not found.
func (o operation) right() int {
	if strings.Contains(o.path+o.body, "nada") || strings.Contains(o.path, "/nenhum/") {
		return http.StatusNotFound
	}
	return http.StatusOK
}

func (w *world) posts() (list []operation) {
	for _, o := range w.operations() {
		if o.method == http.MethodPost {
			list = append(list, o)
		}
	}
	return list
}

// service is the first support service on offer.
func (w *world) service() string {
	var id string
	err := has(func(v struct {
		Services []struct {
			ID string `json:"_id"`
		}
	},
	) error {
		id = v.Services[0].ID
		return nil
	})(w.must(request{method: "GET", path: "/v1/cyber/services"}))
	if err != nil {
		panic(err)
	}
	return id
}

// cpf is the n-th made-up CPF; the digits are weighed as the tax office does.
func cpf(n int) string {
	s := fmt.Sprintf("%09d", 200_000_000+7*n)
	for range 2 {
		sum := 0
		for i := range len(s) {
			sum += int(s[i]-'0') * (len(s) + 1 - i)
		}
		s += fmt.Sprint((sum * 10 % 11) % 10)
	}
	return s
}

// badCPF is the n-th with its last digit one up.
func badCPF(n int) string {
	s := []byte(cpf(n))
	s[10] = '0' + (s[10]-'0'+1)%10
	return string(s)
}

func dotted(cpf string) string { return cpf[:3] + "." + cpf[3:6] + "." + cpf[6:9] + "-" + cpf[9:] }

// cnpj completes twelve characters.
func cnpj(base string) string {
	for range 2 {
		sum, weight := 0, 2
		for i := len(base) - 1; i >= 0; i-- {
			sum += int(base[i]-'0') * weight
			if weight++; weight > 9 {
				weight = 2
			}
		}
		if rest := sum % 11; rest < 2 {
			base += "0"
		} else {
			base += fmt.Sprint(11 - rest)
		}
	}
	return base
}

// card completes digits by Luhn's rule.
func card(digits string) string {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return digits + fmt.Sprint((10-sum%10)%10)
}

func sum(bits int, cpf, salt string) []byte {
	if bits == 256 {
		s := blake2b.Sum256([]byte(cpf + salt))
		return s[:]
	}
	s := blake2b.Sum512([]byte(cpf + salt))
	return s[:]
}

// digest is a user hash in hex.
func digest(bits int, cpf, salt string) string { return hex.EncodeToString(sum(bits, cpf, salt)) }

// digests are all spellings of one person's hash.
func digests(cpf, salt string) (list []string) {
	for _, bits := range []int{256, 512} {
		s := sum(bits, cpf, salt)
		list = append(
			list,
			hex.EncodeToString(s),
			strings.ToUpper(hex.EncodeToString(s)),
			base64.StdEncoding.EncodeToString(s),
			base64.RawStdEncoding.EncodeToString(s),
			base64.URLEncoding.EncodeToString(s),
			base64.RawURLEncoding.EncodeToString(s),
		)
	}
	return list
}

func watch(kind, value, user string) string {
	return `{"value":` + text(value) + `,"type":` + text(kind) + `,"userHash":` + text(user) + `}`
}

func device(system, name, user string) string {
	return `{"operatingSystem":` + text(system) + `,"type":"antivirus","deviceName":` + text(name) + `,"userHash":` + text(user) + `}`
}
