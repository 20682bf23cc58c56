package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/subscription"
)

// plan registers a plan for a partner.
func (s *service) plan(t testing.TB, who tenant, id string) {
	t.Helper()
	_, err := plan.NewCatalogue(s.Store.Plans, s.Clock.Now).CreatePlan(context.Background(), plan.Plan{
		ID: plan.ID(id), Partner: who.ID, Name: "Plano " + id, Coverage: plan.DemoCoverage(),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// cpfOf is the n-th made-up CPF, with right check digits.
func cpfOf(n int) string {
	s := fmt.Sprintf("%09d", 100_000_000+n)
	for range 2 {
		sum := 0
		for i := range len(s) {
			sum += int(s[i]-'0') * (len(s) + 1 - i)
		}
		if check := 11 - sum%11; check > 9 {
			s += "0"
		} else {
			s += fmt.Sprint(check)
		}
	}
	return s
}

// itemOf is an item without fault for the n-th person; more are further members.
func itemOf(n int, more string) string {
	return fmt.Sprintf(
		`{"start_date":"2026-02-01","expiry_date":"","plan_id":"p","is_group_plan":false,%s"beneficiary":{"primary_card":"4111111111111111",`+
			`"user_card":"5555555555554444","name":"Pessoa","cpf":%q,"birth_date":"1990-05-17","gender":"F","email":"a@exemplo.com.br",`+
			`"phone_number":"5511987654321","address":{"zipcode":"01001000","street":"R","number":"1","neighborhood":"C","city":"S","state":"SP"}}}`,
		more,
		cpfOf(n),
	)
}

func itemsOf(from, to int) string {
	list := make([]string, 0, to-from)
	for n := from; n < to; n++ {
		list = append(list, itemOf(n, ""))
	}
	return "[" + strings.Join(list, ",") + "]"
}

type bulkAnswer struct {
	Result     string `json:"result"`
	Created    int    `json:"total_created_items"`
	NotCreated int    `json:"total_not_created_items"`
	Items      []struct {
		CPF    string   `json:"cpf"`
		Errors []string `json:"errors"`
	} `json:"not_created_items"`
}

// post sends a bulk request without holding it against the contract, which is slow for large ones.
func (s *service) post(t testing.TB, url, key, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(
		context.Background(),
		http.MethodPost,
		url+"/v1/subscriptions",
		strings.NewReader(body),
	)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", key)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func bulkOf(t testing.TB, text string) (a bulkAnswer) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return a
}

func (s *service) total(t testing.TB, who tenant) int64 {
	t.Helper()
	page, err := s.Subscriptions.ActivePage(context.Background(), who.ID, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}

func TestBulkLimits(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.plan(t, s.Live, "p")
	deep := func(levels int) string {
		return "[" + itemOf(1, `"extra":`+strings.Repeat("[", levels)+strings.Repeat("]", levels)+",") + "]"
	}
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"10,001 items":        {"[" + strings.Repeat("1,", 10_000) + "1]", http.StatusRequestEntityTooLarge},
		"more than 32 MiB":    {"[" + strings.Repeat(" ", 32<<20) + "]", http.StatusRequestEntityTooLarge},
		"33 levels":           {deep(31), http.StatusBadRequest},
		"brackets in a text":  {"[" + itemOf(1, `"extra":"`+strings.Repeat(`[{\"`, 40)+`",`) + "]", http.StatusOK},
		"32 levels":           {deep(30), http.StatusOK},
		"broken after 9,000":  {strings.TrimSuffix(itemsOf(100, 9100), "]") + `,{"start_date":}]`, http.StatusBadRequest},
		"cut off":             {strings.TrimSuffix(itemsOf(100, 200), "]"), http.StatusBadRequest},
		"a byte order mark":   {"\uFEFF[]", http.StatusBadRequest},
		"empty":               {"", http.StatusBadRequest},
		"null":                {"null", http.StatusBadRequest},
		"10,000 odd items":    {"[" + strings.Repeat("1,", 9_999) + "1]", http.StatusOK},
		"text after the list": {"[] x", http.StatusBadRequest},
	} {
		before := s.total(t, s.Live)
		status, answer := s.post(t, s.server.URL, s.Live.APIKey, c.body)
		if status != c.want {
			t.Errorf("%s: %d %.200s, want %d", name, status, answer, c.want)
		}
		if status != http.StatusOK && s.total(t, s.Live) != before {
			t.Errorf("%s: refused, and yet something was created", name)
		}
	}
}

// TestBulkKeepsOrder mixes good, bad and repeated items over many parcels: the answer is in the order of the request.
func TestBulkKeepsOrder(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		var items, want []string
		for n := range 2000 {
			switch n % 5 {
			case 1: // repeats the one before
				items, want = append(items, itemOf(n-1, "")), append(want, cpfOf(n-1))
			case 3:
				bad := cpfOf(n)[:10] + "x"
				items, want = append(items, strings.Replace(itemOf(n, ""), cpfOf(n), bad, 1)), append(want, bad)
			default:
				items = append(items, itemOf(n, ""))
			}
		}
		status, text := s.post(t, s.server.URL, s.Live.APIKey, "["+strings.Join(items, ",")+"]")
		a := bulkOf(t, text)
		if status != http.StatusOK || len(a.Items) != 800 {
			t.Fatalf("%d, %d items: %.300s", status, len(a.Items), text)
		}
		answer := a
		answer.Result, answer.Created, answer.NotCreated = "partial_success", 1200, 800
		difftest.Must(t, "the answer", a, answer)
		for i, item := range a.Items {
			if item.CPF != want[i] {
				t.Fatalf("entry %d is about %s, want %s", i, item.CPF, want[i])
			}
		}
		for i, at := range []int64{0, 1, 600, 1199} {
			page, err := s.Subscriptions.ActivePage(context.Background(), s.Live.ID, at, 1)
			n := []int{0, 2, 1000, 1999}[i]
			if err != nil || len(page.Items) != 1 || page.Items[0].Beneficiary.CPF != cpfOf(n) {
				t.Errorf("place %d: %v %v", at, page.Items, err)
			}
		}
	})
}

// TestSameBulkAtOnce sends one bulk five times at once without a key: each person is created once, and the copies say
// so.
func TestSameBulkAtOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		body := itemsOf(0, 300)
		var wg sync.WaitGroup
		answers := make([]string, 5)
		for i := range answers {
			wg.Go(func() {
				status := http.StatusTooManyRequests // who waited too long for a turn, on a starved machine, comes again
				for try := 0; status == http.StatusTooManyRequests && try < 20; try++ {
					status, answers[i] = s.post(t, s.server.URL, s.Live.APIKey, body)
				}
			})
		}
		wg.Wait()
		created := 0
		for _, text := range answers {
			a := bulkOf(t, text)
			created += a.Created
			if a.Created+a.NotCreated != 300 {
				t.Errorf("%.200s", text)
			}
		}
		if created != 300 || s.total(t, s.Live) != 300 {
			t.Errorf("%d created by the answers, %d stored", created, s.total(t, s.Live))
		}
	})
}

// TestReplicasRaceForOneKey sends the same request with the same idempotency key to two replicas at once: one effect,
// one answer. A replica that meets the other still working says 409, and the partner comes again.
func TestReplicasRaceForOneKey(t *testing.T) {
	s := newService(t, sqldb.PostgreSQL)
	s.plan(t, s.Live, "p")
	_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).UpdatePartner(context.Background(), s.Live.ID,
		func(p *partner.Partner) { p.Settings.RatePerSecond = 1_000_000 })
	// the test's clock stands still, so no token comes back
	if err != nil {
		t.Fatal(err)
	}
	second := httptest.NewServer(newHandler(t, storetest.ReopenStore(t, s.Address, s.Folder, s.Keys.Root(), s.Clock)))
	t.Cleanup(second.Close)
	for round := range 10 {
		body := itemsOf(round*100, round*100+100)
		var wg sync.WaitGroup
		answers := make([]string, 6)
		for i := range answers {
			url := []string{s.server.URL, second.URL}[i%2]
			wg.Go(func() {
				for {
					status, text := s.post(t, url, s.Live.APIKey, body, "idempotency-key", fmt.Sprint("race-", round))
					if status == http.StatusConflict {
						time.Sleep(10 * time.Millisecond)
						continue
					}
					answers[i] = fmt.Sprint(status, " ", text)
					return
				}
			})
		}
		wg.Wait()
		for _, a := range answers {
			if a != answers[0] || !strings.HasPrefix(a, `200 {"result":"success","total_created_items":100,`) {
				t.Fatalf("round %d: %.200q", round, answers)
			}
		}
	}
	if n := s.total(t, s.Live); n != 1000 {
		t.Errorf("%d subscriptions, want 1000", n)
	}
}

// TestServerOwnedMembers sends members that only the server may set, at every level: they change nothing.
func TestServerOwnedMembers(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.plan(t, s.Live, "p")
	var owned bytes.Buffer
	for _, name := range []string{
		"id", "_id", "seq", "partner_id", "partnerId", "tenant", "status", "state_", "active", "ended_at", "endedAt", "suspended_at",
		"created_at", "createdAt", "updated_at", "deleted", "userHash", "user_hash", "salt", "holder", "body", "cover", "validUntil", "role", "is_admin",
	} {
		fmt.Fprintf(&owned, `%q:%q,`, name, string(s.Other.ID))
	}
	item := itemOf(1, owned.String())
	item = strings.Replace(item, `"beneficiary":{`, `"beneficiary":{`+owned.String(), 1)
	item = strings.Replace(item, `"address":{`, `"address":{`+owned.String(), 1)
	if status, text := s.post(
		t,
		s.server.URL,
		s.Live.APIKey,
		"["+item+"]",
	); status != http.StatusOK ||
		bulkOf(t, text).Created != 1 {
		t.Fatal(status, text)
	}
	s.post(t, s.server.URL, s.Live.APIKey, itemsOf(2, 3))
	plain := s.as(t, s.Live, http.MethodGet, "/v1/subscriptions/p/"+cpfOf(2), "").body
	loaded := s.as(t, s.Live, http.MethodGet, "/v1/subscriptions/p/"+cpfOf(1), "").body
	if strings.Replace(loaded, cpfOf(1), cpfOf(2), 1) != plain {
		t.Errorf("%s\nis not like\n%s", loaded, plain)
	}
	if s.total(t, s.Other) != 0 || s.total(t, s.Live) != 2 {
		t.Error("the other partner got something")
	}
}

func TestMaskedCards(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.plan(t, s.Live, "p")
	s.post(t, s.server.URL, s.Live.APIKey, itemsOf(1, 2))
	_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).UpdatePartner(context.Background(), s.Live.ID,
		func(p *partner.Partner) { p.Settings.MaskCards = true })
	if err != nil {
		t.Fatal(err)
	}
	got := s.as(t, s.Live, http.MethodGet, "/v1/subscriptions/p/"+cpfOf(1), "").body
	if !strings.Contains(got, `"primary_card":"****1111","user_card":"****4444"`) {
		t.Error(got)
	}
}

// TestItemSentences reads the rules from where they are declared: each needs words.
func TestItemSentences(t *testing.T) {
	found := 0
	for file, pattern := range map[string]string{
		"../../subscription/problem.go":  `Rule += "([a-z_0-9]+)"|Rule = "([a-z_0-9]+)"`,
		"../../identifier/identifier.go": ` = newRuleFault\("([a-z_]+)"`,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			rule := match[1] + match[len(match)-1]
			if len(match) == 2 {
				rule = "identifier." + match[1]
			}
			if rule == "identifier.kind" ||
				rule == "identifier.pix_key" { // no member of an item has a type of its own, or is such a key
				continue
			}
			found++
			if itemRules[subscription.Rule(rule)] == "" {
				t.Errorf("rule %s has no words", rule)
			}
		}
	}
	if found != len(itemRules) {
		t.Errorf("%d rules are declared, %d have words", found, len(itemRules))
	}
	for problem, text := range fieldRules {
		if text == "" || itemRules[problem.Rule] == "" {
			t.Errorf("%v has no words", problem)
		}
	}
}
