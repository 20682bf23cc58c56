package api

import (
	_ "embed" // the document travels inside the binary
	"net/http"
	"sync"

	"github.com/vigiahq/vigia/internal/api/reference"
)

// document is the contract as partners read it. The tests validate every exchange against the same bytes.
//
//go:embed openapi.yaml
var document []byte

// documentHandler serves the contract at /openapi.yaml.
func documentHandler() http.Handler {
	return reference.Static(document, "application/yaml")
}

// referenceHandler serves the API reference below /docs/. Its pages are written when the first one is asked for: a command or a
// replica that nobody reads at does not pay for them. They depend on the binary alone, so a failure is one of the build, which a
// test would have met.
func referenceHandler() http.Handler {
	pages := sync.OnceValues(func() (http.Handler, error) { return reference.Handler(document) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, err := pages()
		if err != nil {
			http.Error(w, "reference", http.StatusInternalServerError)
			return
		}
		h.ServeHTTP(w, r)
	})
}
