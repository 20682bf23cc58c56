// Command collections writes the requests of the partner contract as a Postman collection, which Bruno, Insomnia and
// Hoppscotch import too: one request per operation with the contract's own example, and variables for what differs from
// partner to partner.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/vigiahq/vigia/internal/api/reference"
)

//go:generate go run .

const (
	documentFile   = "../../internal/api/openapi.yaml"
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
		Auth: auth{"apikey", []keyValue{{Key: "key", Value: "x-api-key", Type: "string"}, {Key: "value", Value: "{{key}}", Type: "string"},
			{Key: "in", Value: "header", Type: "string"}}},
		Variable: []keyValue{{Key: "url", Value: "http://127.0.0.1:8080"}, {Key: "key", Value: "vg_test_..."}},
	}
	for _, tag := range c.Tags {
		group := folder{Name: tag.Name, Description: tag.Description}
		for _, op := range c.Operations {
			if op.Tag == tag.Name {
				group.Item = append(group.Item, item{op.Summary, requestOf(op)})
			}
		}
		f.Item = append(f.Item, group)
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

// requestOf returns an operation as a request of the collection, with the examples of the document. Optional query
// parameters are there but disabled.
func requestOf(op reference.Operation) request {
	r := request{Method: op.Method, Description: op.Description, Header: []keyValue{}}
	path := "v1" + strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	r.URL = address{Raw: "{{url}}/" + path, Host: []string{"{{url}}"}, Path: strings.Split(path, "/")}
	if op.Body != "" {
		r.Header = append(r.Header, keyValue{Key: "content-type", Value: "application/json"})
		r.Body = &body{"raw", op.Body, options{language{"json"}}}
	}
	if op.Keyed() {
		r.Header = append(r.Header, keyValue{Key: "idempotency-key", Value: "{{$guid}}"})
	}
	for _, p := range op.Parameters {
		v := keyValue{Key: p.Name, Value: p.Example, Description: p.Description}
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
