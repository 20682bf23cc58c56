package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
)

// service is one side of the CRUD comparison: a server process, and how its requests look.
type service struct {
	load.Server
	database string
	stop     func()
	cost     func() time.Duration // of a processor, so far; only in a run with -former
	next     int                  // person
	create   func(n int) (path string, body []byte)
	bulk     func(from, to int) (path string, body []byte)
	note     func(answer []byte) // of a bulk
	get      func() (path string)
	list     func(page int) (path string)
}

// compareServices measures the requests of a partner, which both sides answer as processes of their own.
func compareServices(ctx context.Context) {
	program, version := findPocketBase(ctx)
	r, batches := newReport(version), *people/load.Rounds/1000
	sides := map[string]*service{us: install(ctx, presentProgram(ctx)), pocketBase: startPocketBase(ctx, program)}
	if batches == 0 {
		load.Fail("-people must be at least 1,000 a round")
	}
	r.compare(
		"create in batches of 1,000",
		"rows/s",
		10,
		func(side string) load.Result { return sides[side].fill(batches) },
	)
	deepest := sides[us].next / 100
	for _, c := range []struct {
		what  string
		least float64
		next  func(s *service) (path string, body []byte)
	}{
		{"create one", 3, func(s *service) (string, []byte) { s.next++; return s.create(s.next - 1) }},
		{"get one", 3, func(s *service) (string, []byte) { return s.get(), nil }},
		{"list, first page of 100", 4, func(s *service) (string, []byte) { return s.list(1), nil }},
		{fmt.Sprintf("list, page %d of 100", deepest), 4, func(s *service) (string, []byte) { return s.list(deepest), nil }},
	} {
		r.compare(c.what, "requests/s", c.least, func(side string) load.Result {
			return sides[side].Load(ctx, func() (string, []byte) { return c.next(sides[side]) })()
		})
	}
	size := map[string]float64{}
	for name, s := range sides {
		rows := s.total() // what was answered as created must be there
		if rows < load.Rounds*batches*1000 {
			load.Fail("%s lists %d people", name, rows)
		}
		s.stop() // so that its log is emptied into its database
		size[name] = float64(load.Must(os.Stat(s.database)).Size()) / float64(rows)
	}
	r.addRow("size of the database", "bytes a row, less is better", size)
	r.publish()
}

// startPocketBase starts the program that PocketBase is released as, and makes what a team would: a collection of
// partners that log in, one of beneficiaries that only their partner sees, with the same columns and the same unique
// key.
func startPocketBase(ctx context.Context, program string) *service {
	data := load.File("data") // it also writes beside this folder
	const admin, partner, secret = "admin@exemplo.com.br", "banco@exemplo.com.br", "senha-de-exemplo-1"
	site.Output(exec.CommandContext(ctx, program, "superuser", "upsert", admin, secret, "--dir", data))
	address := site.Free()
	cmd := exec.CommandContext(ctx, program, "serve", "--dir", data, "--http", address)
	p := site.Start(cmd, address, "http://"+address+"/api/health")
	s := &service{
		Server:   load.Server{Addresses: []string{address}},
		database: filepath.Join(data, "data.db"),
		stop:     p.Stop,
	}
	s.logIn("_superusers", admin, secret)
	type object = map[string]any
	fields := []object{
		{"name": "cpf", "type": "text", "required": true, "pattern": `^\d{11}$`},
		{"name": "is_group_plan", "type": "bool"},
		{"name": "address", "type": "json"},
	}
	const texts = "partner plan_id start_date expiry_date primary_card user_card name birth_date gender email phone_number"
	for _, name := range strings.Fields(texts) {
		fields = append(fields, object{"name": name, "type": "text", "required": name != "expiry_date"})
	}
	const own = "partner = @request.auth.id"
	ask := func(method, path string, body object) { s.Ask(method, path, load.Must(json.Marshal(body))) }
	ask("POST", "/api/collections", object{"name": "partners", "type": "auth"})
	ask("POST", "/api/collections", object{
		"name": "beneficiaries", "type": "base", "fields": fields, "listRule": own, "viewRule": own, "createRule": own,
		"indexes": []string{"CREATE UNIQUE INDEX beneficiary_key ON beneficiaries (partner, plan_id, cpf)"},
	})
	batch := object{"enabled": true, "maxRequests": 1000, "timeout": 60, "maxBodySize": 64 << 20}
	ask("PATCH", "/api/settings", object{"batch": batch})
	one := object{"email": partner, "password": secret, "passwordConfirm": secret}
	ask("POST", "/api/collections/partners/records", one)
	s.speak(s.logIn("partners", partner, secret))
	return s
}

// speak says how requests of the partner who is logged in look.
func (s *service) speak(owner string) {
	var ids []string             // it makes them itself
	item := func(n int) string { // the same fields, laid flat as a collection has them
		return strings.TrimSuffix(strings.Replace(site.Item(n), `"beneficiary":{`, `"partner":"`+owner+`",`, 1), "}")
	}
	const records = "/api/collections/beneficiaries/records"
	s.create = func(n int) (string, []byte) { return records, []byte(item(n)) }
	s.bulk = func(from, to int) (string, []byte) {
		one := func(n int) string { return `{"method":"POST","url":"` + records + `","body":` + item(n) + `}` }
		return "/api/batch", fmt.Appendf(nil, `{"requests":%s}`, site.Items(from, to, one))
	}
	s.note = func(answer []byte) { // all of it must have been created
		var list []struct {
			Status int
			Body   struct{ ID string }
		}
		load.Check(json.Unmarshal(answer, &list))
		for _, one := range list {
			if one.Status != 200 {
				load.Fail("a row of a batch was answered with %d", one.Status)
			}
			ids = append(ids, one.Body.ID)
		}
	}
	s.get = func() string { return records + "/" + ids[rand.IntN(len(ids))] }
	s.list = func(page int) string { // the fields that our list answers with
		const fields = "id,plan_id,name,cpf,email,start_date,expiry_date,is_group_plan"
		return fmt.Sprintf(records+"?page=%d&perPage=100&fields="+fields, page)
	}
}

func (s *service) logIn(collection, email, secret string) (id string) {
	s.Header = ""
	var answer struct {
		Token  string
		Record struct{ ID string }
	}
	body := fmt.Appendf(nil, `{"identity":%q,"password":%q}`, email, secret)
	load.Check(json.Unmarshal(s.Ask("POST", "/api/collections/"+collection+"/auth-with-password", body), &answer))
	s.Header = "Authorization: " + answer.Token
	return answer.Record.ID
}

// fill creates people in batches of 1,000.
func (s *service) fill(batches int) (total load.Result) {
	for range batches {
		path, body := s.bulk(s.next, s.next+1000)
		s.next += 1000
		var answer []byte
		took := load.Time(1000, func() { answer = s.Ask("POST", path, body) })
		s.note(answer)
		total.Requests, total.Elapsed, total.P50 = total.Requests+took.Requests, total.Elapsed+took.Elapsed, took.Elapsed
	}
	return total
}

// total is how many people a list has in all, as either side says it.
func (s *service) total() int {
	var page struct {
		Theirs int `json:"totalItems"`
		Ours   struct {
			Total int `json:"total_items"`
		} `json:"pagination"`
	}
	load.Check(json.Unmarshal(s.Ask("GET", s.list(1), nil), &page))
	return page.Theirs + page.Ours.Total
}
