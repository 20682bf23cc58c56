package subscription_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/subscription"
)

const goodItem = `{"start_date":"2026-02-01","expiry_date":"","plan_id":"p","is_group_plan":true,"group_size":"50",
	"benefit_holder":"12ABC34501DE35",
	"beneficiary":{"primary_card":"1","user_card":"2","name":"Ana","cpf":"52998224725","birth_date":"1990-05-17","gender":"F",
	"email":"ana@exemplo.com.br",
	"phone_number":"+5511987654321",
	"address":{"zipcode":"01001000","street":"R","number":"1","neighborhood":"C","city":"S","state":"SP"}}}`

// problemsOf reads and checks an item.
func problemsOf(item string, digits identifier.CheckDigits) (string, subscription.Subscription) {
	var d subscription.Draft
	_ = subscription.NewItemReader().Read([]byte(item), &d) // noted in the draft
	s, problems := subscription.CheckItem(
		&d,
		digits,
		subscription.DayInBrazil(time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)),
	)
	var list []string
	for _, p := range problems {
		list = append(list, string(p.Field)+" "+string(p.Rule))
	}
	return strings.Join(list, "; "), s
}

func TestItemRules(t *testing.T) {
	p, s := problemsOf(goodItem, identifier.Required)
	difftest.Must(t, "the problems of a good item", p, "")
	want := s
	want.GroupSize, want.Holder, want.Expiry = 50, "12ABC34501DE35", 0
	difftest.Must(t, "a good item", s, want)
	for _, c := range []struct{ from, to, want string }{
		{`"expiry_date":""`, `"expiry_date":"2026-01-31"`, "expiry_date before_start"},
		{`"expiry_date":""`, `"expiry_date":"2026-02-01"`, ""},
		{`"expiry_date":""`, `"expiry_date":null`, ""},
		{`"expiry_date":"",`, ``, "expiry_date required"},
		{`"expiry_date":""`, `"expiry_date":1`, "expiry_date not_text"},
		{`"2026-02-01"`, `"2026-02-01T10:00:00.123-03:00"`, ""},
		{`"2026-02-01"`, `"2026-02-01T10:00:00"`, ""},
		{`"2026-02-01"`, `"2026-02-01 10:00"`, "start_date date"},
		{`"2026-02-01"`, `"2026-02-29"`, "start_date date"},
		{`"2026-02-01"`, `"2026-13-01"`, "start_date date"},
		{`"2026-02-01"`, `"0000-01-01"`, "start_date date"},
		{`"2026-02-01"`, `"２０26-02-01"`, "start_date date"},
		{`"group_size":"50"`, `"group_size":49.0`, "group_size group_minimum"},
		{`"group_size":"50"`, `"group_size":5e1`, ""},
		{`"group_size":"50"`, `"group_size":50.5`, "group_size whole_number"},
		{`"group_size":"50"`, `"group_size":"+60"`, "group_size whole_number"},
		{`"group_size":"50"`, `"group_size":"-60"`, "group_size group_minimum"},
		{`"group_size":"50"`, `"group_size":"cinquenta"`, "group_size whole_number"},
		{`"group_size":"50"`, `"group_size":"0050"`, ""},
		{`"group_size":"50",`, ``, "group_size required"},
		{`"group_size":"50"`, `"group_size":true`, "group_size not_text"},
		{`"is_group_plan":true`, `"is_group_plan":1`, "is_group_plan not_flag"},
		{`"12ABC34501DE35"`, `"00000000000191"`, ""},
		{`"12ABC34501DE35"`, `"12ABC34501DE45"`, "benefit_holder identifier.check_digits"},
		{`"12ABC34501DE35"`, `"12abc34501de35"`, "benefit_holder identifier.character"},
		{`"52998224725"`, `"529.982.247-25"`, "beneficiary.cpf identifier.character"},
		{`"52998224725"`, `"11111111111"`, "beneficiary.cpf identifier.repeated"},
		{`"52998224725"`, `" 52998224725 "`, ""},
		{`"1990-05-17"`, `"2026-11-15"`, ""},
		{`"1990-05-17"`, `"2026-11-16"`, "beneficiary.birth_date future"},
		{`"gender":"F"`, `"gender":"f"`, "beneficiary.gender gender"},
		{`"phone_number":"+5511987654321"`, `"phone_number":"51987654321"`, ""},
		{`"phone_number":"+5511987654321"`, `"phone_number":"+1415555"`, "beneficiary.phone_number identifier.number"},
		{`"phone_number":"+5511987654321"`, `"phone_number":"14155552671"`, ""},
		{`"zipcode":"01001000"`, `"zipcode":"01001-000"`, "beneficiary.address.zipcode identifier.character"},
		{`"state":"SP"`, `"state":"sp"`, "beneficiary.address.state identifier.state"},
		{`"name":"Ana"`, `"name":"` + strings.Repeat("á", 255) + `"`, ""},
		{`"name":"Ana"`, `"name":"` + strings.Repeat("á", 256) + `"`, "beneficiary.name length_255"},
		{`"user_card":"2"`, `"user_card":"` + strings.Repeat("1", 33) + `"`, "beneficiary.user_card length_32"},
		{`"plan_id":"p"`, `"plan_id":"p","partner_metadata":"{\"a\":1}"`, ""},
		{`"plan_id":"p"`, `"plan_id":"p","partner_metadata":"a"`, "partner_metadata json"},
		{`"plan_id":"p"`, `"plan_id":"p","partner_metadata":{}`, "partner_metadata not_text"},
		{`"plan_id":"p"`, `"plan_id":"p","partner_metadata":"\"` + strings.Repeat("a", 8191) + `\""`, "partner_metadata length_8k"},
		{`"plan_id":"p"`, `"plan_id":"p","extra":[[{"a":[]}]],"partner_id":"x","seq":9`, ""},
		{`"plan_id":"p"`, `"plan_id":"p\u0000"`, "plan_id printable"},
		{`"name":"Ana"`, `"name":"An\u0000a"`, "beneficiary.name printable"},
		{`"name":"Ana"`, `"name":"Ana\nB"`, "beneficiary.name printable"},
		{`"name":"Ana"`, `"name":"\tAna\u00a0d'\u00c1vila\n"`, ""},
		{`"user_card":"2"`, `"user_card":"2\u0007"`, "beneficiary.user_card printable"},
		{`"primary_card":"1"`, `"primary_card":"1\u007f"`, "beneficiary.primary_card printable"},
		{`"street":"R"`, `"street":"R\u001b[1m"`, "beneficiary.address.street printable"},
		{`"number":"1"`, `"number":"1\u0001"`, "beneficiary.address.number printable"},
		{`"street":"R"`, `"street":"R","complement":"a\r\nb"`, "beneficiary.address.complement printable"},
		{`"neighborhood":"C"`, `"neighborhood":"C\u0085C"`, "beneficiary.address.neighborhood printable"},
		{`"city":"S"`, `"city":"S\u0000"`, "beneficiary.address.city printable"},
		{`"plan_id":"p"`, `"plan_id":"p","partner_internal_id":"a\u0000"`, "partner_internal_id printable"},
		{`"plan_id":"p"`, `"plan_id":"p","partner_metadata":"{\n\"a\": 1\n}"`, ""},
		{`"plan_id":"p"`, `"\u0070lan_id":"p"`, ""}, // an escaped name is the same name
		{`"plan_id":"p"`, `"plan_id":"p","plan_id":"q"`, "item repeated_member"},
		{`"city":"S"`, `"city":"S","city":"S"`, "item repeated_member"},
		{`"city":"S"`, "\"city\":\"\xff\"", "item unreadable"},
		{`"plan_id":"p"`, `"Plan_Id":"p"`, "plan_id required"},
	} {
		item := strings.Replace(goodItem, c.from, c.to, 1)
		if item == goodItem {
			t.Fatal("nothing replaced:", c.from)
		}
		if got, _ := problemsOf(item, identifier.Required); got != c.want {
			t.Errorf("%s -> %.80s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

func TestSandboxWaivesCheckDigitsOnly(t *testing.T) {
	item := strings.NewReplacer("52998224725", "52998224724", "12ABC34501DE35", "12ABC34501DE45").Replace(goodItem)
	if got, _ := problemsOf(item, identifier.Waived); got != "" {
		t.Error(got)
	}
	item = strings.Replace(item, `"zipcode":"01001000"`, `"zipcode":"0100100"`, 1)
	if got, _ := problemsOf(item, identifier.Waived); got != "beneficiary.address.zipcode identifier.length" {
		t.Error(got)
	}
}

// TestDays holds the day arithmetic against the calendar of the standard library.
func TestDays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		moment := time.Unix(rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(r, "s"), 0).UTC()
		text := moment.Format(time.DateOnly)
		day, ok := subscription.ParseDay(text)
		if !ok || day.String() != text || !day.Time().Equal(moment.Truncate(24*time.Hour)) {
			r.Fatal(text, day, ok)
		}
	})
	if d, _ := subscription.ParseDay("0001-01-01"); d != 1 {
		t.Error("the first day is day", int64(d))
	}
	// 02:59:59 UTC is still the day before in São Paulo; in the summer time of 2018 only until 01:59:59.
	for text, want := range map[string]string{
		"2026-11-15T02:59:59Z": "2026-11-14", "2026-11-15T03:00:00Z": "2026-11-15",
		"2018-12-15T01:59:59Z": "2018-12-14", "2018-12-15T02:00:00Z": "2018-12-15",
	} {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := subscription.DayInBrazil(moment).String(); got != want {
			t.Errorf("%s is %s in São Paulo, want %s", text, got, want)
		}
	}
}

func FuzzDraft(f *testing.F) {
	f.Add([]byte(goodItem))
	f.Add([]byte(`{"beneficiary":{"address":[]}}`))
	f.Add([]byte(`{"a":{"a":`))
	f.Fuzz(func(t *testing.T, item []byte) {
		var d, again subscription.Draft
		r := subscription.NewItemReader()
		_ = r.Read(item, &d)
		_ = r.Read(item, &again) // a reader keeps nothing of the item before
		if d != again {
			t.Fatal("two readings differ")
		}
		s, problems := subscription.CheckItem(&d, identifier.Required, 1)
		if len(problems) == 0 && (s.Plan == "" || len(s.Beneficiary.CPF) != 11 || s.Start == 0) {
			t.Fatal("an incomplete subscription passed")
		}
	})
}
