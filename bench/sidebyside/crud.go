package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/config"
)

const pocketBase = "PocketBase"

// service is one side of the CRUD comparison: a server process, and how its requests look.
type service struct {
	address, header, database string
	stop                      func()
	next                      int // person
	create                    func(n int) (path string, body []byte)
	bulk                      func(from, to int) (path string, body []byte)
	get                       func() (path string)
	list                      func(page int) (path string)
	total                     func(answer []byte) int // of a list
	ids                       []string                // PocketBase's, which makes them itself
}

func crud(ctx context.Context, r *report, folder string) []group {
	ours, theirs := startVigia(ctx, folder), startPocketBase(ctx, r, folder)
	defer ours.stop()
	defer theirs.stop()
	r.Versions[us] = r.Commit
	sides := map[string]*service{us: ours, pocketBase: theirs}
	g := group{Name: "crud", Title: "Beneficiaries over HTTP", Sides: []string{us, pocketBase}}
	each := r.Options.People / r.Options.Rounds / 1000 * 1000
	if each == 0 {
		load.Fail("-people must be at least 1,000 a round")
	}
	add := func(what, unit string, work func(*service) float64) {
		g.Measures = append(g.Measures, rounds(r.Options.Rounds, measure{What: what, Unit: unit}, g.Sides, func(side string) float64 { return work(sides[side]) }))
	}
	add("create in batches of 1,000", "rows/s", func(s *service) float64 { return s.fill(each) })
	deepest := ours.next / 100
	requests := func(what, method string, next func(*service) (path string, body []byte)) {
		var turn sync.Mutex // prepared one after another, so that every created person is a new one
		add(what, "requests/s", func(s *service) float64 {
			return load.Run(ctx, s.address, r.Options.Conns, r.Options.Length, func() []byte {
				turn.Lock()
				defer turn.Unlock()
				path, body := next(s)
				return load.Request(method, s.address, path, s.header, body)
			}).Rate()
		})
	}
	requests("create one", "POST", func(s *service) (string, []byte) { s.next++; return s.create(s.next - 1) })
	requests("get one", "GET", func(s *service) (string, []byte) { return s.get(), nil })
	requests("list, first page of 100", "GET", func(s *service) (string, []byte) { return s.list(1), nil })
	requests(fmt.Sprintf("list, page %d of 100", deepest), "GET", func(s *service) (string, []byte) { return s.list(deepest), nil })
	size := measure{What: "size of the database", Unit: "bytes a row", Lower: true, Values: map[string]float64{}}
	for name, s := range sides {
		rows := s.total(s.ask("GET", s.list(1), nil)) // what was answered as created must be there
		if rows < r.Options.Rounds*each {
			load.Fail("%s lists %d people", name, rows)
		}
		s.stop() // so that its log is emptied into its database
		size.Values[name] = float64(load.Must(os.Stat(s.database)).Size()) / float64(rows)
	}
	g.Measures = append(g.Measures, size)
	return []group{g}
}

func startVigia(ctx context.Context, folder string) *service {
	c := config.Common{Data: filepath.Join(folder, "vigia-data")}
	s := &service{header: "X-Api-Key: " + site.Prepare(ctx, c.Data, ""), database: filepath.Join(c.Data, "vigia.db")}
	address, stop := site.Serve(site.Build(folder), c, "--roles", "api")
	s.address, s.stop = address, sync.OnceFunc(stop)
	s.bulk = func(from, to int) (string, []byte) { return "/v1/subscriptions", site.Items(from, to, site.Item) }
	s.create = func(n int) (string, []byte) { return s.bulk(n, n+1) }
	s.get = func() string { return "/v1/subscriptions/" + site.Plan + "/" + site.CPF(rand.IntN(s.next)) }
	s.list = func(page int) string { return fmt.Sprintf("/v1/subscriptions?page=%d&page_size=100", page) }
	s.total = func(answer []byte) int {
		var page struct {
			Pagination struct {
				TotalItems int `json:"total_items"`
			} `json:"pagination"`
		}
		load.Check(json.Unmarshal(answer, &page))
		return page.Pagination.TotalItems
	}
	return s
}

// startPocketBase starts the program that PocketBase is released as, and makes what a team would: a collection of
// partners that log in, one of beneficiaries that only their partner sees, with the same columns and the same unique
// key.
func startPocketBase(ctx context.Context, r *report, folder string) *service {
	program := filepath.Join(r.Options.peers, "base")
	r.Versions[pocketBase] = peerVersion(program, "github.com/pocketbase/pocketbase")
	data := filepath.Join(folder, "pocketbase-data")
	const admin, partner, secret = "admin@exemplo.com.br", "banco@exemplo.com.br", "senha-de-exemplo-1"
	if out, err := exec.CommandContext(ctx, program, "superuser", "upsert", admin, secret, "--dir", data).CombinedOutput(); err != nil {
		load.Fail("pocketbase (run this with `make compare`): %w\n%s", err, out)
	}
	s := &service{address: site.Free(), database: filepath.Join(data, "data.db")}
	s.stop = sync.OnceFunc(site.Start(exec.CommandContext(ctx, program, "serve", "--http", s.address, "--dir", data), "http://"+s.address+"/api/health"))
	s.logIn("_superusers", admin, secret)
	type object = map[string]any
	fields := []object{{"name": "cpf", "type": "text", "required": true, "pattern": `^\d{11}$`}, {"name": "is_group_plan", "type": "bool"}, {"name": "address", "type": "json"}}
	for _, name := range []string{"partner", "plan_id", "start_date", "expiry_date", "primary_card", "user_card", "name", "birth_date", "gender", "email", "phone_number"} {
		fields = append(fields, object{"name": name, "type": "text", "required": name != "expiry_date"})
	}
	const own = "partner = @request.auth.id"
	for _, step := range []struct {
		method, path string
		body         object
	}{
		{"POST", "/api/collections", object{"name": "partners", "type": "auth"}},
		{"POST", "/api/collections", object{
			"name": "beneficiaries", "type": "base", "fields": fields, "listRule": own, "viewRule": own, "createRule": own,
			"indexes": []string{"CREATE UNIQUE INDEX beneficiary_key ON beneficiaries (partner, plan_id, cpf)"},
		}},
		{"PATCH", "/api/settings", object{"batch": object{"enabled": true, "maxRequests": 1000, "timeout": 60, "maxBodySize": 64 << 20}}},
		{"POST", "/api/collections/partners/records", object{"email": partner, "password": secret, "passwordConfirm": secret}},
	} {
		s.ask(step.method, step.path, load.Must(json.Marshal(step.body)))
	}
	s.speak(s.logIn("partners", partner, secret))
	return s
}

// speak says how requests of the partner who is logged in look.
func (s *service) speak(owner string) {
	item := func(n int) string { // the same fields, laid flat as a collection has them
		return strings.TrimSuffix(strings.Replace(site.Item(n), `"beneficiary":{`, `"partner":"`+owner+`",`, 1), "}")
	}
	const records = "/api/collections/beneficiaries/records"
	s.create = func(n int) (string, []byte) { return records, []byte(item(n)) }
	s.bulk = func(from, to int) (string, []byte) {
		list := site.Items(from, to, func(n int) string { return `{"method":"POST","url":"` + records + `","body":` + item(n) + `}` })
		return "/api/batch", []byte(`{"requests":` + string(list) + `}`)
	}
	s.get = func() string { return records + "/" + s.ids[rand.IntN(len(s.ids))] }
	s.list = func(page int) string { // the fields that our list answers with
		return fmt.Sprintf(records+"?page=%d&perPage=100&fields=id,plan_id,name,cpf,email,start_date,expiry_date,is_group_plan", page)
	}
	s.total = func(answer []byte) int {
		var page struct {
			TotalItems int `json:"totalItems"`
		}
		load.Check(json.Unmarshal(answer, &page))
		return page.TotalItems
	}
}

func (s *service) logIn(collection, email, secret string) (id string) {
	s.header = ""
	var answer struct {
		Token  string `json:"token"`
		Record struct {
			ID string `json:"id"`
		} `json:"record"`
	}
	load.Check(json.Unmarshal(s.ask("POST", "/api/collections/"+collection+"/auth-with-password", fmt.Appendf(nil, `{"identity":%q,"password":%q}`, email, secret)), &answer))
	s.header = "Authorization: " + answer.Token
	return answer.Record.ID
}

// fill creates n people in requests of 1,000 and returns the rows a second.
func (s *service) fill(n int) float64 {
	var took time.Duration
	for range n / 1000 {
		path, body := s.bulk(s.next, s.next+1000)
		s.next += 1000
		var answer []byte
		took += load.Time(1000, func() { answer = s.ask("POST", path, body) }).Elapsed
		s.note(answer)
	}
	return float64(n) / took.Seconds()
}

// note sees that all of PocketBase's batch was created, and keeps the ids that it gave. A batch of ours that failed has
// said so in its answer.
func (s *service) note(answer []byte) {
	if strings.HasPrefix(s.header, "X-Api-Key") {
		return
	}
	var list []struct {
		Status int `json:"status"`
		Body   struct {
			ID string `json:"id"`
		} `json:"body"`
	}
	load.Check(json.Unmarshal(answer, &list))
	for _, one := range list {
		if one.Status != 200 {
			load.Fail("a row of a batch was answered with %d", one.Status)
		}
		s.ids = append(s.ids, one.Body.ID)
	}
}

func (s *service) ask(method, path string, body []byte) []byte {
	return load.Ask(method, s.address, path, s.header, body)
}

func folderSize(folder string) (n int64) {
	load.Check(filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n += load.Must(d.Info()).Size()
		}
		return err
	}))
	return n
}
