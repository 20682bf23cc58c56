package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// badKeys open nothing, each for a reason that the answer must not tell.
func (w *world) badKeys() map[string]http.Header {
	one := func(key string) http.Header { return http.Header{"x-api-key": {key}} }
	return map[string]http.Header{
		"missing": {"x-api-key": nil}, "empty": one(""), "unknown": one("vg_test_ninguem"),
		"no key's form": one("abc def"), "revoked": one(w.revoked),
		"expired": one(w.expired), "of a suspended partner": one(w.suspended),
		"cut short":      one(w.sandbox.key[:len(w.sandbox.key)-1]),
		"one letter off": one(w.sandbox.key[:len(w.sandbox.key)-1] + "~"),
		"in capitals":    one(strings.ToUpper(w.sandbox.key)),
		"two of them":    {"x-api-key": {w.sandbox.key, w.live.key}}, "as a bearer": {
			"x-api-key":     nil,
			"authorization": {"Bearer " + w.sandbox.key},
		},
	}
}

func credentialRows(w *world) (rows []check) {
	for _, o := range w.operations() {
		for _, path := range spellings(o.path) {
			for why, header := range w.badKeys() {
				rows = append(rows, check{
					o.name, "key " + why,
					request{o.method, path, o.body, "", header},
					expect{status: o.refused()},
				})
			}
			rows = append(rows, check{
				o.name, "a right key",
				request{method: o.method, path: path, body: o.body},
				expect{status: o.right()},
			})
		}
	}
	return rows
}

// credentialsFirstRows: nothing of a request is looked at before its key.
func credentialsFirstRows(w *world) (rows []check) {
	for _, o := range w.operations() {
		path := "/v1" + o.path
		add := func(rule, method, path, body string, header http.Header) {
			rows = append(rows, check{
				o.name, "bad key before " + rule,
				request{method, path, body, noKey, header},
				expect{status: o.refused()},
			})
		}
		add("a broken query", o.method, path+"?a=%zz", o.body, nil)
		add("an unknown parameter", o.method, path+"?nada=1", o.body, nil)
		add("a wrong method", "PUT", path, "", nil)
		add("an unknown path", o.method, path+"/x/y/z", o.body, nil)
		if o.method == http.MethodPost {
			add("a broken body", o.method, path, `{"a":`, nil)
			add("a wrong type", o.method, path, "a=b", http.Header{"content-type": {"text/plain"}})
			add("a bad idempotency key", o.method, path, o.body, http.Header{"idempotency-key": {strings.Repeat("k",
				256)}})
			add("a body too large", o.method, path, `"`+strings.Repeat("x", 70<<10)+`"`, nil)
		}
	}
	return rows
}

func scopeRows(w *world) (rows []check) {
	for _, o := range w.operations() {
		for name, key := range map[string]string{
			"cyber": w.cyberOnly, "cyber:read": w.cyberRead, "subscriptions": w.subscriptionsOnly,
			"subscriptions:read": w.subscriptionsRead,
		} {
			area, readOnly := "cyber", strings.HasSuffix(name, ":read")
			if o.subscriptions() {
				area = "subscriptions"
			}
			status := o.right()
			// Events are of the areas that a key may read.
			if !o.events() && (!strings.HasPrefix(name, area) || readOnly && !o.reads) {
				status = o.refused()
			}
			for _, path := range spellings(o.path) {
				rows = append(rows, check{
					o.name, "scope " + name,
					request{o.method, path, o.body, key, nil},
					expect{status: status},
				})
			}
		}
	}
	return rows
}

func methodRows(w *world) (rows []check) {
	allowed := map[string][]string{}
	for _, o := range w.operations() {
		if allowed[o.path] = append(allowed[o.path], o.method); o.method == http.MethodGet {
			allowed[o.path] = append(allowed[o.path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"} {
			if contains(methods, method) || method == "HEAD" {
				continue
			}
			for _, path := range spellings(path) {
				rows = append(rows, check{
					path, "no " + method,
					request{method: method, path: path},
					expect{status: 405, holds: allows(methods)},
				})
			}
		}
		if contains(methods, http.MethodHead) {
			status := http.StatusOK
			if strings.Contains(path, "nenhum") {
				status = http.StatusNotFound
			}
			for _, path := range spellings(path) {
				rows = append(rows, check{
					path, "HEAD like GET",
					request{method: "HEAD", path: path},
					expect{status: status},
				})
			}
		}
	}
	return rows
}

func contains(list []string, s string) bool {
	return strings.Contains(" "+strings.Join(list, " ")+" ", " "+s+" ")
}

// allows wants the header Allow to name these methods and no others.
func allows(methods []string) func(answer) error {
	return func(got answer) error {
		named := strings.Split(got.header.Get("allow"), ", ")
		if len(named) != len(methods) {
			return fmt.Errorf("Allow %q, want %v", named, methods)
		}
		for _, m := range methods {
			if !contains(named, m) {
				return fmt.Errorf("Allow %q, want %v", named, methods)
			}
		}
		return nil
	}
}

func unknownPathRows(w *world) (rows []check) {
	for _, path := range []string{
		"/cyber", "/cyber/", "/cyber/nada", "/cyber/monitoring/", "/cyber/monitoring/a/b/c", "/cyber/services/",
		"/cyber/services/x", "/cyber/case/x",
		"/cyber/epp/", "/cyber/epp/x", "/cyber/password-check/x", "/cyber/advise", "/cyber/advise/",
		"/cyber/advise/a/b", "/cyber/score", "/cyber/score/",
		"/cyber/insurance", "/cyber/insurance/a/b/c", "/cyber/findings", "/cyber/findings/a/b",
		"/cyber/findings/a/resolve/x", "/cyber//services",
		"/cyber/Services", "/cyber/../cyber/services", "/events/", "/events/x", "/subscriptions/", "/subscriptions/a",
		"/subscriptions/a/", "/subscriptions/a/b/c",
		"/subscriptions//", "/subscriptions/./x/y",
	} {
		for _, path := range spellings(path) {
			message := ""
			if !strings.Contains(path, "subscriptions") {
				message = "Recurso não encontrado."
			}
			rows = append(rows, check{path, "no such path", request{method: "GET", path: path}, expect{
				status:  404,
				message: message,
			}})
		}
	}
	return rows
}

func contentTypeRows(w *world) (rows []check) {
	for _, o := range w.posts() {
		for kind, ok := range map[string]bool{
			"": true, "application/json": true, "application/json; charset=utf-8": true,
			"application/json;charset=UTF-8": true, "Application/JSON": true,
			"text/plain": false, "application/xml": false, "application/x-www-form-urlencoded": false,
			"multipart/form-data; boundary=x": false,
			"application/octet-stream":        false, "*/*": false, "json": false,
			"application/json; charset=iso-8859-1": false, "text/html": false,
		} {
			status, header := http.StatusUnsupportedMediaType, http.Header{"content-type": {kind}}
			if ok {
				status = o.right()
			}
			if kind == "" {
				header["content-type"] = nil
			}
			rows = append(rows, check{o.name, "content type " + kind, request{
				o.method, "/v1" + o.path, o.body, "",
				header,
			}, expect{status: status}})
		}
	}
	return rows
}

// nested is an object with a member that is so many levels deep, the object among them.
func nested(body string, levels int) string {
	deep := strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1)
	if strings.HasPrefix(body, "[") {
		return "[" + deep + "]" // an item that is no object
	}
	return strings.TrimSuffix(body, "}") + `,"x":` + deep + "}"
}

func brokenJSONRows(w *world) (rows []check) {
	for _, o := range w.posts() {
		broken := map[string]string{
			"nothing": " ", "half an object": `{"a":`, "half an array": `[1,`, "two values": o.body + o.body,
			"a word after it": o.body + "x", "single quotes": `{'a':1}`,
			"a comma too many": `{"a":1,}`, "a comment": o.body + "/* */", "not a number": `{"a":NaN}`,
			"no quotes": `{a:1}`, "a byte order mark": "\ufeff" + o.body,
			"33 levels": nested(o.body,
				33), "a number with a zero in front": `{"a":01}`, "a text": `"x"`, "a number": `1`, "null": `null`, "true": `true`,
		}
		member := func(m string) string { // as one more member of the object, or of an item
			if o.subscriptions() {
				return "[{" + m + "}]"
			}
			return strings.TrimSuffix(o.body, "}") + "," + m + "}"
		}
		broken["a name twice"] = member(`"x":1,"x":2`)
		broken["a name twice, inside"] = member(`"x":{"y":1,"y":1}`)
		broken["bytes that are no UTF-8"] = member("\"x\":\"\xff\xfe\"")
		broken["a surrogate alone"] = member(`"x":"\ud800"`)
		broken["a control character"] = member("\"x\":\"\x01\"")
		broken["an unknown escape"] = member(`"x":"\q"`)
		if o.subscriptions() {
			broken["an object"] = `{}`
		} else {
			broken["an array"] = `[]`
			broken["an array around it"] = "[" + o.body + "]"
		}
		for what, body := range broken {
			rows = append(rows, check{o.name, "JSON: " + what, request{
				method: o.method, path: "/v1" + o.path,
				body: body,
			}, expect{status: 400}})
		}
	}
	return rows
}

// lenientJSONRows: a body may be written in many ways, and the contract's operations ignore members that they do not
// know. Those of our own refuse them.
func lenientJSONRows(w *world) (rows []check) {
	for _, o := range w.posts() {
		bodies := map[string]string{"white space around it": " \r\n\t" + o.body + "\n ", "32 levels": nested(o.body,
			32)}
		if !o.subscriptions() {
			for _, extra := range []string{`null`, `1`, `"x"`, `{"a":[1,2]}`, `[]`, `1e308`, `"\ud83d\ude00"`} {
				bodies["an unknown member "+extra] = strings.TrimSuffix(o.body, "}") + `,"desconhecido":` + extra + "}"
			}
			bodies["names are told apart by case"] = strings.TrimSuffix(o.body,
				"}") + `,"VALUE":1,"UserHash":2,"Type":3}`
			bodies["escapes in names"] = strings.Replace(o.body, `"userHash"`, `"user\u0048ash"`, 1)
		}
		for what, body := range bodies {
			status := o.right()
			hasMore := what != "white space around it" && what != "escapes in names"
			if o.extension && hasMore {
				status = 400
			}
			rows = append(rows, check{o.name, "JSON: " + what, request{
				method: o.method, path: "/v1" + o.path,
				body: body,
			}, expect{status: status}})
		}
	}
	return rows
}

func sizeRows(w *world) (rows []check) {
	const small, bulk = 64 << 10, 32 << 20
	for _, o := range w.posts() {
		limit := small
		if o.subscriptions() {
			limit = bulk
		}
		pad := func(size int) string { return o.body + strings.Repeat(" ", size-len(o.body)) }
		for _, path := range spellings(o.path) {
			rows = append(rows,
				check{
					o.name, "a body at the limit",
					request{method: o.method, path: path, body: pad(limit)},
					expect{status: o.right()},
				},
				check{
					o.name, "a byte more",
					request{method: o.method, path: path, body: pad(limit + 1)},
					expect{status: 413},
				})
		}
		rows = append(rows, check{o.name, "far too large", request{
			method: o.method, path: "/v1" + o.path,
			body: pad(limit + limit/2),
		}, expect{status: 413}})
	}
	items := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	return append(rows,
		check{
			"12 POST subscriptions", "10,000 items",
			request{
				method: "POST", path: "/v1/subscriptions",
				body: items(10_000),
			},
			expect{status: 200, holds: outcome("failure", 0, 10_000)},
		},
		check{"12 POST subscriptions", "10,001 items", request{
			method: "POST", path: "/v1/subscriptions",
			body: items(10_001),
		}, expect{status: 413}})
}

func requestIDRows(w *world) (rows []check) {
	for _, o := range w.operations() {
		for _, id := range []string{"a", "pedido-0001", strings.Repeat("x", 128), "A.b_c-9"} {
			rows = append(rows, check{
				o.name, "x-request-id is kept",
				request{
					o.method, "/v1" + o.path, o.body, "",
					http.Header{"x-request-id": {id}},
				},
				expect{status: o.right(), headers: map[string]string{"x-request-id": id}},
			})
		}
		rows = append(rows, check{
			o.name, "x-request-id is kept without a key",
			request{
				o.method, "/v1" + o.path,
				o.body, noKey,
				http.Header{"x-request-id": {"abc"}},
			},
			expect{status: o.refused(), headers: map[string]string{"x-request-id": "abc"}},
		})
		for what, id := range map[string]string{
			"too long": strings.Repeat("x", 129), "a space": "a b",
			"not ASCII": "pedido-é", "empty": "",
		} {
			rows = append(rows, check{
				o.name, "x-request-id is made anew: " + what,
				request{
					o.method, "/v1" + o.path,
					o.body, "",
					http.Header{"x-request-id": {id}},
				},
				expect{status: o.right(), holds: func(got answer) error {
					if got.header.Get("x-request-id") == id {
						return fmt.Errorf("took over %q", id)
					}
					return nil
				}},
			})
		}
	}
	return rows
}

func queryRows(w *world) (rows []check) {
	for _, o := range w.operations() {
		for _, query := range []string{
			"%zz", "a=%", "a=%4", "a;b=1", "dry_run=true%", "userHash=a;b",
			"page=1;page_size=2",
		} {
			for _, path := range spellings(o.path) {
				rows = append(rows, check{o.name, "a query that does not parse: " + query, request{
					o.method,
					path + "?" + query, o.body, "", nil,
				}, expect{status: 400}})
			}
		}
		strict := contains([]string{"7 GET epp", "13 GET subscriptions", "12 POST subscriptions", "GET events"}, o.name)
		for _, query := range []string{
			"nada=1", "dryRun=true", "userhash=a", "pageSize=5", "utm_source=x",
			"cursor=1",
		} {
			status := o.right()
			if strict {
				status = 400
			}
			rows = append(rows, check{o.name, "an unknown parameter: " + query, request{
				o.method,
				"/v1" + o.path + "?" + query, o.body, "", nil,
			}, expect{status: status}})
		}
	}
	for query, status := range map[string]int{
		"true": 200, "false": 200, "TRUE": 400, "True": 400, "1": 400, "0": 400, "yes": 400, "": 400,
		"true&dry_run=true": 400, "true&dry_run=false": 400, "%74rue": 200, "null": 400,
	} {
		rows = append(rows, check{"12 POST subscriptions", "dry_run=" + query, request{
			method: "POST",
			path:   "/v1/subscriptions?dry_run=" + query, body: "[]",
		}, expect{status: status}})
	}
	for query, status := range map[string]int{
		"limit=1": 200, "limit=1000": 200, "limit=5000": 200, "limit=0": 400, "limit=-1": 400, "limit=a": 400,
		"limit=": 400, "limit=1.5": 400, "limit=1&limit=2": 400,
		"after=": 400, "after=nada": 400, "after=%00": 400, "after=1&after=2": 400,
	} {
		rows = append(rows, check{
			"GET events", query,
			request{method: "GET", path: "/v1/events?" + query},
			expect{status: status},
		})
	}
	return rows
}

// userHashRows: 1 to 256 printable characters, wherever a person is named.
func userHashRows(w *world) (rows []check) {
	good := []string{
		"a", strings.Repeat("x", 256), strings.Repeat("ç", 256), "pessoa com espaço", "a/b", "a//b", "/",
		"//", "a+b=", "%", "%2F", "ana@x", "...", "日本", "😀", "'\"<>", "a?b#c", "a;b",
	}
	bad := []string{
		strings.Repeat("x", 257), strings.Repeat("ç", 257), "a\x00", "\t", "a\nb", "\x7f", "\u0085",
		"\u200b", "\ufeff", "\u202e", "\u2028", "a\u00a0b",
	}
	for _, o := range w.operations() {
		if o.template != "" {
			for _, user := range good {
				path := strings.Replace(o.template, "{}", url.PathEscape(user), 1)
				rows = append(rows, check{o.name, fmt.Sprintf("a person named %.20q", user), request{
					method: o.method,
					path:   "/v1" + path, body: o.body,
				}, expect{status: o.right()}})
			}
			for _, user := range bad {
				path := strings.Replace(o.template, "{}", url.PathEscape(user), 1)
				rows = append(rows, check{
					o.name, fmt.Sprintf("nobody is named %.20q", user),
					request{method: o.method, path: "/v1" + path, body: o.body},
					expect{status: 400},
				})
			}
		}
		if at := strings.Index(o.body, `"userHash":"`); at >= 0 {
			named := func(user string) string {
				rest := o.body[at+len(`"userHash":"`):]
				return o.body[:at] + `"userHash":` + text(user) + rest[strings.IndexByte(rest, '"')+1:]
			}
			for _, user := range good {
				rows = append(rows, check{o.name, fmt.Sprintf("a person named %.20q", user), request{
					method: o.method,
					path:   "/v1" + o.path, body: named(user),
				}, expect{status: o.right()}})
			}
			for _, user := range append([]string{"", ".", "..", "extra"}, bad...) {
				rows = append(rows, check{
					o.name, fmt.Sprintf("nobody is named %.20q", user),
					request{method: o.method, path: "/v1" + o.path, body: named(user)},
					expect{status: 400},
				})
			}
		}
	}
	return rows
}

var (
	replayed = map[string]string{"idempotency-replayed": "true"}
	firstly  = map[string]string{"idempotency-replayed": ""}
)

// idempotencyRows: the rows of a key follow each other, so their order matters.
func idempotencyRows(w *world) (rows []check) {
	for _, o := range w.posts() {
		for _, name := range []string{"idempotency-key", "x-idempotency-key"} {
			add := func(rule, path, body, key string, status int, headers map[string]string) {
				rows = append(rows, check{o.name, name + ": " + rule, request{
					o.method, path, body, "",
					http.Header{name: {key}},
				}, expect{status: status, headers: headers}})
			}
			other, v1 := strings.Replace(o.body, "{", "{ ", 1), "/v1"+o.path
			if o.subscriptions() {
				other = "[ ]"
			}
			key := w.fresh()
			add("first", v1, o.body, key, o.right(), firstly)
			add("again", v1, o.body, key, o.right(), replayed)
			add("again, at the other spelling", o.path, o.body, key, o.right(), replayed)
			add("another body", v1, other, key, 422, nil)
			add("the first again after it", v1, o.body, key, o.right(), replayed)
			add("255 characters", v1, o.body, strings.Repeat("k", 250)+fmt.Sprintf("%05d", w.number), o.right(),
				firstly)
			add("256 characters", v1, o.body, strings.Repeat("k", 256), 400, nil)
			add("empty", v1, o.body, "", 400, nil)
			key = w.fresh()
			add("a refusal", v1, "{", key, 400, firstly)
			add("the same refusal", v1, "{", key, 400, replayed)
			add("another body after a refusal", v1, o.body, key, 422, nil)
			key = w.fresh()
			large := strings.Repeat(" ", 33<<20)
			if !o.subscriptions() {
				large = large[:65<<10]
			}
			add("a body too large", v1, large, key, 413, firstly)
			add("another body after a 413", v1, o.body, key, 422, nil)
			key = w.fresh()
			plain := http.Header{name: {key}, "content-type": {"text/plain"}}
			for i, headers := range []map[string]string{firstly, replayed} {
				rows = append(rows, check{o.name, fmt.Sprint(name, ": not JSON, ", i), request{
					o.method, v1, o.body,
					"", plain,
				}, expect{status: 415, headers: headers}})
			}
		}
		key := w.fresh()
		rows = append(rows,
			check{o.name, "both headers, one key", request{
				o.method, "/v1" + o.path, o.body, "",
				http.Header{"idempotency-key": {key}, "x-idempotency-key": {key}},
			}, expect{status: o.right()}},
			check{o.name, "both headers, two keys", request{
				o.method, "/v1" + o.path, o.body, "",
				http.Header{"idempotency-key": {key}, "x-idempotency-key": {key + "x"}},
			}, expect{status: 400}})
	}
	return rows
}
