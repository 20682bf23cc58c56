package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the document and the page travel inside the binary
	"encoding/hex"
	"net/http"
	"time"

	"github.com/swaggest/swgui/v5emb"
)

// document is the contract as partners read it. The tests validate every exchange against the same bytes.
//
//go:embed openapi.yaml
var document []byte

//go:embed reference/index.html
var referencePage []byte

//go:embed reference/start.js
var referenceScript []byte

const (
	documentPath  = "/openapi.yaml"
	referencePath = "/docs/"
)

// referencePolicy is the Content-Security-Policy of the reference page and of nothing else. The library that brings
// Swagger UI also brings a page, but one with inline scripts and styles; ours starts the same viewer from a file, so that
// nothing inline is allowed. The viewer's icons are data addresses. It may talk to this server alone, so that a key typed
// into the page cannot be sent elsewhere.
const referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// documentHandler serves the contract at /openapi.yaml.
func documentHandler() http.Handler {
	return fileHandler(document, "application/yaml")
}

// referenceHandler serves the API reference below /docs/. It works without any other network: all scripts and styles are
// in the binary. It is to be mounted at exactly that path.
func referenceHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(referencePath+"{$}", fileHandler(referencePage, "text/html; charset=utf-8"))
	mux.Handle(referencePath+"start.js", fileHandler(referenceScript, "text/javascript; charset=utf-8"))
	mux.Handle(referencePath, v5emb.New("Vigia", documentPath, referencePath)) // the viewer's own scripts, styles and icons
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", referencePolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// fileHandler serves bytes that change only with the binary. Caches keep them but ask before each use, which costs an
// empty 304, so that nobody reads the contract of yesterday's release.
func fileHandler(content []byte, contentType string) http.Handler {
	sum := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", etag)
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}
