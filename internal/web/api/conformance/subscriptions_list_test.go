package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

type page struct {
	Data       []map[string]any
	Pagination struct {
		Page        int  `json:"page"`
		Size        int  `json:"page_size"`
		Items       int  `json:"total_items"`
		Pages       int  `json:"total_pages"`
		HasNext     bool `json:"has_next"`
		HasPrevious bool `json:"has_previous"`
	}
}

// listedPeople is how many the other partner has; nobody else adds to it.
const listedPeople = 23

func pageRows(w *world) (rows []check) {
	var all []any
	for n := range listedPeople {
		all = append(all, newItem(2000+n))
	}
	all = append(all, newItem(2100).set("start_date", "2020-01-01").set("expiry_date",
		"2020-12-31")) // over, never listed
	w.must(request{"POST", "/v1/subscriptions", bulk(all...), w.other.key, nil})
	expectPage := func(number, size int) func(answer) error {
		return has(func(p page) error {
			got := p.Pagination
			pages := (listedPeople + size - 1) / size
			from, to := min((number-1)*size, listedPeople), min(number*size, listedPeople)
			want := got
			want.Page, want.Size, want.Items, want.Pages = number, size, listedPeople, pages
			want.HasNext, want.HasPrevious = number < pages, number > 1
			if err := errors.Join(same(got, want), same(len(p.Data), to-from)); err != nil {
				return err
			}
			for i, s := range p.Data {
				b, _ := s["beneficiary"].(map[string]any)
				if b["name"] == "" || b["email"] == "" {
					return fmt.Errorf("item %d is %v", i, s)
				}
				want := maps.Clone(s)
				want["partner_id"], want["plan_id"] = w.other.id, "plano"
				want["start_date"], want["expiry_date"] = "2026-02-01T00:00:00.000Z", ""
				if err := errors.Join(same(s, want), same(b["cpf"], any(cpf(2000+from+i)))); err != nil {
					return fmt.Errorf("item %d %w", i, err)
				}
			}
			return nil
		})
	}
	get := func(query string, status int, holds func(answer) error) {
		rows = append(rows, check{"13 GET subscriptions", query, request{
			"GET",
			spellings("/subscriptions")[len(rows)%2] + query, "", w.other.key, nil,
		}, expect{status: status, holds: holds}})
	}
	get("", 200, expectPage(1, 10))
	for size := 1; size <= 25; size++ {
		for number := 1; number <= 4; number++ {
			get(fmt.Sprintf("?page=%d&page_size=%d", number, size), 200, expectPage(number, size))
		}
	}
	for _, number := range []int{1, 2, 3, 4, 1000, 1_000_000} {
		get(fmt.Sprint("?page=", number), 200, expectPage(number, 10))
	}
	get("?page=2147483647", 200, nil)
	for _, number := range []string{"2147483648", "9223372036854775807", "18446744073709551616"} {
		get("?page="+number, 400, nil)
	}
	for _, size := range []int{100, 101, 1000, 1_000_000} {
		get(fmt.Sprint("?page_size=", size), 200, expectPage(1, min(size, 100)))
	}
	for _, name := range []string{"page", "page_size"} {
		for _, bad := range []string{
			"0", "-1", "", "a", "1.5", "1e1", "+1", "%201", "1%20", "0x1", "null", "true",
			"١", "1,2", "NaN", "-0", "00",
		} {
			get("?"+name+"="+bad, 400, nil)
		}
		get("?"+name+"=1&"+name+"=2", 400, nil)
	}
	return rows
}

func singleRows(w *world) (rows []check) {
	get := func(rule, planID, number, key string, status int, holds func(answer) error) {
		message := ""
		if status == http.StatusNotFound {
			message = "Assinatura não encontrada"
		}
		rows = append(rows, check{"14 GET subscription", rule, request{
			"GET",
			spellings("/subscriptions/" + planID + "/" + number)[len(rows)%2], "", key, nil,
		}, expect{status: status, message: message, holds: holds}})
	}
	for n := range listedPeople {
		want, _ := json.Marshal(map[string]any{ // of plain values
			"start_date": "2026-02-01T00:00:00.000Z", "expiry_date": "", "plan_id": "plano",
			"beneficiary": newItem(2000 + n)["beneficiary"],
		})
		get("in full", "plano", cpf(2000+n), w.other.key, 200, is(string(want)))
		get("of another partner", "plano", cpf(2000+n), w.live.key, 404, nil)
	}
	get("over", "plano", cpf(2100), w.other.key, 200, has(func(v map[string]any) error {
		if v["expiry_date"] != "2020-12-31T00:00:00.000Z" {
			return fmt.Errorf("%v", v["expiry_date"])
		}
		return nil
	}))
	for _, number := range []string{
		cpf(1), dotted(cpf(2000)), cpf(2000)[:10], cpf(2000) + "0", "abc", "00000000000",
		"%20" + cpf(2000),
	} {
		get("no such CPF "+number, "plano", number, w.other.key, 404, nil)
	}
	for _, planID := range []string{
		"nenhum", "PLANO", "plano%20", "plano2", "%2Fplano", "pl%61no2",
		strings.Repeat("p", 255),
	} {
		get("no such plan "+planID, planID, cpf(2000), w.other.key, 404, nil)
	}
	get("a plan with an escape", "pl%61no", cpf(2000), w.other.key, 200, nil)
	return rows
}
