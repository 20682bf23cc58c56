// Command collections writes the requests of the partner contract as a Postman collection, which Bruno, Insomnia and
// Hoppscotch import too: one request per operation with the contract's own example, and variables for what differs from
// partner to partner.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/web/api/reference"
)

//go:generate go run .

const (
	documentFile   = "../../internal/web/api/openapi.yaml"
	collectionFile = "vigia.postman_collection.json"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "collections:", err)
		os.Exit(1)
	}
}

// run generates the collection from the API document and overwrites the file in the repository.
func run() error {
	document, err := os.ReadFile(documentFile)
	if err != nil {
		return err
	}
	text, err := collection(document)
	if err != nil {
		return err
	}
	return os.WriteFile(collectionFile, text, 0o644) //nolint:gosec // a file of the repository, for everybody
}

// The parts of a Postman collection, version 2.1, that we use.
type (
	file struct {
		Info     info       `json:"info"`
		Auth     auth       `json:"auth"`
		Variable []keyValue `json:"variable"`
		Item     []folder   `json:"item"`
	}
	info struct {
		ID          string `json:"_postman_id"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      string `json:"schema"`
	}
	auth struct {
		Type   string     `json:"type"`
		APIKey []keyValue `json:"apikey"`
	}
	keyValue struct {
		Key         string `json:"key"`
		Value       string `json:"value"`
		Type        string `json:"type,omitempty"`
		Description string `json:"description,omitempty"`
		Disabled    bool   `json:"disabled,omitempty"`
	}
	folder struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Item        []item `json:"item"`
	}
	item struct {
		Name    string  `json:"name"`
		Request request `json:"request"`
		Event   []event `json:"event,omitempty"`
	}
	// event is a script that runs when the answer has come.
	event struct {
		Listen string `json:"listen"`
		Script script `json:"script"`
	}
	script struct {
		Type string   `json:"type"`
		Exec []string `json:"exec"`
	}
	request struct {
		Method      string     `json:"method"`
		Description string     `json:"description"`
		Header      []keyValue `json:"header"`
		URL         address    `json:"url"`
		Body        *body      `json:"body,omitempty"`
	}
	address struct {
		Raw      string     `json:"raw"`
		Host     []string   `json:"host"`
		Path     []string   `json:"path"`
		Query    []keyValue `json:"query,omitempty"`
		Variable []keyValue `json:"variable,omitempty"`
	}
	body struct {
		Mode    string  `json:"mode"`
		Raw     string  `json:"raw"`
		Options options `json:"options"`
	}
	options struct {
		Raw language `json:"raw"`
	}
	language struct {
		Language string `json:"language"`
	}
)

// collection is the whole file. The same contract gives the same bytes.
func collection(document []byte) ([]byte, error) {
	c, err := reference.ParseContract(document)
	if err != nil {
		return nil, err
	}
	f := file{
		Info: info{
			ID: "6b0f3c1e-5a64-4a3a-9d0e-7669676961a1", Name: c.Title + " " + c.Version, Description: c.Description,
			Schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
		},
		Auth: auth{"apikey", []keyValue{
			{Key: "key", Value: "x-api-key", Type: "string"},
			{Key: "value", Value: "{{key}}", Type: "string"},
			{Key: "in", Value: "header", Type: "string"},
		}},
		Variable: []keyValue{
			{Key: "url", Value: "http://127.0.0.1:8080"},
			{Key: "key", Value: "vg_test_..."},
			{
				Key:         "webhookUrl",
				Value:       "https://example.com/vigia",
				Description: "An address of yours that may be called.",
			},
		},
	}
	for _, tag := range c.Tags {
		f.Item = append(f.Item, folder{Name: tag.Name, Description: tag.Description})
	}
	f.Item = append(
		f.Item,
		folder{Name: "Clean up", Description: "What ends or removes what the requests above have made."},
	)
	operations := slices.Clone(c.Operations)
	slices.SortStableFunc(operations, func(a, b reference.Operation) int { return rank[a.ID] - rank[b.ID] })
	for _, op := range operations {
		at := slices.IndexFunc(c.Tags, func(tag reference.Tag) bool { return tag.Name == op.Tag })
		if ending[op.ID] {
			at = len(c.Tags)
		}
		it := item{Name: op.Summary, Request: requestOf(op)}
		lines := append(assertionsOf(op), captures[op.ID]...)
		it.Event = []event{{Listen: "test", Script: script{Type: "text/javascript", Exec: lines}}}
		f.Item[at].Item = append(f.Item[at].Item, it)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ending are the operations that take away what others need. They come last, so that the collection can be run from
// top to bottom.
var ending = map[string]bool{
	"removeMonitoredAsset": true,
	"removeExtraAsset":     true,
	"cancelCase":           true,
	"revokeProtectionKey":  true,
	"removeWebhook":        true,
	"revokeKey":            true,
	"resolveFinding":       true,
	"advanceSandboxClock":  true,
}

// rank moves operations to the front or to the end of their folder: what others need, and what needs others.
var rank = map[string]int{"listSupportServices": -1, "resolveFinding": -1, "messageOfEvent": 1}

// keep is the script that keeps a value of an answer for the requests that follow.
func keep(variable, path string) string {
	return fmt.Sprintf("pm.collectionVariables.set(%q, pm.response.json()%s);", variable, path)
}

// captures are what is kept of the answer of an operation.
var captures = map[string][]string{
	"listMonitoredAssets": {keep("assetId", "[0].id")},
	"listSupportServices": {keep("serviceId", ".services[0]._id")},
	"openSupportCase":     {keep("caseId", ".task.id")},
	"issueProtectionKey":  {keep("eppKey", ".eppKey")},
	"moveProtectionKey":   {keep("eppKey", ".eppKey")},
	"listExtraAssets":     {keep("extraId", "[0].id")},
	"listFindings":        {keep("findingId", "[0].id")},
	"listAdvice":          {keep("catalogId", "[0].catalogId")},
	"listEvents":          {keep("eventId", ".events[0].id")},
	"createWebhook":       {keep("webhookId", ".id")},
	"createKey":           {keep("apiKeyId", ".id")},
	"rollKey":             {keep("apiKeyId", ".id")},
}

// firstRun are the answers of operations that cannot succeed in a first run with a first key: no free time was offered
// and no case is resolved yet, and the scopes credentials and privacy are given on request.
var firstRun = map[string]string{
	"rebookCase":            "409",
	"rateCase":              "409",
	"checkCredentialPrefix": "403",
	"requestErasure":        "403",
	"getErasure":            "403",
	"cancelErasure":         "403",
}

// assertionsOf returns what Postman checks of an answer: its status, its id, and the members that it must have.
func assertionsOf(op reference.Operation) []string {
	at := slices.IndexFunc(op.Responses, func(r reference.Response) bool { return strings.HasPrefix(r.Status, "2") })
	if at < 0 {
		return nil
	}
	status := op.Responses[at].Status
	if other := firstRun[op.ID]; other != "" {
		return []string{fmt.Sprintf(
			`pm.test("answers %s, or %s in a first run", () => pm.expect(pm.response.code).to.be.oneOf([%s, %s]));`,
			status, other, status, other,
		)}
	}
	lines := []string{
		fmt.Sprintf(`pm.test("answers %s", () => pm.response.to.have.status(%s));`, status, status),
		`pm.test("names the request", () => pm.response.to.have.header("x-request-id"));`,
	}
	for _, m := range op.Responses[at].Members {
		if m.Required && !strings.ContainsAny(m.Name, ".[") {
			lines = append(lines, fmt.Sprintf(
				`pm.test("has %s", () => pm.expect(pm.response.json()).to.have.property(%q));`, m.Name, m.Name,
			))
		}
	}
	return lines
}

// chained puts the variables in place of the ids of the contract's examples, and values that the sandbox knows.
var chained = strings.NewReplacer(
	"evt_0198c0de-7a00-7000-8000-0000000000e1", "{{eventId}}",
	"whe_0198c0de-7a00-7000-8000-0000000000f1", "{{webhookId}}",
	"key_0198c0de-7a00-7000-8000-0000000000b1", "{{apiKeyId}}",
	"ek_0198c0de-7a00-7000-8000-0000000000b1", "{{eppKey}}",
	"K7M2Q-9RTXW-4HNPC-VD3FJ-6YGA8", "{{eppKey}}",
	"cs_0198c0de-7a00-7000-8000-0000000000c1", "{{caseId}}",
	"as_0198c0de-7a00-7000-8000-000000000001", "{{assetId}}",
	"as_0198c0de-7a00-7000-8000-000000000011", "{{extraId}}",
	"fd_0198c0de-7a00-7000-8000-0000000000d1", "{{findingId}}",
	"sv_0198c0de-7a00-7000-8000-0000000000a1", "{{serviceId}}",
	"https://parceiro.exemplo.com.br/vigia", "{{webhookUrl}}",
	"ana.souza@exemplo.com.br", "ana@vazamento.test",
)

// requestOf returns an operation as a request of the collection, with the examples of the document. Optional query
// parameters are there but disabled.
func requestOf(op reference.Operation) request {
	r := request{Method: op.Method, Description: op.Description, Header: []keyValue{}}
	path := "v1" + strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	r.URL = address{Raw: "{{url}}/" + path, Host: []string{"{{url}}"}, Path: strings.Split(path, "/")}
	if op.Body != "" {
		r.Header = append(r.Header, keyValue{Key: "content-type", Value: "application/json"})
		r.Body = &body{"raw", chained.Replace(op.Body), options{language{"json"}}}
	}
	if op.Keyed() {
		r.Header = append(r.Header, keyValue{Key: "idempotency-key", Value: "{{$guid}}"})
	}
	for _, p := range op.Parameters {
		v := keyValue{Key: p.Name, Value: chained.Replace(p.Example), Description: p.Description}
		switch p.In {
		case "path":
			r.URL.Variable = append(r.URL.Variable, v)
		case "query":
			v.Disabled = !p.Required
			r.URL.Query = append(r.URL.Query, v)
			if p.Required {
				r.URL.Raw += "?" + v.Key + "=" + v.Value
			}
		case "header":
			if p.Name == "x-user-hash" {
				v.Disabled = true
				r.Header = append(r.Header, v)
			}
		}
	}
	return r
}
