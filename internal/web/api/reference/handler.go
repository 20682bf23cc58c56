package reference

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Path is where the handler is to be mounted.
const Path = "/docs/"

// policy is the Content-Security-Policy of these pages and of nothing else. They may talk to this server alone, so that
// a key typed into a page cannot be sent elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// NewHandler writes all pages once and serves them. The document is the contract, as YAML.
func NewHandler(document []byte) (http.Handler, error) {
	pages, err := writeReference(document)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	mux := http.NewServeMux()
	for name, content := range pages {
		pattern := Path + name
		if strings.HasSuffix(pattern, "/") {
			pattern += "{$}"
		}
		mux.Handle(pattern, StaticHandler(content, contentTypeOf(name)))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	}), nil
}

// contentTypeOf returns the media type of a file by its name.
func contentTypeOf(name string) string {
	switch {
	case strings.HasSuffix(name, ".css"):
		return "text/css; charset=utf-8"
	case strings.HasSuffix(name, ".js"):
		return "text/javascript; charset=utf-8"
	}
	return "text/html; charset=utf-8"
}

// StaticHandler serves bytes that change only with the binary. Caches keep them but revalidate before each use, which
// costs an empty 304, so that no client reads the contract of an older release. They are written in one piece:
// http.ServeContent would keep 64 KB of buffers for every client that takes its time, which is 200 MB for some
// thousands of them.
func StaticHandler(content []byte, contentType string) http.Handler {
	sum := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", etag)
		h.Set("X-Content-Type-Options", "nosniff")
		if has := r.Header.Get("If-None-Match"); has == "*" || strings.Contains(has, etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content) // the client may have disconnected
	})
}
