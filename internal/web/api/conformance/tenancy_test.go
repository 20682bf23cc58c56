package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// tenancyRows: what another partner has answers exactly like what nobody has.
func tenancyRows(w *world) (rows []check) {
	const user = "pessoa-dos-dois"
	w.must(request{method: "POST", path: "/v1/cyber/monitoring", body: watch("email", "dois@vazamento.test", user)})
	w.must(request{method: "POST", path: "/v1/cyber/epp", body: device("ios", "Dos dois", user)})
	var own []asset
	var found []struct{ ID string }
	read(w.must(request{method: "GET", path: "/v1/cyber/monitoring/" + user}), &own)
	read(w.must(request{method: "GET", path: "/v1/cyber/findings/" + user}), &found)
	for name, key := range map[string]string{"live": w.live.key, "other": w.other.key} {
		for _, about := range []string{"monitoring", "findings"} {
			rows = append(rows, check{"GET " + about, "nothing of another's, for " + name, request{
				"GET",
				"/v1/cyber/" + about + "/" + user, "", key, nil,
			}, expect{status: 200, holds: is(`[]`)}})
		}
		rows = append(rows,
			check{"7 GET epp", "nothing of another's, for " + name, request{
				"GET", "/v1/cyber/epp?userHash=" + user,
				"", key, nil,
			}, expect{status: 200, holds: is(`{"protectedDevices":[]}`)}},
			check{"11 GET insurance", "nothing of another's, for " + name, request{
				"GET",
				"/v1/cyber/insurance/" + user, "", key, nil,
			}, expect{
				status:  404,
				message: "Cobertura não encontrada.",
			}},
			check{
				"GET events", "nothing of another's, for " + name,
				request{"GET", "/v1/events", "", key, nil},
				expect{status: 200, holds: func(got answer) error {
					if strings.Contains(string(got.body), own[0].ID) || strings.Contains(string(got.body), user) {
						return fmt.Errorf("tells of another's")
					}
					return nil
				}},
			})
		for rule, id := range map[string]string{"another's": own[0].ID, "nobody's": "as_nada"} {
			rows = append(rows, check{
				"3 DELETE monitoring", rule + " for " + name,
				request{
					"DELETE",
					"/v1/cyber/monitoring/" + id + "/" + user, "", key, nil,
				},
				expect{status: 404, message: "Ativo não encontrado."},
			})
		}
		for rule, id := range map[string]string{"another's": found[0].ID, "nobody's": "fd_nada"} {
			rows = append(rows, check{
				"POST resolve", rule + " for " + name,
				request{
					"POST",
					"/v1/cyber/findings/" + id + "/resolve", `{"userHash":"` + user + `","reason":"other"}`, key, nil,
				},
				expect{status: 404, message: "Recurso não encontrado."},
			})
		}
		for n := range 3 {
			rows = append(rows, check{
				"14 GET subscription", "of another partner, for " + name,
				request{
					"GET",
					"/v1/subscriptions/plano/" + cpf(7000+n), "", key, nil,
				},
				expect{status: 404, message: "Assinatura não encontrada"},
			})
		}
	}
	for _, id := range []string{own[0].ID} { // of the same partner, but of another person
		rows = append(rows, check{"3 DELETE monitoring", "of another person", request{
			method: "DELETE",
			path:   "/v1/cyber/monitoring/" + id + "/outra-pessoa",
		}, expect{status: 404, message: "Ativo não encontrado."}})
	}
	for _, id := range []string{
		"x", strings.Repeat("a", 256), strings.Repeat("a", 257), "a%00b", "%E2%80%8B",
		url.PathEscape("../" + own[0].ID), strings.ToUpper(own[0].ID),
	} {
		rows = append(rows, check{
			"3 DELETE monitoring", "no such id " + id[:min(len(id), 12)],
			request{method: "DELETE", path: "/v1/cyber/monitoring/" + id + "/" + user},
			expect{
				status:  404,
				message: "Ativo não encontrado.",
			},
		})
	}
	path := "/v1/cyber/monitoring/" + own[0].ID + "/" + user
	return append(rows,
		check{"3 DELETE monitoring", "its own", request{method: "DELETE", path: path}, expect{
			status: 200,
			holds:  is(removed),
		}},
		check{"3 DELETE monitoring", "again", request{method: "DELETE", path: path}, expect{
			status:  404,
			message: "Ativo não encontrado.",
		}},
		check{
			"2 GET monitoring", "gone",
			request{method: "GET", path: "/v1/cyber/monitoring/" + user},
			expect{status: 200, holds: is(`[]`)},
		})
}

func read[T any](got answer, into *T) {
	if err := has(func(v T) error { *into = v; return nil })(got); err != nil {
		panic(err)
	}
}

// findingRows: from the sandbox's leak through every reason of resolving it, back to a quiet status.
func findingRows(w *world) (rows []check) {
	for i, reason := range []string{"password_changed", "account_closed", "card_replaced", "not_me", "other"} {
		user := digest(512, cpf(3000+i), w.sandbox.salt)
		value := fmt.Sprintf("vitima%d@vazamento.test", i)
		w.must(request{method: "POST", path: "/v1/cyber/monitoring", body: watch("email", value, user)})
		var found []struct{ ID string }
		read(w.must(request{method: "GET", path: "/v1/cyber/findings/" + user}), &found)
		status := func(want string) func(answer) error {
			return has(func(list []asset) error {
				if len(list) != 1 || list[0].Status != want {
					return fmt.Errorf("want one asset, %s", want)
				}
				return nil
			})
		}
		list := request{method: "GET", path: "/v1/cyber/monitoring/" + user}
		resolve := request{
			method: "POST", path: "/v1/cyber/findings/" + found[0].ID + "/resolve",
			body: `{"userHash":"` + user + `","reason":"` + reason + `"}`,
		}
		stranger := resolve
		stranger.body = strings.Replace(stranger.body, user, "outra-pessoa", 1)
		rows = append(rows,
			check{"2 GET monitoring", "a leak with a password", list, expect{
				status: 200,
				holds:  status("comprometido"),
			}},
			check{
				"10 GET score", "a leak raises it",
				request{method: "GET", path: "/v1/cyber/score/" + user},
				expect{status: 200, holds: scored(func(s float64) bool { return s > 0 && s <= 100 })},
			},
			check{"POST resolve", "of another person", stranger, expect{
				status:  404,
				message: "Recurso não encontrado.",
			}},
			check{"POST resolve", reason, resolve, expect{status: 200}},
			check{"POST resolve", reason + " again", resolve, expect{status: 200}},
			check{"2 GET monitoring", "nothing open", list, expect{status: 200, holds: status("monitorado")}},
			check{
				"GET findings", "resolved",
				request{method: "GET", path: "/v1/cyber/findings/" + user},
				expect{status: 200, holds: has(func(v []map[string]any) error {
					if len(v) != 1 || v[0]["state"] != "resolved" || v[0]["reason"] != reason {
						return fmt.Errorf("%v", v)
					}
					return nil
				})},
			},
			check{"GET events", "the leak was told, and the change", request{
				method: "GET",
				path:   "/v1/events?limit=1000",
			}, expect{status: 200, holds: func(got answer) error {
				if n := strings.Count(string(got.body), user); n < 3 { // found, compromised, quiet again
					return fmt.Errorf("%d events of this person", n)
				}
				return nil
			}}})
	}
	for _, user := range []string{w.cyberOnly, w.cyberRead} {
		rows = append(rows, check{"GET events", "a key of the cyber area sees them", request{
			"GET",
			"/v1/events?limit=1000", "", user, nil,
		}, expect{status: 200, holds: mentions("monitoring.", true)}})
	}
	for _, user := range []string{w.subscriptionsOnly, w.subscriptionsRead} {
		rows = append(rows, check{"GET events", "a key of subscriptions does not", request{
			"GET",
			"/v1/events?limit=1000", "", user, nil,
		}, expect{status: 200, holds: mentions("monitoring.", false)}})
	}
	return rows
}

func mentions(word string, want bool) func(answer) error {
	return func(got answer) error {
		if strings.Contains(string(got.body), word) != want {
			return fmt.Errorf("mentions %s: want %v", word, want)
		}
		return nil
	}
}

func scored(holds func(float64) bool) func(answer) error {
	return has(func(v struct{ BreachScore float64 }) error {
		if !holds(v.BreachScore) {
			return fmt.Errorf("breachScore %v", v.BreachScore)
		}
		return nil
	})
}

// answerRows: every option of every question that is asked may be the answer, and nothing else.
func answerRows(w *world) (rows []check) {
	user := w.fresh()
	var list []struct {
		CatalogID     string
		AnswerOptions []struct{ Value string }
	}
	read(w.must(request{method: "GET", path: "/v1/cyber/advise/" + user}), &list)
	post := func(rule, id, value string, status int, message string) {
		rows = append(rows, check{
			"POST answers",
			rule,
			request{
				method: "POST",
				path:   spellings("/cyber/advise/" + user + "/answers")[len(rows)%2],
				body:   `{"catalogId":` + text(id) + `,"value":` + text(value) + `}`,
			},
			expect{status: status, message: message},
		})
	}
	for _, a := range list {
		for _, option := range a.AnswerOptions {
			post(a.CatalogID+" "+option.Value, a.CatalogID, option.Value, http.StatusOK, "")
		}
		if len(a.AnswerOptions) > 0 {
			post(a.CatalogID+" none of its options", a.CatalogID, "talvez-quem-sabe", http.StatusBadRequest, "")
		}
	}
	for _, id := range []string{"nada", "x", strings.Repeat("c", 256)} {
		post("no such question", id, "sim", http.StatusNotFound, "Recurso não encontrado.")
	}
	return rows
}
