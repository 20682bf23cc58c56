package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"golang.org/x/text/unicode/norm"
)

// exchange is a made-up request and answer, written as a person would.
type exchange struct {
	method, path, body string
	status             int
	header             map[string]string // over the plain ones; "" removes
	answer             string
}

func (e exchange) verify(c *contract) error {
	req := httptest.NewRequest(e.method, e.path, nil)
	req.Header.Set("x-api-key", "vg_test_example")
	res := &http.Response{StatusCode: e.status, Header: http.Header{
		"Content-Type": {"application/json"}, "X-Request-Id": {"req-1"},
	}}
	if e.status != http.StatusUnauthorized && e.status != http.StatusForbidden {
		res.Header.Set("RateLimit", `"partner";r=399;t=1`)
		res.Header.Set("RateLimit-Policy", `"partner";q=200;w=1`)
	}
	if e.status >= http.StatusBadRequest {
		res.Header.Set(codeHeader, "request.invalid")
	}
	for name, value := range e.header {
		res.Header.Set(name, value)
		if value == "" {
			res.Header.Del(name)
		}
	}
	var body []byte
	if e.body != "" {
		body = []byte(e.body)
	}
	return c.verify(req, body, res, []byte(e.answer))
}

const (
	added     = `{"status":200,"description":"Dados adicionados com sucesso."}`
	watch     = `{"value":"ana.souza@exemplo.com.br","type":"email","userHash":"u1"}`
	invalid   = `{"statusCode":400,"message":"Request Inválida. Dados de entrada inválidos."}`
	forbidden = `{"statusCode":403,"message":"Request Proibida."}`
	noMethod  = `{"statusCode":405,"message":"Método não permitido."}`
	covered   = `{"detalhesCobertura":{"plano":"P","limiteCobertura":1.5,"tipoCobertura":[],"condições":"c","exclusões":"e"}}`
	nothing   = `{"result":"failure","total_created_items":0,"total_not_created_items":1,` +
		`"not_created_items":[{"cpf":"","plan_id":"","errors":["item: deve ser um objeto"]}]}`
)

var detail = map[string]string{"x-error-detail": "value: not an e-mail address"}

func TestContractAccepts(t *testing.T) {
	c := loadContract(t)
	for name, e := range map[string]exchange{
		"accepted":               {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 200, answer: added},
		"without prefix":         {method: "POST", path: "/cyber/monitoring", body: watch, status: 200, answer: added},
		"bad request refused":    {method: "POST", path: "/v1/cyber/monitoring", body: `[`, status: 400, header: detail, answer: invalid},
		"slash in a user hash":   {method: "GET", path: "/v1/cyber/monitoring/a%2Fb%3D", status: 200, answer: `[]`},
		"bad key, known path":    {method: "GET", path: "/v1/cyber/services", status: 403, answer: forbidden},
		"bad key, subscriptions": {method: "GET", path: "/subscriptions", status: 401, answer: `{"message":"Não autorizado"}`},
		"unknown member sent":    {method: "POST", path: "/v1/cyber/password-check", body: `{"passwordHashPrefix":"5baa61e4c9","x":1}`, status: 200, header: map[string]string{"cache-control": "no-store", "x-corpus": "sha1; entries=7; date=2026-11-15"}, answer: `{"exposed":true,"recommendations":["Troque."]}`},
		"wrong method":           {method: "PUT", path: "/v1/cyber/epp", status: 405, header: map[string]string{"Allow": "GET, HEAD, POST"}, answer: noMethod},
		"wrong method, bad key":  {method: "PUT", path: "/v1/cyber/epp", status: 403, answer: forbidden},
		"unknown path":           {method: "GET", path: "/v1/cyber/nada", status: 404, answer: `{"statusCode":404,"message":"Recurso não encontrado."}`},
		"unknown subscriptions":  {method: "GET", path: "/subscriptions/a/b/c", status: 404, answer: `{"message":"Recurso não encontrado."}`},
		"head":                   {method: "HEAD", path: "/v1/cyber/services", status: 200},
		"bulk with a bad item":   {method: "POST", path: "/subscriptions", body: `[5]`, status: 200, answer: nothing},
		"cover":                  {method: "GET", path: "/v1/cyber/insurance/u1", status: 200, answer: covered},
		"outside the contract":   {method: "GET", path: "/healthz", status: 200, answer: `ok`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := e.verify(c); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestContractRefuses(t *testing.T) {
	c := loadContract(t)
	limited := `{"statusCode":429,"message":"Limite de requisições excedido. Tente novamente em instantes."}`
	for name, e := range map[string]exchange{
		"additional member":         {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 200, answer: `{"status":200,"description":"Dados adicionados com sucesso.","id":"1"}`},
		"additional member, error":  {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 400, header: detail, answer: `{"statusCode":400,"message":"Request Inválida. Dados de entrada inválidos.","field":"value"}`},
		"other success text":        {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 200, answer: `{"status":200,"description":"ok"}`},
		"wrong message":             {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 403, answer: `{"statusCode":403,"message":"Request proibida."}`},
		"statusCode not the status": {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 400, header: detail, answer: forbidden},
		"shape of the other area":   {method: "GET", path: "/v1/subscriptions", status: 401, answer: `{"statusCode":401,"message":"Não autorizado"}`},
		"no request id":             {method: "GET", path: "/v1/cyber/monitoring/u1", status: 200, header: map[string]string{"x-request-id": ""}, answer: `[]`},
		"no code on a 400":          {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 400, header: map[string]string{"x-error-detail": "value: bad", "x-error-code": ""}, answer: invalid},
		"a code that is not listed": {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 400, header: map[string]string{"x-error-detail": "value: bad", "x-error-code": "made.up"}, answer: invalid},
		"no detail on a 400":        {method: "POST", path: "/v1/cyber/monitoring", body: watch, status: 400, answer: invalid},
		"no Allow on a 405":         {method: "PUT", path: "/v1/cyber/epp", status: 405, answer: noMethod},
		"no Retry-After on a 429":   {method: "GET", path: "/v1/cyber/services", status: 429, header: map[string]string{"RateLimit": `"partner";r=0;t=1`}, answer: limited},
		"no RateLimit on a 429":     {method: "GET", path: "/v1/cyber/services", status: 429, header: map[string]string{"Retry-After": "1", "RateLimit": ""}, answer: limited},
		"no RateLimit on a 200":     {method: "GET", path: "/v1/cyber/monitoring/u1", status: 200, header: map[string]string{"RateLimit": ""}, answer: `[]`},
		"Allow on a 403":            {method: "GET", path: "/v1/cyber/services", status: 403, header: map[string]string{"Allow": "GET"}, answer: forbidden},
		"cacheable password":        {method: "POST", path: "/v1/cyber/password-check", body: `{"passwordHashPrefix":"5baa61e4c9"}`, status: 200, answer: `{"exposed":true,"recommendations":[]}`},
		"password without corpus":   {method: "POST", path: "/v1/cyber/password-check", body: `{"passwordHashPrefix":"5baa61e4c9"}`, status: 200, header: map[string]string{"cache-control": "no-store"}, answer: `{"exposed":true,"recommendations":[]}`},
		"undocumented status":       {method: "GET", path: "/v1/cyber/services", status: 418, answer: `{}`},
		"401 in the cyber area":     {method: "GET", path: "/v1/cyber/services", status: 401, answer: `{"statusCode":401,"message":"Não autorizado"}`},
		"undocumented method":       {method: "PUT", path: "/v1/cyber/services", status: 200, answer: `{"services":[]}`},
		"undocumented path":         {method: "GET", path: "/v1/cyber/nada", status: 200, answer: `{}`},
		"unknown path, no id":       {method: "GET", path: "/v1/cyber/nada", status: 404, header: map[string]string{"x-request-id": ""}, answer: `{"statusCode":404,"message":"Recurso não encontrado."}`},
		"unknown path, wrong shape": {method: "GET", path: "/v1/subscriptions/a/b/c", status: 404, answer: `{"statusCode":404,"message":"Recurso não encontrado."}`},
		"decomposed member name":    {method: "GET", path: "/v1/cyber/insurance/u1", status: 200, answer: strings.Replace(covered, "condições", norm.NFD.String("condições"), 1)},
		"missing member":            {method: "GET", path: "/v1/cyber/insurance/u1", status: 200, answer: strings.Replace(covered, `,"exclusões":"e"`, "", 1)},
		"number as text":            {method: "GET", path: "/v1/cyber/insurance/u1", status: 200, answer: strings.Replace(covered, "1.5", `"1.5"`, 1)},
		"member twice":              {method: "GET", path: "/v1/cyber/services", status: 200, answer: `{"services":[],"services":[]}`},
		"no millis":                 {method: "POST", path: "/v1/cyber/epp", body: `{"operatingSystem":"ios","type":"antivirus","deviceName":"d","userHash":"u"}`, status: 200, answer: `{"eppKey":"k","validUntil":"2026-01-31T03:00:00Z"}`},
		"bad request accepted":      {method: "POST", path: "/v1/cyber/monitoring", body: `{"value":"x","type":"domain","userHash":"u1"}`, status: 200, answer: added},
		"bad item counted created":  {method: "POST", path: "/v1/subscriptions", body: `[5]`, status: 200, answer: `{"result":"success","total_created_items":1,"total_not_created_items":0,"not_created_items":[]}`},
		"score over 100":            {method: "GET", path: "/v1/cyber/score/u1", status: 200, answer: `{"breachScore":101,"assessmentScore":0,"recommendations":[]}`},
		"not JSON":                  {method: "GET", path: "/v1/cyber/services", status: 200, header: map[string]string{"Content-Type": "text/plain"}, answer: `{"services":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			if e.verify(c) == nil {
				t.Error("passed")
			}
		})
	}
}

func TestContractCountsWhatItSaw(t *testing.T) {
	c := loadContract(t)
	success := func(status int) bool { return status < 300 }
	if n := len(c.unseen(success)); n != 14 {
		t.Fatalf("%d operations unseen at first", n)
	}
	for _, e := range []exchange{
		{method: "GET", path: "/v1/cyber/monitoring/u1", status: 200, answer: `[]`},
		{method: "GET", path: "/v1/cyber/services", status: 403, answer: forbidden},
		{method: "PUT", path: "/v1/cyber/epp", status: 405, header: map[string]string{"Allow": "GET, HEAD, POST"}, answer: noMethod},
	} {
		if err := e.verify(c); err != nil {
			t.Fatal(err)
		}
	}
	if missing := c.unseen(success); len(missing) != 13 || slices.Contains(missing, "listMonitoredAssets") {
		t.Errorf("unseen successes: %v", missing)
	}
	if missing := c.unseen(func(s int) bool { return s == 403 }); len(missing) != 13 ||
		slices.Contains(missing, "listSupportServices") {
		t.Errorf("unseen refusals: %v", missing)
	}
	if missing := c.unseen(func(s int) bool { return s == 405 }); len(missing) != 14 {
		t.Errorf("a method that does not exist counted for an operation: %v", missing)
	}
	if table := c.coverage(); !strings.Contains(table, "200:1") || strings.Count(table, "\n") != len(c.operations()) {
		t.Errorf("coverage:\n%s", table)
	}
}

// Every example of every answer must hold, and must no longer hold with one more member in any of its objects or one
// header less: so no schema was left open by mistake.
func TestContractIsClosed(t *testing.T) {
	c := loadContract(t)
	for _, op := range c.operations() {
		defined := c.doc.Paths.Value(op.path).GetOperation(op.method)
		if op.method == http.MethodPost && len(defined.RequestBody.Value.Content["application/json"].Examples) == 0 {
			t.Errorf("%s: no example of a request", op.id)
		}
		for status, answer := range defined.Responses.Map() {
			examples := answer.Value.Content["application/json"].Examples
			if len(examples) == 0 {
				t.Errorf("%s %s: no example of an answer", op.id, status)
			}
			for name, example := range examples {
				t.Run(fmt.Sprintf("%s/%s/%s", op.id, status, name), func(t *testing.T) {
					tryExample(t, c, op, status, answer.Value, example.Value.Value)
				})
			}
		}
	}
}

func tryExample(t *testing.T, c *contract, op operation, status string, answer *openapi3.Response, value any) {
	code, err := strconv.Atoi(status)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.NewReplacer("{userhash}", "u1", "{id}", "i1", "{key}", "k1", "{step}", "s1", "{plan_id}", "p1", "{beneficiary_cpf}", "11144477735", "{name}", "loja").Replace(op.path)
	for _, p := range c.doc.Paths.Value(op.path).GetOperation(op.method).Parameters {
		if p.Value.In == openapi3.ParameterInQuery && p.Value.Required {
			path += fmt.Sprintf("?%s=%v", p.Value.Name, p.Value.Example)
		}
	}
	e := exchange{method: op.method, path: "/v1" + path, status: code, header: map[string]string{}}
	for name, header := range answer.Headers {
		e.header[name] = fmt.Sprint(header.Value.Example)
	}
	try := func(header map[string]string) error {
		body, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		e.header, e.answer = header, string(body)
		return e.verify(c)
	}
	full := e.header
	if err := try(full); err != nil {
		t.Fatalf("the example does not hold: %v", err)
	}
	for name, header := range answer.Headers {
		if header.Value.Required {
			fewer := maps.Clone(full)
			fewer[name] = ""
			if try(fewer) == nil {
				t.Errorf("holds without the header %s", name)
			}
		}
	}
	for _, object := range objects(value) {
		object["undocumented"] = true
		if try(full) == nil {
			t.Errorf("holds with a member more in %v", object)
		}
		delete(object, "undocumented")
	}
}

// objects lists a JSON value's objects, itself included.
func objects(value any) []map[string]any {
	var list []map[string]any
	switch v := value.(type) {
	case map[string]any:
		list = append(list, v)
		for _, member := range v {
			list = append(list, objects(member)...)
		}
	case []any:
		for _, item := range v {
			list = append(list, objects(item)...)
		}
	}
	return list
}
