package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
)

// item is a subscription that is right. Its members are set by path, such as beneficiary.address.city.
type item map[string]any

func newItem(n int) item {
	return item{
		"start_date": "2026-02-01", "expiry_date": "", "plan_id": "plano", "is_group_plan": false,
		"beneficiary": map[string]any{
			"primary_card": "4111111111111111", "user_card": "5555555555554444", "name": "Ana Conceição",
			"cpf": cpf(n), "birth_date": "1990-05-17", "gender": "F",
			"email": "ana@exemplo.com.br", "phone_number": "+5511987654321",
			"address": map[string]any{
				"zipcode": "01001000", "street": "Rua", "number": "1", "neighborhood": "Centro",
				"city": "São Paulo", "state": "SP",
			},
		},
	}
}

// absent takes a member away.
type absent struct{}

func (i item) set(path string, value any) item {
	at, names := map[string]any(i), strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		at, _ = at[name].(map[string]any)
	}
	last := names[len(names)-1]
	if at[last] = value; value == (absent{}) {
		delete(at, last)
	}
	return i
}

func bulk(items ...any) string {
	if items == nil {
		items = []any{}
	}
	b, err := json.Marshal(items)
	if err != nil {
		panic(err)
	}
	return string(b)
}

type bulkAnswer struct {
	Result     string           `json:"result"`
	Created    int              `json:"total_created_items"`
	NotCreated int              `json:"total_not_created_items"`
	Items      []map[string]any `json:"not_created_items"`
}

// outcome wants these totals, and as many entries as failures.
func outcome(result string, created, failed int) func(answer) error {
	return has(func(v bulkAnswer) error {
		if v.Items == nil {
			return fmt.Errorf("no list of what was not created")
		}
		want := v
		want.Result, want.Created, want.NotCreated = result, created, failed
		return errors.Join(same(v, want), same(len(v.Items), failed))
	})
}

// fails wants one failure whose errors are about exactly these fields, each as `field: regra`.
func fails(fields ...string) func(answer) error {
	return has(func(v bulkAnswer) error {
		if v.Result != "failure" || len(v.Items) != 1 {
			return fmt.Errorf("want one failure about %v", fields)
		}
		list, _ := v.Items[0]["errors"].([]any)
		found := map[string]bool{}
		for _, e := range list {
			field, rule, ok := strings.Cut(fmt.Sprint(e), ": ")
			if !ok || rule == "" {
				return fmt.Errorf("%q is not `field: regra`", e)
			}
			found[field] = true
		}
		for _, f := range fields {
			if !found[f] {
				return fmt.Errorf("no error about %s in %v", f, list)
			}
		}
		if len(found) != len(fields) {
			return fmt.Errorf("errors about other fields than %v: %v", fields, list)
		}
		return nil
	})
}

// rehearsed is a dry run by the live partner of one item, which is right when no field is named and else fails about
// those.
func (w *world) rehearsed(rule string, it any, wrong ...string) check {
	c := check{"12 POST subscriptions", rule, request{
		"POST", "/v1/subscriptions?dry_run=true", bulk(it), w.live.key,
		nil,
	}, expect{status: 200, holds: outcome("success", 1, 0)}}
	if len(wrong) > 0 {
		c.holds = fails(wrong...)
	}
	return c
}

var (
	itemTexts        = []string{"start_date", "plan_id"}
	beneficiaryTexts = []string{
		"primary_card", "user_card", "name", "cpf", "birth_date", "gender", "email",
		"phone_number",
	}
	addressTexts = []string{"zipcode", "street", "number", "neighborhood", "city", "state"}
)

// requiredTexts are the paths of all members that must be texts.
func requiredTexts() []string {
	list := append([]string{}, itemTexts...)
	for _, name := range beneficiaryTexts {
		list = append(list, "beneficiary."+name)
	}
	for _, name := range addressTexts {
		list = append(list, "beneficiary.address."+name)
	}
	return list
}

func bulkMemberRows(w *world) (rows []check) {
	wrong := map[string]any{
		"absent": absent{}, "null": nil, "a number": 5, "true": true, "an array": []any{"x"},
		"an object": map[string]any{"a": 1}, "empty": "", "blank": "   ",
	}
	for _, path := range requiredTexts() {
		for what, value := range wrong {
			rows = append(rows, w.rehearsed(path+" "+what, newItem(1).set(path, value), path))
		}
	}
	for what, value := range wrong {
		if what != "true" {
			rows = append(rows, w.rehearsed("is_group_plan "+what, newItem(1).set("is_group_plan", value),
				"is_group_plan"))
		}
		if what != "an object" {
			rows = append(rows, w.rehearsed("beneficiary "+what, newItem(1).set("beneficiary", value), "beneficiary"),
				w.rehearsed("address "+what, newItem(1).set("beneficiary.address", value), "beneficiary.address"))
		}
		notText := what == "a number" || what == "true" || what == "an array" || what == "an object"
		for _, path := range []string{
			"partner_metadata", "partner_internal_id", "beneficiary.address.complement",
			"benefit_holder",
		} {
			if notText {
				rows = append(rows, w.rehearsed(path+" "+what, newItem(1).set(path, value), path))
			} else {
				rows = append(rows, w.rehearsed(path+" "+what, newItem(1).set(path, value)))
			}
		}
		switch what {
		case "absent", "a number", "true", "an array", "an object":
			rows = append(rows, w.rehearsed("expiry_date "+what, newItem(1).set("expiry_date", value), "expiry_date"))
		default:
			rows = append(rows, w.rehearsed("expiry_date "+what, newItem(1).set("expiry_date", value)))
		}
	}
	for _, raw := range []any{1, "x", true, nil, []any{}} {
		rows = append(rows, w.rehearsed(fmt.Sprintf("an item that is %v", raw), raw, "item"))
	}
	return append(rows, w.rehearsed("an unknown member", newItem(1).set("x", 1).set("beneficiary.x",
		1).set("beneficiary.address.x", []any{1})))
}

func bulkTextRows(w *world) (rows []check) {
	limits := map[string]int{
		"beneficiary.primary_card": 32, "beneficiary.user_card": 32, "beneficiary.name": 255,
		"partner_internal_id": 255, "beneficiary.address.complement": 255,
	}
	for _, name := range []string{"street", "number", "neighborhood", "city"} {
		limits["beneficiary.address."+name] = 255
	}
	for path, limit := range limits {
		for _, letter := range []string{"x", "ç"} {
			rows = append(rows, w.rehearsed(path+" at its limit", newItem(1).set(path, strings.Repeat(letter, limit))),
				w.rehearsed(path+" one above", newItem(1).set(path, strings.Repeat(letter, limit+1)), path))
		}
		rows = append(rows, w.rehearsed(path+" is trimmed", newItem(1).set(path, "  "+strings.Repeat("x",
			limit)+" ")), w.rehearsed(path+" of one", newItem(1).set(path, "x")),
			w.rehearsed(path+" with NUL", newItem(1).set(path, "a\x00b"),
				path), w.rehearsed(path+" with a control character", newItem(1).set(path, "a\x1bb"), path))
	}
	for _, path := range []string{
		"start_date", "beneficiary.cpf", "beneficiary.birth_date", "beneficiary.gender",
		"beneficiary.email", "beneficiary.phone_number", "beneficiary.address.zipcode", "beneficiary.address.state",
		"plan_id",
	} {
		it := newItem(1)
		at, name := map[string]any(it), path
		for strings.Contains(name, ".") {
			var first string
			first, name, _ = strings.Cut(name, ".")
			at, _ = at[first].(map[string]any)
		}
		at[name] = " " + fmt.Sprint(at[name]) + " "
		rows = append(rows, w.rehearsed(path+" is trimmed", it))
	}
	for _, metadata := range []string{
		`{}`, `{"a":1}`, `[]`, `"x"`, `1`, `null`, `true`, ` {"a":"é"} `,
		`{"a":"` + strings.Repeat("x", 8192-8) + `"}`,
	} {
		rows = append(rows, w.rehearsed("metadata "+metadata[:min(len(metadata), 12)],
			newItem(1).set("partner_metadata", metadata)))
	}
	for _, metadata := range []string{
		`{`, `{a:1}`, `x`, `{"a":1}}`, `{"a":"` + strings.Repeat("x", 8193-8) + `"}`,
		`{"a":"` + strings.Repeat("ç", 4096) + `"}`, `'x'`,
	} {
		rows = append(rows, w.rehearsed("no metadata "+metadata[:min(len(metadata), 12)],
			newItem(1).set("partner_metadata", metadata), "partner_metadata"))
	}
	return rows
}

func bulkDateRows(w *world) (rows []check) {
	good := []string{
		"2026-02-01", "2024-02-29", "2000-02-29", "1999-12-31", "2026-02-01T00:00:00Z",
		"2026-02-01T23:59:59.999Z", "2026-02-01T10:00:00-03:00", "2026-02-01T10:00:00",
	}
	bad := []string{
		"2026-02-30", "2025-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32",
		"2026-1-1", "20260201", "01/02/2026", "01-02-2026", "2026/02/01", "2026-02", "2026",
		"hoje", "2026-02-01x", "2026-02-01T", "2026-02-01T25:00:00Z", "2026-02-01 10:00:00", "0000-01-01",
		"-2026-02-01", "２０２６-02-01", "2026-04-31", "1769904000",
	}
	for _, path := range []string{"start_date", "expiry_date", "beneficiary.birth_date"} {
		start := func() item { return newItem(1).set("start_date", "1990-01-01") }
		for _, date := range good {
			rows = append(rows, w.rehearsed(path+" "+date, start().set(path, date)))
		}
		for _, date := range bad {
			rows = append(rows, w.rehearsed(path+" "+date, start().set(path, date), path))
		}
	}
	day := func(days int) string { return time.Now().AddDate(0, 0, days).Format(time.DateOnly) }
	return append(rows,
		w.rehearsed("expiry on the day of the start", newItem(1).set("expiry_date", "2026-02-01")),
		w.rehearsed("expiry a day before the start", newItem(1).set("expiry_date", "2026-01-31"), "expiry_date"),
		w.rehearsed("a start in the future", newItem(1).set("start_date", day(400))),
		w.rehearsed("a birth the day after tomorrow", newItem(1).set("beneficiary.birth_date", day(2)),
			"beneficiary.birth_date"),
		w.rehearsed("a birth two days ago", newItem(1).set("beneficiary.birth_date", day(-2))))
}

func bulkPersonRows(w *world) (rows []check) {
	try := func(path, value string, ok bool) {
		if ok {
			rows = append(rows, w.rehearsed(path+" "+value, newItem(1).set(path, value)))
		} else {
			rows = append(rows, w.rehearsed(path+" "+value, newItem(1).set(path, value), path))
		}
	}
	for _, state := range strings.Fields("AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO") {
		try("beneficiary.address.state", state, true)
		try("beneficiary.address.state", strings.ToLower(state), false)
	}
	for _, state := range []string{"XX", "S", "SPX", "BR", "São Paulo", "00"} {
		try("beneficiary.address.state", state, false)
	}
	for value, ok := range map[string]bool{
		"M": true, "F": true, "m": false, "f": false, "X": false,
		"Masculino": false, "MF": false, "0": false,
	} {
		try("beneficiary.gender", value, ok)
	}
	for value, ok := range map[string]bool{
		"00000000": true, "99999999": true, "0100100": false, "010010000": false,
		"01001-000": false, "0100100a": false, "０１００１０００": false,
	} {
		try("beneficiary.address.zipcode", value, ok)
	}
	for n := 300; n < 340; n++ {
		try("beneficiary.cpf", cpf(n), true)
		try("beneficiary.cpf", badCPF(n), false)
	}
	for d := range 10 {
		try("beneficiary.cpf", strings.Repeat(fmt.Sprint(d), 11), false)
	}
	for _, bad := range []string{dotted(cpf(1)), cpf(1)[:10], cpf(1) + "1", cpf(1)[:10] + "x"} {
		try("beneficiary.cpf", bad, false)
	}
	for value, ok := range map[string]bool{
		"ana@exemplo.com.br": true, "A@B.CO": true, "ana+x@exemplo.com": true,
		"ana": false, "ana@": false, "@x.com": false, "a b@x.com": false, "ana@x": false, "a@b@c.com": false,
	} {
		try("beneficiary.email", value, ok)
	}
	for _, area := range areaCodes {
		try("beneficiary.phone_number", "+55"+area+"987654321", true)
		try("beneficiary.phone_number", "55"+area+"34567890", true)
		try("beneficiary.phone_number", "55"+area+"187654321", false)
	}
	for value, ok := range map[string]bool{
		"+12125552368": true, "351912345678": true, "+5500987654321": false,
		"5510987654321": false, "12": false, "abc": false, "+": false, "+55119876543210": false,
	} {
		try("beneficiary.phone_number", value, ok)
	}
	for value, ok := range map[string]bool{"plano": true, "nenhum": false, "PLANO": false, "plano2": false} {
		try("plan_id", value, ok)
	}
	return rows
}

func bulkGroupRows(w *world) (rows []check) {
	group := func() item {
		return newItem(1).set("is_group_plan", true).set("group_size", "50").set("benefit_holder", cnpj("112223330001"))
	}
	for _, size := range []any{"50", "51", "100", "99999", 50, 120, 1000000, "050", 50.0} {
		rows = append(rows, w.rehearsed(fmt.Sprintf("a group of %v", size), group().set("group_size", size)))
	}
	for _, size := range []any{
		"49", "0", "-50", "1", "", "50.5", "cinquenta", "5O", "+50", "0x50", 49, 0, -1, 50.5,
		true, nil,
		[]any{50},
		map[string]any{},
		absent{},
		"１００", "50 pessoas", "1e400", "5e1", "50.0",
	} {
		rows = append(rows, w.rehearsed(fmt.Sprintf("no group of %v", size), group().set("group_size", size),
			"group_size"))
	}
	for i := range 30 {
		letters := "ABCDEFGHJKLMNPQRSTUVWXYZ"
		base := fmt.Sprintf("%02d%c%c%c%03d01%c%c", i+10, letters[i%24], letters[(i*5)%24], letters[(i*7)%24],
			i*31%1000, letters[(i*11)%24], letters[(i*13)%24])
		right := cnpj(base)
		off := right[:13] + fmt.Sprint((int(right[13]-'0')+1)%10)
		rows = append(rows, w.rehearsed("a CNPJ "+right, group().set("benefit_holder", right)),
			w.rehearsed("check digits "+off, group().set("benefit_holder", off), "benefit_holder"))
		digits := cnpj(fmt.Sprintf("%08d0001", 10_000_019*(i+1)%100_000_000))
		rows = append(rows, w.rehearsed("a CNPJ "+digits, group().set("benefit_holder", digits)))
	}
	right := cnpj("112223330001")
	for _, holder := range []any{
		"",
		absent{},
		nil, 5, true,
		[]any{},
		right[:13], right + "1", "00000000000000",
		right[:12] + "AA", "11.222.333/0001-81", strings.ToLower(cnpj("12ABC34501DE")), right[:11] + "ç" + right[12:],
	} {
		rows = append(rows, w.rehearsed(fmt.Sprintf("no CNPJ %v", holder), group().set("benefit_holder", holder),
			"benefit_holder"))
	}
	return append(rows,
		w.rehearsed("both are missing", newItem(1).set("is_group_plan", true), "group_size", "benefit_holder"),
		w.rehearsed("they are not looked at without a group", newItem(1).set("group_size", "3").set("benefit_holder",
			"x")))
}

// bulkOutcomeRows create, in this order.
func bulkOutcomeRows(w *world) (rows []check) {
	post := func(rule, body string, holds func(answer) error, headers map[string]string) {
		rows = append(rows, check{"12 POST subscriptions", rule, request{
			"POST", "/v1/subscriptions", body,
			w.live.key, nil,
		}, expect{status: 200, holds: holds, headers: headers}})
	}
	post("an empty array", "[]",
		is(`{"result":"success","total_created_items":0,"total_not_created_items":0,"not_created_items":[]}`), nil)
	post("two created", bulk(newItem(1001), newItem(1002)),
		is(`{"result":"success","total_created_items":2,"total_not_created_items":0,"not_created_items":[]}`), nil)
	exists := func(v bulkAnswer) error {
		errs := fmt.Sprint(v.Items[0]["errors"])
		if v.Items[0]["cpf"] != cpf(1001) || v.Items[0]["plan_id"] != "plano" || !strings.Contains(errs,
			"assinatura já existe") {
			return fmt.Errorf("%v", v.Items)
		}
		return nil
	}
	post("already there", bulk(newItem(1001)), has(exists), map[string]string{"x-not-created-index": "0"})
	post("already there, beside another error", bulk(newItem(1001).set("beneficiary.gender", "X")),
		has(func(v bulkAnswer) error {
			if !strings.Contains(fmt.Sprint(v.Items[0]["errors"]), "beneficiary.gender: ") {
				return fmt.Errorf("%v", v.Items)
			}
			return exists(v)
		}), nil)
	post(
		"all errors of an item are listed",
		`[{"is_group_plan":true,"partner_metadata":5,"partner_internal_id":5,"beneficiary":{"address":{}}}]`,
		has(func(v bulkAnswer) error {
			if errs, _ := v.Items[0]["errors"].([]any); len(errs) < 21 || strings.Contains(fmt.Sprint(errs), "e mais") {
				return fmt.Errorf("%v", v.Items)
			}
			return nil
		}),
		nil,
	)
	post("twice in one request", bulk(newItem(1003), newItem(1003)), outcome("partial_success", 1, 1),
		map[string]string{"x-not-created-index": "1"})
	var many []any
	var order []string
	for n := range 40 {
		it := newItem(1100 + n)
		if n%3 == 1 {
			it.set("beneficiary.cpf", badCPF(1100+n))
			order = append(order, badCPF(1100+n))
		}
		many = append(many, it)
	}
	post("failures in the order of the request", bulk(many...), has(func(v bulkAnswer) error {
		if v.Result != "partial_success" || v.Created != 27 || len(v.Items) != len(order) {
			return fmt.Errorf("%s, %d, %d", v.Result, v.Created, len(v.Items))
		}
		for i, failed := range v.Items {
			if failed["cpf"] != order[i] {
				return fmt.Errorf("%d is %v, want %s", i, failed["cpf"], order[i])
			}
		}
		return nil
	}), map[string]string{"x-not-created-index": present})
	post("members of an entry", bulk(newItem(1).set("is_group_plan", true).set("group_size",
		"1").set("benefit_holder", "x").set("plan_id", "nenhum")), has(func(v bulkAnswer) error {
		failed := v.Items[0]
		want := maps.Clone(failed)
		want["cpf"], want["benefit_holder"], want["plan_id"] = cpf(1), "x", "nenhum"
		return errors.Join(same(failed, want), same(len(failed), 4))
	}), nil)
	number := json.Number(cpf(5))
	post("a CPF that is a number is echoed", bulk(newItem(1).set("beneficiary.cpf", number)),
		has(func(v bulkAnswer) error {
			if v.Items[0]["cpf"] != cpf(5) {
				return fmt.Errorf("%v", v.Items[0]["cpf"])
			}
			return nil
		}), nil)
	everything := newItem(1).set("start_date", "x").set("expiry_date", "x").set("plan_id",
		"nenhum").set("is_group_plan", true).set("group_size", "1").set("benefit_holder", "x").set("partner_metadata",
		"{")
	wrong := []string{"start_date", "expiry_date", "plan_id", "group_size", "benefit_holder", "partner_metadata"}
	for _, name := range beneficiaryTexts {
		everything.set("beneficiary."+name, "")
		wrong = append(wrong, "beneficiary."+name)
	}
	for _, name := range addressTexts {
		everything.set("beneficiary.address."+name, "")
		wrong = append(wrong, "beneficiary.address."+name)
	}
	rows = append(rows, w.rehearsed("all errors of an item", everything, wrong...))
	rows = append(rows, check{"12 POST subscriptions", "a rehearsal creates nothing", request{
		"POST",
		"/v1/subscriptions?dry_run=true", bulk(newItem(1050)), w.live.key, nil,
	}, expect{
		status: 200,
		holds:  outcome("success", 1, 0),
	}},
		check{"14 GET subscription", "nothing came of a rehearsal", request{
			"GET",
			"/v1/subscriptions/plano/" + cpf(1050), "", w.live.key, nil,
		}, expect{
			status:  404,
			message: "Assinatura não encontrada",
		}},
		check{"12 POST subscriptions", "a rehearsal knows what exists", request{
			"POST",
			"/v1/subscriptions?dry_run=true", bulk(newItem(1001)), w.live.key, nil,
		}, expect{
			status: 200,
			holds:  has(exists),
		}})
	ended := newItem(1060).set("start_date", "2020-01-01").set("expiry_date", "2020-12-31")
	post("created already over", bulk(ended), outcome("success", 1, 0), nil)
	post("over, so it may be created again", bulk(newItem(1060)), outcome("success", 1, 0), nil)
	return rows
}
