package api

import (
	"bytes"
	_ "embed" // the document travels inside the binary
	"encoding/json"
	"net/http"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/vigiahq/vigia/internal/web/api/reference"
)

// document is the contract as partners read it. The tests validate every exchange against the same bytes.
//
//go:embed openapi.yaml
var document []byte

// documentHandler serves the contract at /openapi.yaml.
func documentHandler() http.Handler {
	return reference.StaticHandler(document, "application/yaml")
}

// jsonDocument is the same document in JSON, made when it is first asked for.
var jsonDocument = sync.OnceValues(func() ([]byte, error) {
	compact, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, err
	}
	var readable bytes.Buffer
	if err := json.Indent(&readable, compact, "", "  "); err != nil {
		return nil, err
	}
	return readable.Bytes(), nil
})

// jsonDocumentHandler serves the contract at /openapi.json, for tools that read no YAML.
func jsonDocumentHandler() http.Handler {
	return lazyHandler("openapi.json", func() (http.Handler, error) {
		made, err := jsonDocument()
		if err != nil {
			return nil, err
		}
		return reference.StaticHandler(made, "application/json"), nil
	})
}

// portugueseDocumentHandler serves the contract with its texts in Portuguese at /openapi.pt.yaml.
func portugueseDocumentHandler() http.Handler {
	return lazyHandler("openapi.pt.yaml", func() (http.Handler, error) {
		made, err := reference.TranslateDocument(document)
		if err != nil {
			return nil, err
		}
		return reference.StaticHandler(made, "application/yaml"), nil
	})
}

// madeReference is all pages of the reference, made when one is first asked for: they are the same for every handler.
var madeReference = sync.OnceValues(func() (http.Handler, error) { return reference.NewHandler(document) })

// referenceHandler serves the API reference below /docs/.
func referenceHandler() http.Handler { return lazyHandler("reference", madeReference) }

// lazyHandler builds a handler at its first request, so that a command, or a replica whose documentation is never read,
// does not pay for it. The result depends on the binary alone: a failure is a fault of the build, which the tests find.
func lazyHandler(name string, make func() (http.Handler, error)) http.Handler {
	made := sync.OnceValues(make)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, err := made()
		if err != nil {
			http.Error(w, name, http.StatusInternalServerError)
			return
		}
		h.ServeHTTP(w, r)
	})
}
