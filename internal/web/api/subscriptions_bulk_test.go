package api

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// TestBrokenItemBreaksTheBody puts broken JSON anywhere in one item of many: nothing at all is created.
func TestBrokenItemBreaksTheBody(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.plan(t, s.Live, "p")
	good := itemOf(500, "")
	for name, broken := range map[string]string{
		"a name twice":                   itemOf(500, `"is_group_plan":false,`),
		"a name twice, once escaped":     itemOf(500, `"is_group_pl\u0061n":false,`),
		"an unknown name twice":          itemOf(500, `"x":1,"x":1,`),
		"a name twice, deep inside":      itemOf(500, `"x":[{"y":{"z":1,"z":2}}],`),
		"a name twice in the address":    strings.Replace(good, `"city":"S"`, `"city":"S","city":"S"`, 1),
		"a name twice in a wrong type":   strings.Replace(good, `"name":"Pessoa"`, `"name":{"a":1,"a":1}`, 1),
		"bad UTF-8 in a text":            strings.Replace(good, "Pessoa", "Pes\xffsoa", 1),
		"bad UTF-8 in an unknown member": itemOf(500, "\"x\":\"\xc3\","),
		"bad UTF-8 in a name":            itemOf(500, "\"\xed\xa0\x80\":1,"),
		"half a surrogate pair":          strings.Replace(good, "Pessoa", `\ud800`, 1),
		"the other half":                 itemOf(500, `"x":["\udc00"],`),
		"half a surrogate as a name":     itemOf(500, `"\ud83d":1,`),
		"an item that is a broken text":  `"\ud800"`,
		"an item that is a bad list":     `[{"a":1,"a":1}]`,
		"an item that is bad UTF-8":      "\"\xff\"",
	} {
		for _, place := range []int{0, 70, 199} {
			items := make([]string, 0, 200)
			for n := range 200 {
				if n == place {
					items = append(items, broken)
				} else {
					items = append(items, itemOf(n, ""))
				}
			}
			a := s.do(t, call{
				method:    http.MethodPost,
				path:      "/v1/subscriptions",
				body:      "[" + strings.Join(items, ",") + "]",
				unchecked: true,
				header:    http.Header{"x-api-key": {s.Live.APIKey}},
			})
			detail := a.header.Get("x-error-detail")
			if a.status != http.StatusBadRequest || !strings.HasPrefix(detail, fmt.Sprintf("body: item %d: ", place)) {
				t.Errorf("%s at %d: %d %q %.100s", name, place, a.status, detail, a.body)
			}
		}
	}
	if n := s.total(t, s.Live); n != 0 {
		t.Errorf("%d were created", n)
	}
	// The wrong type of anything stays its item's affair, and a broken item breaks a rehearsal too.
	odd := "[" + strings.Join([]string{`"\ud83d\ude00"`, "7", `{"beneficiary":[]}`, itemOf(1, "")}, ",") + "]"
	if status, text := s.post(
		t,
		s.server.URL,
		s.Live.APIKey,
		odd,
	); status != http.StatusOK ||
		bulkOf(t, text).Created != 1 {
		t.Error(status, text)
	}
}

// placesIn reads the header the way a partner would.
func placesIn(t testing.TB, header string) (places []int) {
	t.Helper()
	if bits, isBits := strings.CutPrefix(header, ":"); isBits {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(bits, ":"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(raw) * 8 {
			if raw[i/8]&(0x80>>(i%8)) != 0 {
				places = append(places, i)
			}
		}
		return places
	}
	for _, part := range strings.Split(header, ",") {
		from, to, run := strings.Cut(part, "-")
		if !run {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || last < first {
			t.Fatalf("%.100q", header)
		}
		for n := first; n <= last; n++ {
			places = append(places, n)
		}
	}
	return places
}

// TestNotCreatedIndex writes all kinds of failures: the header is right, short, and plain where it can be.
func TestNotCreatedIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(14, 6))
	pick := func(chance float64) (places []int) {
		for n := range subscription.MaxItems {
			if rnd.Float64() < chance {
				places = append(places, n)
			}
		}
		return places
	}
	all := pick(2)
	for name, c := range map[string]struct {
		places []int
		want   string // a form by its beginning
	}{
		"the first":        {[]int{0}, "0"},
		"a few":            {[]int{3, 17, 18, 19}, "3,17,18,19"},
		"all":              {all, "0-9999"},
		"all but one":      {slices.Delete(slices.Clone(all), 5000, 5001), "0-4999,5001-9999"},
		"one in a hundred": {pick(0.01), ""},
		"one in ten":       {pick(0.1), ""},
		"half":             {pick(0.5), ":"},
		"only the last":    {[]int{9999}, "9999"},
	} {
		header := notCreatedIndex(c.places)
		if len(header) > maxNotCreated || !strings.HasPrefix(header, c.want) {
			t.Errorf("%s: %d characters, %.60q", name, len(header), header)
		}
		if got := placesIn(t, header); !slices.Equal(got, c.places) {
			t.Errorf("%s: %v, want %v", name, got, c.places)
		}
	}
}

// TestFailuresNameTheirPlace holds header and body together, also in a replay and a rehearsal.
func TestFailuresNameTheirPlace(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		s.post(t, s.server.URL, s.Live.APIKey, itemsOf(0, 3))
		bad := func(n int) string { return strings.Replace(itemOf(n, ""), "a@exemplo.com.br", "nada", 1) }
		body := "[" + strings.Join([]string{
			itemOf(10, ""), bad(1), itemOf(11, ""), bad(10), bad(12), itemOf(12, ""), itemOf(2, ""),
			strings.Replace(itemOf(13, ""), fmt.Sprintf("%q", cpfOf(13)), cpfOf(13), 1),
		}, ",") + "]"
		send := func(query string, header ...string) answered {
			h := http.Header{"x-api-key": {s.Live.APIKey}}
			for i := 0; i < len(header); i += 2 {
				h.Set(header[i], header[i+1])
			}
			return s.do(
				t,
				call{
					method:    http.MethodPost,
					path:      "/v1/subscriptions" + query,
					body:      body,
					unchecked: true,
					header:    h,
				},
			)
		}
		rehearsed := send("?dry_run=true")
		first := send("", "idempotency-key", "places")
		again := send("", "idempotency-key", "places")
		if again.header.Get("idempotency-replayed") != "true" || first.body != rehearsed.body ||
			first.body != again.body {
			t.Errorf("%s\n%s\n%s", rehearsed.body, first.body, again.body)
		}
		for _, a := range []answered{rehearsed, first, again} {
			if got := a.header.Get(notCreatedHeader); got != "1,3,4,6,7" {
				t.Errorf("%q", got)
			}
		}
		const mail, exists = "beneficiary.email: e-mail inválido", "beneficiary.cpf: assinatura já existe"
		got := bulkOf(t, first.body)
		want := [][]string{{mail, exists}, {mail, exists}, {mail}, {exists}, {"beneficiary.cpf: deve ser um texto"}}
		if got.Created != 3 || len(got.Items) != len(want) {
			t.Fatal(first.body)
		}
		for i, item := range got.Items {
			if !slices.Equal(item.Errors, want[i]) {
				t.Errorf("failure %d: %q, want %q", i, item.Errors, want[i])
			}
		}
		if got.Items[4].CPF != cpfOf(13) { // a number is repeated as it was sent
			t.Error(got.Items[4].CPF)
		}
		if a := s.as(t, s.Live, http.MethodPost, "/v1/subscriptions", itemsOf(20, 21)); a.header.Values(notCreatedHeader) != nil {
			t.Error("a header though nothing failed")
		}
	})
}

// TestActiveIsByDate asks through the API, with no worker anywhere: list, total, single ones, cover and a second
// enrolment.
func TestActiveIsByDate(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		until := func(n int, date string) string {
			return strings.Replace(itemOf(n, ""), `"expiry_date":""`, fmt.Sprintf(`"expiry_date":%q`, date), 1)
		}
		body := "[" + strings.Join([]string{until(1, "2026-11-14"), until(2, "2026-11-15"), itemOf(3, ""), until(4, "2027-01-01")}, ",") + "]"
		if a := s.as(t, s.Live, http.MethodPost, "/v1/subscriptions", body); bulkOf(t, a.body).Created != 4 {
			t.Fatal(a.body)
		}
		list := func(want ...int) {
			t.Helper()
			text := s.as(t, s.Live, http.MethodGet, "/v1/subscriptions", "").body
			for n := 1; n <= 4; n++ {
				if strings.Contains(text, cpfOf(n)) != slices.Contains(want, n) {
					t.Errorf("person %d in %s", n, text)
				}
			}
			if !strings.Contains(text, fmt.Sprintf(`"total_items":%d,`, len(want))) {
				t.Error(text)
			}
		}
		list(2, 3, 4)                   // the first was over when it came
		s.Clock.Advance(15 * time.Hour) // midnight in São Paulo
		list(3, 4)
		again := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/subscriptions?dry_run=true",
			"["+itemOf(1, "")+","+itemOf(2, "")+","+itemOf(3, "")+"]",
		)
		if a := bulkOf(t, again.body); a.Created != 2 || again.header.Get(notCreatedHeader) != "2" {
			t.Error("only what is active is in the way:", again.body)
		}
		rules := subscription.NewRegistry(s.Store.Subscriptions, s.Store.Plans, s.Store.Partners, s.Clock.Now)
		if _, err := rules.MoveSubscriptions(
			t.Context(),
			s.Live.ID,
			subscription.Selection{Plan: "p", CPF: cpfOf(4)},
			subscription.End,
		); err != nil {
			t.Fatal(err)
		}
		list(3)
		for n, want := range map[int]string{1: "2026-11-14T00:00:00.000Z", 2: "2026-11-15T00:00:00.000Z", 3: "", 4: "2026-11-16T00:00:00.000Z"} {
			text := s.as(t, s.Live, http.MethodGet, "/v1/subscriptions/p/"+cpfOf(n), "").body
			if !strings.Contains(text, fmt.Sprintf(`"expiry_date":%q`, want)) {
				t.Errorf("person %d should end on %q: %s", n, want, text)
			}
		}
	})
}

// TestBulkItemTooLarge: an item above the documented megabyte is too large, by name, whatever its size and however the
// body arrives; one below it is an item like others.
func TestBulkItemTooLarge(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.plan(t, s.Live, "ouro")
	for size, want := range map[int]int{
		maxItemBody - 100: http.StatusOK,
		maxItemBody + 100: http.StatusRequestEntityTooLarge,
		1_500_000:         http.StatusRequestEntityTooLarge,
		2_097_100:         http.StatusRequestEntityTooLarge,
		2_500_000:         http.StatusRequestEntityTooLarge,
		9_000_000:         http.StatusRequestEntityTooLarge,
	} {
		for _, text := range []string{strings.Repeat("x", size), strings.Repeat(`\u0041`, size/6), strings.Repeat(`\\`, size/2)} {
			got := s.as(t, s.Live, http.MethodPost, "/v1/subscriptions", `[{},{"plan_id":"`+text+`"}]`)
			detail := got.header.Get(detailHeader)
			if got.status != want || want != http.StatusOK && !strings.HasPrefix(detail, "body: ") {
				t.Errorf("%d bytes of %q: %d %q", size, text[:6], got.status, detail)
			}
			if want != http.StatusOK && !strings.Contains(detail, "1048576") {
				t.Errorf("%d bytes of %q: %q", size, text[:6], detail)
			}
		}
	}
}
