package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
)

const pocketBase = "PocketBase"

// service is one side of the CRUD comparison: a server process, and how its requests look.
type service struct {
	address, header, database string
	stop                      func()
	next, rows                int64 // the next person; how many are there in the end
	create                    func(n int64) (path string, body []byte)
	bulk                      func(from, to int64) (path string, body []byte)
	get                       func() (path string)
	list                      func(page int) (path string)
	total                     func(answer []byte) int64
	ids                       []string // PocketBase's, which makes them itself
}

func crud(ctx context.Context, r *report, folder string) ([]group, error) {
	ours, err := startVigia(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer ours.stop()
	theirs, err := startPocketBase(ctx, r, folder)
	if err != nil {
		return nil, err
	}
	defer theirs.stop()
	r.Versions[us] = r.Commit
	sides := map[string]*service{us: ours, pocketBase: theirs}
	names := []string{us, pocketBase}
	g := group{Name: "crud", Title: "Beneficiaries over HTTP", Sides: names}

	bulk := measure{What: "create in batches of 1,000", Unit: "rows/s"}
	each := r.Options.People / r.Options.Rounds / 1000 * 1000
	if each == 0 {
		return nil, fmt.Errorf("-people must be at least 1,000 a round")
	}
	if err := rounds(r.Options.Rounds, &bulk, names, func(name string) (float64, error) { return sides[name].fill(ctx, each) }); err != nil {
		return nil, err
	}
	g.Measures = append(g.Measures, bulk)
	deepest := int(ours.next) / 100
	for _, m := range []struct {
		what string
		next func(s *service) []byte
	}{
		{"create one", func(s *service) []byte {
			path, body := s.create(s.person())
			return s.request(http.MethodPost, path, body)
		}},
		{"get one", func(s *service) []byte { return s.request(http.MethodGet, s.get(), nil) }},
		{"list, first page of 100", func(s *service) []byte { return s.request(http.MethodGet, s.list(1), nil) }},
		{fmt.Sprintf("list, page %d of 100", deepest), func(s *service) []byte { return s.request(http.MethodGet, s.list(deepest), nil) }},
	} {
		one := measure{What: m.what, Unit: "requests/s"}
		if err := rounds(r.Options.Rounds, &one, names, func(name string) (float64, error) { return sides[name].load(ctx, r.Options, m.next) }); err != nil {
			return nil, err
		}
		g.Measures = append(g.Measures, one)
	}
	// What was answered as created must be there.
	for name, s := range sides {
		answer, err := s.ask(ctx, http.MethodGet, s.list(1), nil)
		if err != nil {
			return nil, err
		}
		if s.rows = s.total(answer); s.rows < int64(r.Options.Rounds*each) {
			return nil, fmt.Errorf("%s lists %d people", name, s.rows)
		}
	}
	// Stopped, so that the log of each is emptied into its database.
	size := measure{What: "size of the database", Unit: "bytes a row", Lower: true, Values: map[string]float64{}}
	for name, s := range sides {
		s.stop()
		info, err := os.Stat(s.database)
		if err != nil {
			return nil, err
		}
		size.Values[name] = float64(info.Size()) / float64(s.rows)
	}
	g.Measures = append(g.Measures, size)
	return []group{g}, nil
}

func startVigia(ctx context.Context, folder string) (*service, error) {
	program, err := site.Build(folder)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(folder, "vigia-data")
	key, err := site.Prepare(ctx, data, "")
	if err != nil {
		return nil, err
	}
	address, stop, err := site.Serve(program, data, "")
	if err != nil {
		return nil, err
	}
	s := &service{address: address, header: "X-Api-Key: " + key, database: filepath.Join(data, "vigia.db"), stop: sync.OnceFunc(stop)}
	s.bulk = func(from, to int64) (string, []byte) {
		var list []string
		for n := from; n < to; n++ {
			list = append(list, site.Item(n))
		}
		return "/v1/subscriptions", []byte("[" + strings.Join(list, ",") + "]")
	}
	s.create = func(n int64) (string, []byte) { return s.bulk(n, n+1) }
	s.get = func() string {
		return "/v1/subscriptions/" + site.Plan + "/" + load.CPF(rand.IntN(int(s.next)))
	}
	s.list = func(page int) string { return fmt.Sprintf("/v1/subscriptions?page=%d&page_size=100", page) }
	s.total = func(answer []byte) int64 {
		var page struct {
			Pagination struct {
				TotalItems int64 `json:"total_items"`
			} `json:"pagination"`
		}
		_ = json.Unmarshal(answer, &page)
		return page.Pagination.TotalItems
	}
	return s, nil
}

// startPocketBase starts the program that PocketBase is released as, and makes what a team would: a collection of
// partners that log in, one of beneficiaries that only their partner sees, with the same columns and the same unique
// key.
func startPocketBase(ctx context.Context, r *report, folder string) (*service, error) {
	program := filepath.Join(r.Options.peers, "base")
	r.Versions[pocketBase] = peerVersion(program, "github.com/pocketbase/pocketbase")
	data := filepath.Join(folder, "pocketbase-data")
	const admin, secret = "admin@exemplo.com.br", "senha-de-exemplo-1"
	if out, err := exec.CommandContext(ctx, program, "superuser", "upsert", admin, secret, "--dir", data).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pocketbase (run this with `make compare`): %w\n%s", err, out)
	}
	s := &service{address: site.Free(), database: filepath.Join(data, "data.db")}
	stop, err := site.Start(exec.CommandContext(ctx, program, "serve", "--http", s.address, "--dir", data), "http://"+s.address+"/api/health")
	if err != nil {
		return nil, err
	}
	s.stop = sync.OnceFunc(stop)
	if err := s.set(ctx, admin, secret); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *service) set(ctx context.Context, admin, secret string) error {
	if err := s.logIn(ctx, "_superusers", admin, secret); err != nil {
		return err
	}
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
		{http.MethodPost, "/api/collections", object{"name": "partners", "type": "auth"}},
		{http.MethodPost, "/api/collections", object{
			"name": "beneficiaries", "type": "base", "fields": fields, "listRule": own, "viewRule": own, "createRule": own,
			"indexes": []string{"CREATE UNIQUE INDEX beneficiary_key ON beneficiaries (partner, plan_id, cpf)"},
		}},
		{http.MethodPatch, "/api/settings", object{"batch": object{"enabled": true, "maxRequests": 1000, "timeout": 60, "maxBodySize": 64 << 20}}},
		{http.MethodPost, "/api/collections/partners/records", object{"email": "banco@exemplo.com.br", "password": secret, "passwordConfirm": secret}},
	} {
		raw, err := json.Marshal(step.body)
		if err != nil {
			return err
		}
		if _, err := s.ask(ctx, step.method, step.path, raw); err != nil {
			return err
		}
	}
	return s.speak(ctx, secret)
}

// speak logs in as the partner and says how requests look.
func (s *service) speak(ctx context.Context, secret string) error {
	if err := s.logIn(ctx, "partners", "banco@exemplo.com.br", secret); err != nil {
		return err
	}
	owner, _, _ := strings.Cut(s.ids[0], " ")
	s.ids = nil
	item := func(n int64) string {
		// The same fields, laid flat as a collection has them.
		text := strings.Replace(site.Item(n), `"beneficiary":{`, `"partner":"`+owner+`",`, 1)
		return strings.TrimSuffix(text, "}")
	}
	const records = "/api/collections/beneficiaries/records"
	s.create = func(n int64) (string, []byte) { return records, []byte(item(n)) }
	s.bulk = func(from, to int64) (string, []byte) {
		var list []string
		for n := from; n < to; n++ {
			list = append(list, `{"method":"POST","url":"`+records+`","body":`+item(n)+`}`)
		}
		return "/api/batch", []byte(`{"requests":[` + strings.Join(list, ",") + `]}`)
	}
	s.get = func() string { return records + "/" + s.ids[rand.IntN(len(s.ids))] }
	s.list = func(page int) string {
		// The fields that our list answers with.
		return fmt.Sprintf(records+"?page=%d&perPage=100&fields=id,plan_id,name,cpf,email,start_date,expiry_date,is_group_plan", page)
	}
	s.total = func(answer []byte) int64 {
		var page struct {
			TotalItems int64 `json:"totalItems"`
		}
		_ = json.Unmarshal(answer, &page)
		return page.TotalItems
	}
	return nil
}

func (s *service) logIn(ctx context.Context, collection, email, secret string) error {
	s.header = ""
	raw, err := s.ask(ctx, http.MethodPost, "/api/collections/"+collection+"/auth-with-password", []byte(fmt.Sprintf(`{"identity":%q,"password":%q}`, email, secret)))
	if err != nil {
		return err
	}
	var answer struct {
		Token  string `json:"token"`
		Record struct {
			ID string `json:"id"`
		} `json:"record"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	s.header, s.ids = "Authorization: "+answer.Token, []string{answer.Record.ID}
	return nil
}

func (s *service) person() int64 { s.next++; return s.next - 1 }

// fill creates n people in requests of 1,000 and returns the rows a second.
func (s *service) fill(ctx context.Context, n int) (float64, error) {
	var took time.Duration
	for range n / 1000 {
		path, body := s.bulk(s.next, s.next+1000)
		s.next += 1000
		begin := time.Now()
		answer, err := s.ask(ctx, http.MethodPost, path, body)
		took += time.Since(begin)
		if err != nil {
			return 0, err
		}
		if err := s.note(answer); err != nil {
			return 0, err
		}
	}
	return float64(n) / took.Seconds(), nil
}

// note sees that all of a batch was created, and keeps the ids that PocketBase gave.
func (s *service) note(answer []byte) error {
	if strings.HasPrefix(s.header, "X-Api-Key") {
		if bytes.Contains(answer, []byte(`"failure"`)) {
			return fmt.Errorf("a batch failed: %.300s", answer)
		}
		return nil
	}
	var list []struct {
		Status int `json:"status"`
		Body   struct {
			ID string `json:"id"`
		} `json:"body"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return err
	}
	for _, one := range list {
		if one.Status != http.StatusOK {
			return fmt.Errorf("a row of a batch was answered with %d", one.Status)
		}
		s.ids = append(s.ids, one.Body.ID)
	}
	return nil
}

func (s *service) request(method, path string, body []byte) []byte {
	return load.RequestWith(method, s.address, path, s.header, body)
}

// load sends requests for a round. They are prepared one after another, so that every created person is a new one.
func (s *service) load(ctx context.Context, o options, next func(*service) []byte) (float64, error) {
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	res, err := load.Run(ctx, s.address, o.Conns, o.Length, func(int) []byte {
		<-turn
		defer func() { turn <- struct{}{} }()
		return next(s)
	})
	return res.Rate(), err
}

func (s *service) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	return load.Ask(ctx, method, s.address, path, s.header, body)
}

func folderSize(folder string) (n int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
