package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

const (
	added   = `{"status":200,"description":"Dados adicionados com sucesso."}`
	removed = `{"status":200,"description":"Dados removidos com sucesso."}`
)

// wrongTypes are what a text must not be; absent leaves the member out.
var wrongTypes = map[string]string{
	"absent": "", "null": "null", "a number": "5", "zero": "0", "true": "true", "false": "false", "an array": `["x"]`,
	"an object": `{"a":"x"}`, "empty": `""`,
}

// with is an object with one member replaced by raw JSON, or left out when that is empty.
func with(object, name, raw string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		panic(err)
	}
	if members[name] = json.RawMessage(raw); raw == "" {
		delete(members, name)
	}
	out, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func cyberMemberRows(w *world) (rows []check) {
	for _, o := range w.posts() {
		if o.subscriptions() {
			continue
		}
		var members map[string]any
		if err := json.Unmarshal([]byte(o.body), &members); err != nil {
			panic(err)
		}
		for name := range members {
			for what, raw := range wrongTypes {
				rows = append(rows, check{o.name, name + " " + what, request{
					method: "POST", path: "/v1" + o.path,
					body: with(o.body, name, raw),
				}, expect{status: 400}})
			}
		}
	}
	add := func(path, body, name string, bad ...string) {
		for _, value := range bad {
			rows = append(rows, check{"POST " + path, fmt.Sprintf("%s %q", name, value), request{
				method: "POST",
				path:   path, body: with(body, name, text(value)),
			}, expect{status: 400}})
		}
	}
	user := w.fresh()
	add("/v1/cyber/monitoring", watch("email", "a@exemplo.com.br", user), "type", "domain", "EMAIL", "Email",
		"e-mail", "card", "telefone", "cnpj", " email", "email ")
	add("/v1/cyber/epp", device("ios", "x", user), "operatingSystem", "linux", "Android", "IOS", "mac", "windows 11",
		" ios")
	add("/v1/cyber/epp", device("ios", "x", user), "type", "Antivirus", "vpn", "antivírus", "antivirus ")
	add("/v1/cyber/findings/nada/resolve", `{"userHash":"a"}`, "reason", "retracted", "OTHER", "fixed", "other ")
	return rows
}

type asset struct{ ID, Type, Value, Status string }

// personRows: all spellings of a digest are one person, values come back as sent and in order, and a removed one is
// gone.
func personRows(w *world) (rows []check) {
	number := cpf(900)
	all := digests(number, w.sandbox.salt)
	sent := []struct{ kind, value string }{{"email", "Ana.Souza@Exemplo.com.br"}, {"cpf", dotted(number)}, {
		"phone",
		"(11) 98765-4321",
	}, {"credit_card", "4539 5787 6362 1486"}}
	for i, s := range sent {
		for round := range 2 { // what is there is not added again, under whatever spelling
			rows = append(rows, check{
				"1 POST monitoring", fmt.Sprint("adding ", s.kind, round),
				request{method: "POST", path: "/v1/cyber/monitoring", body: watch(s.kind, s.value,
					all[(i+5*round)%len(all)])},
				expect{status: 200, holds: is(added)},
			})
		}
	}
	rows = append(rows, check{"1 POST monitoring", "compared without case", request{
		method: "POST",
		path:   "/v1/cyber/monitoring", body: watch("email", "ANA.SOUZA@exemplo.com.br",
			all[0]),
	}, expect{status: 200, holds: is(added)}})
	for i, user := range all {
		path := spellings("/cyber/monitoring/" + url.PathEscape(user))[i%2]
		rows = append(rows, check{
			"2 GET monitoring", "spelling " + user[:12],
			request{method: "GET", path: path},
			expect{status: 200, holds: has(func(list []asset) error {
				if len(list) != len(sent) {
					return fmt.Errorf("%d assets, want %d", len(list), len(sent))
				}
				for i, a := range list {
					if a.ID == "" {
						return fmt.Errorf("asset %d has no identifier", i)
					}
					if err := same(a, asset{a.ID, sent[i].kind, sent[i].value, "monitorado"}); err != nil {
						return fmt.Errorf("asset %d %w", i, err)
					}
				}
				return nil
			})},
		})
		for _, about := range []string{"advise", "score", "insurance", "findings"} {
			rows = append(rows, check{"GET " + about, "spelling " + user[:12], request{
				method: "GET",
				path:   "/v1/cyber/" + about + "/" + url.PathEscape(user),
			}, expect{status: 200}})
		}
	}
	alike := []string{
		strings.ToUpper(number), number, digest(512, number, "outro sal"), all[0] + "0", all[0][1:],
		strings.Repeat("a", 64),
	}
	for _, user := range alike {
		rows = append(rows, check{"2 GET monitoring", "another person", request{
			method: "GET",
			path:   "/v1/cyber/monitoring/" + url.PathEscape(user),
		}, expect{status: 200, holds: is(`[]`)}})
	}
	return rows
}

var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

func caseRows(w *world) (rows []check) {
	service := w.service()
	body := `{"serviceId":"` + service + `","userHash":"` + w.fresh() + `"}`
	opened := has(func(v struct {
		Msg  string
		Task map[string]string
	},
	) error {
		if v.Task["id"] == "" || !dateTime.MatchString(v.Task["creationDate"]) {
			return fmt.Errorf("%v", v)
		}
		want := v
		want.Msg, want.Task = "Caso criado com sucesso.", map[string]string{
			"id": v.Task["id"], "status": "Aberto", "serviceId": service, "creationDate": v.Task["creationDate"],
		}
		return same(v, want)
	})
	add := func(rule, body string, status int) {
		c := check{"4 POST case", rule, request{
			method: "POST", path: spellings("/cyber/case")[len(rows)%2],
			body: body,
		}, expect{status: status}}
		if status == http.StatusOK {
			c.holds = opened
		}
		if status == http.StatusNotFound {
			c.message = "Serviço não encontrado."
		}
		rows = append(rows, c)
	}
	add("without options", body, 200)
	for _, id := range []string{"nenhum", "x", strings.Repeat("s", 256), service + "x", "../" + service} {
		add("an unknown service", with(body, "serviceId", text(id)), 404)
	}
	for _, id := range []string{strings.Repeat("s", 257), "a\x00b", "\u200b"} {
		add("no service's name", with(body, "serviceId", text(id)), 400)
	}
	for _, at := range []string{
		"2027-02-03T14:00:00.000Z", "2027-02-03T14:00:00Z", "2027-02-03T14:00:00-03:00", "2027-02-03T14:00:00+00:00",
		"2027-02-03T14:00:00.123456Z", "2027-02-03T14:00Z", "2027-02-03T14:00", "20270203T140000Z",
		"2028-02-29T10:00:00Z", "2027-12-31T23:59:59.999Z",
	} {
		add("an appointment "+at, with(body, "appointments", `[{"appointment":`+text(at)+`}]`), 200)
	}
	for _, at := range []string{
		`"2027-02-03"`, `"03/02/2027 14:00"`, `"14:00"`, `"amanhã"`, `""`, `"2027-02-30T14:00:00Z"`, `"2027-13-01T14:00:00Z"`, `"2027-02-03T25:00:00Z"`, `"2027-02-03T14:60:00Z"`, `"2027-02-03 14:00:00"`,
		`1801663200`, `true`, `null`, `{}`, `[]`, `"2027-02-03T14:00:00Z "`, `"2027-02-29T10:00:00Z"`,
	} {
		add("no appointment "+at, with(body, "appointments", `[{"appointment":`+at+`}]`), 400)
	}
	for _, name := range []string{"appointments", "questions"} {
		for _, raw := range []string{
			`[]`, `[{}]`, `[{"x":1}]`, `[{"a":{"b":[1]}},{}]`,
			`[` + strings.TrimSuffix(strings.Repeat("{},", 100), ",") + `]`,
		} {
			add(name+" "+raw[:min(len(raw), 12)], with(body, name, raw), 200)
		}
		for _, raw := range []string{`"x"`, `1`, `true`, `{}`, `[1]`, `["x"]`, `[null]`, `[[]]`, `[{},1]`} {
			add(name+" "+raw, with(body, name, raw), 400)
		}
	}
	add("a triage answer", with(body, "questions",
		`[{"question":"Qual?","answer":"Sim"},{"questionId":"q1","value":5},{"id":1,"answer":true}]`), 200)
	return append(rows, check{
		"5 GET services", "members",
		request{method: "GET", path: "/cyber/services"},
		expect{status: 200, holds: has(func(v map[string][]map[string]string) error {
			if len(v) != 1 || len(v["services"]) == 0 {
				return fmt.Errorf("%v", v)
			}
			for _, s := range v["services"] {
				if len(s) != 3 || s["_id"] == "" || s["name"] == "" {
					return fmt.Errorf("%v", s)
				}
			}
			return nil
		})},
	})
}

func deviceRows(w *world) (rows []check) {
	post := func(rule, system, name, user string, status int, holds func(answer) error) {
		rows = append(rows, check{"6 POST epp", rule, request{
			method: "POST",
			path:   spellings("/cyber/epp")[len(rows)%2], body: device(system, name,
				user),
		}, expect{status: status, holds: holds}})
	}
	keys := map[string]string{} // system and name -> key, filled as the rows run
	issued := func(name string) func(answer) error {
		return has(func(v map[string]string) error {
			if len(v) != 2 || !regexp.MustCompile(`^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$`).MatchString(v["eppKey"]) ||
				!dateTime.MatchString(v["validUntil"]) {
				return fmt.Errorf("%v", v)
			}
			if before := keys[name]; before != "" && before != v["eppKey"] {
				return fmt.Errorf("another key than %s", before)
			}
			keys[name] = v["eppKey"]
			return nil
		})
	}
	user := digests(cpf(910), w.sandbox.salt)
	w.must(request{
		method: "POST", path: "/v1/subscriptions",
		body: bulk(newItem(910)),
	}) // from then on both digests are one person
	systems := []string{"android", "ios", "windows", "macos"}
	for round := range 2 {
		for i, system := range systems {
			post("the same device has one key", system, "Aparelho", user[(i+3*round)%len(user)], 200, issued(system))
		}
	}
	post("another name, another key", "ios", "Outro aparelho", user[0], 200, issued("outro"))
	for _, name := range []string{
		"a", strings.Repeat("x", 100), strings.Repeat("ç", 100), "Celular da Ana", "😀",
		"a/b", " com espaços ",
	} {
		post("a name", "ios", name, w.fresh(), 200, issued(w.fresh()))
	}
	for _, name := range []string{
		"", " ", strings.Repeat("x", 101), strings.Repeat("ç", 101), "a\x00", "a\nb", "\t",
		"fim\r\n", "\u202e", "\x7f",
	} {
		post(fmt.Sprintf("no name %.20q", name), "ios", name, w.fresh(), 400, nil)
	}
	listed := has(func(v map[string][]map[string]string) error {
		if len(v["protectedDevices"]) != 5 {
			return fmt.Errorf("%d devices, want 5", len(v["protectedDevices"]))
		}
		for _, d := range v["protectedDevices"] {
			if len(d) != 4 || d["operatingSystem"] == "" || d["deviceName"] == "" || d["eppKey"] == "" ||
				!dateTime.MatchString(d["validUntil"]) {
				return fmt.Errorf("%v", d)
			}
		}
		if v["protectedDevices"][0]["eppKey"] != keys["outro"] {
			return fmt.Errorf("not the newest first")
		}
		return nil
	})
	get := func(rule, query string, header http.Header, status int, holds func(answer) error) {
		rows = append(rows, check{"7 GET epp", rule, request{
			method: "GET", path: "/v1/cyber/epp" + query,
			header: header,
		}, expect{status: status, holds: holds}})
	}
	for _, u := range user {
		get("by header", "", http.Header{"x-user-hash": {u}}, 200, listed)
		get("by query", "?userHash="+url.QueryEscape(u), nil, 200, listed)
		get("by both", "?userHash="+url.QueryEscape(u), http.Header{"x-user-hash": {user[0]}}, 200, listed)
	}
	for _, u := range user {
		if strings.Contains(u, "+") {
			get("a raw + of base64", "?userHash="+u, nil, 200, listed)
		}
	}
	empty := is(`{"protectedDevices":[]}`)
	get("an unknown person", "?userHash=ninguem", nil, 200, empty)
	get("two people", "?userHash=ninguem", http.Header{"x-user-hash": {user[0]}}, 400, nil)
	get("two people in the query", "?userHash=ninguem&userHash=outro", nil, 400, nil)
	get("an empty name", "?userHash=", nil, 400, nil)
	get("an empty header", "", http.Header{"x-user-hash": {""}}, 400, nil)
	get("a name too long", "?userHash="+strings.Repeat("x", 257), nil, 400, nil)
	return rows
}

func passwordRows(w *world) (rows []check) {
	add := func(rule, raw string, status int, holds func(answer) error) {
		rows = append(rows, check{
			"8 POST password-check", rule,
			request{
				method: "POST",
				path:   spellings("/cyber/password-check")[len(rows)%2], body: `{"passwordHashPrefix":` + raw + `}`,
			},
			expect{status: status, holds: holds, headers: map[string]string{"cache-control": "no-store"}},
		})
	}
	exposed := func(want bool) func(answer) error {
		return has(func(v struct {
			Exposed         *bool
			Recommendations []string
		},
		) error {
			if v.Exposed == nil || *v.Exposed != want || len(v.Recommendations) == 0 {
				return fmt.Errorf("want exposed %v, with recommendations", want)
			}
			return nil
		})
	}
	for _, known := range []string{
		"5BAA61E4C9", "8846F7EAEE",
		"7C4A8D09CA",
	} { // SHA-1 and NTLM of "password", SHA-1 of "123456"
		mixed := strings.ToLower(known[:5]) + known[5:]
		for _, spelling := range []string{known, strings.ToLower(known), mixed} {
			add("a known password "+spelling, text(spelling), 200, exposed(true))
		}
	}
	for _, unknown := range []string{"0123456789", "ffffffffff", "abcdef0123"} {
		add("an unknown password "+unknown, text(unknown), 200, exposed(false))
	}
	for length := range 41 {
		if length != 10 {
			add(fmt.Sprint(length, " characters"), text(strings.Repeat("a", length)), 400, nil)
		}
	}
	for at := range 10 {
		for _, odd := range []string{"g", " ", "é", "-", "\n"} {
			add(fmt.Sprintf("%q at %d", odd, at), text("5BAA61E4C9"[:at]+odd+"5BAA61E4C9"[at+1:]), 400, nil)
		}
	}
	return append(rows, check{"8 POST password-check", "no corpus for a live partner", request{
		"POST",
		"/v1/cyber/password-check", `{"passwordHashPrefix":"5BAA61E4C9"}`, w.live.key, nil,
	}, expect{status: 503}})
}

func peopleRows(w *world) (rows []check) {
	score := has(func(v map[string]any) error {
		assessment, isNumber := v["assessmentScore"].(float64)
		recommended, isList := v["recommendations"].([]any)
		if !isNumber || !isList || assessment < 0 || assessment > 100 {
			return fmt.Errorf("%v", v)
		}
		return same(v, map[string]any{
			"breachScore": 0.0, "assessmentScore": assessment, "recommendations": recommended,
		})
	})
	for _, user := range []string{"ninguem", w.fresh(), digest(256, cpf(77), w.sandbox.salt), "nin/guem", "誰も"} {
		escaped := url.PathEscape(user)
		rows = append(rows,
			check{
				"10 GET score", "nobody knows " + user,
				request{method: "GET", path: "/v1/cyber/score/" + escaped},
				expect{status: 200, holds: score},
			},
			check{"2 GET monitoring", "nobody knows " + user, request{
				method: "GET",
				path:   "/cyber/monitoring/" + escaped,
			}, expect{status: 200, holds: is(`[]`)}},
			check{
				"GET findings", "nobody knows " + user,
				request{method: "GET", path: "/cyber/findings/" + escaped},
				expect{status: 200, holds: is(`[]`)},
			},
			check{"11 GET insurance", "the demo cover of the sandbox", request{
				method: "GET",
				path:   "/v1/cyber/insurance/" + escaped,
			}, expect{status: 200, holds: has(func(v map[string]map[string]any) error {
				d := v["detalhesCobertura"]
				limit, _ := d["limiteCobertura"].(float64)
				if len(v) != 1 || len(d) != 5 || d["plano"] == nil || limit <= 0 || d["tipoCobertura"] == nil ||
					d["condições"] == nil ||
					d["exclusões"] == nil {
					return fmt.Errorf("%v", v)
				}
				return nil
			})}},
			check{"11 GET insurance", "no cover", request{
				"GET", "/v1/cyber/insurance/" + escaped, "", w.live.key,
				nil,
			}, expect{status: 404, message: "Cobertura não encontrada."}},
			check{
				"9 GET advise", "userId as sent",
				request{method: "GET", path: "/v1/cyber/advise/" + escaped},
				expect{status: 200, holds: advice(user)},
			})
	}
	return rows
}

// advice wants a list of content for that person, each item in the shape of the contract.
func advice(user string) func(answer) error {
	allowed := map[string][]string{"type": {"advice", "alert", "tip"}, "deviceType": {"mobile", "desktop", "all"}}
	return has(func(list []map[string]any) error {
		if len(list) == 0 {
			return fmt.Errorf("no content")
		}
		for _, item := range list {
			if item["userId"] != user || item["catalogId"] == "" || item["title"] == "" || item["body"] == "" {
				return fmt.Errorf("%v", item)
			}
			for name, words := range allowed {
				if word, _ := item[name].(string); !contains(words, word) {
					return fmt.Errorf("%s is %q", name, word)
				}
			}
			for name := range item {
				if !contains([]string{
					"catalogId", "userId", "type", "title", "body", "validationQuestion",
					"deviceType", "answerOptions",
				}, name) {
					return fmt.Errorf("a member %s", name)
				}
			}
		}
		return nil
	})
}

// decidedRows: what was decided in the third round and has no place above. The rows follow each other.
func decidedRows(w *world) (rows []check) {
	add := func(op, rule string, r request, holds func(answer) error) {
		rows = append(rows, check{op, rule, r, expect{status: 200, holds: holds}})
	}
	user := w.fresh()
	advises := func(want bool) func(answer) error {
		return func(got answer) error {
			if strings.Contains(string(got.body), `"sem-antivirus"`) != want {
				return fmt.Errorf("told to install the antivirus: %t, want %t", !want, want)
			}
			return nil
		}
	}
	advise := request{method: "GET", path: "/v1/cyber/advise/" + user}
	add("9 GET advise", "no device", advise, advises(true))
	add(
		"6 POST epp",
		"a key",
		request{method: "POST", path: "/v1/cyber/epp", body: device("ios", "Celular", user)},
		nil,
	)
	add("9 GET advise", "a key in force counts as protection", advise, advises(false))
	var values []string
	for i := range 120 {
		values = append(values, watch("email", fmt.Sprintf("lote%d@exemplo.com.br", i), fmt.Sprintf("lote-%d", i/20)))
	}
	list := request{
		method: "POST",
		path:   "/v1/cyber/assets",
		body:   `{"items":[` + strings.Join(values, ",") + `]}`,
		header: http.Header{"idempotency-key": {w.fresh()}},
	}
	for _, rule := range []string{"120 values with an idempotency key", "the same again"} {
		add("POST assets", rule, list, has(func(v struct {
			Result     string
			TotalAdded int
		},
		) error {
			if v.Result != "success" || v.TotalAdded != 120 {
				return fmt.Errorf("%+v", v)
			}
			return nil
		}))
	}
	add("GET usage", "the rate of the headers", request{method: "GET", path: "/v1/usage"}, func(got answer) error {
		return has(func(v struct{ Rate struct{ PerSecond int } }) error {
			if policy := fmt.Sprintf(`"partner";q=%d;w=1`, v.Rate.PerSecond); got.header.Get("ratelimit-policy") != policy {
				return fmt.Errorf("%q, want %q", got.header.Get("ratelimit-policy"), policy)
			}
			return nil
		})(got)
	})
	return rows
}
