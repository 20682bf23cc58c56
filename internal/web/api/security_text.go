package api

import (
	"fmt"
	"net/http"
	"time"
)

// securityTextDays is how long a copy of security.txt may be believed. RFC 9116 recommends less than a year.
const securityTextDays = 180

// serveSecurityText answers /.well-known/security.txt with the contact that the operator named, in the form of RFC
// 9116. The end of its validity moves each day, because the contact is whatever the running server was told.
func (s *Server) serveSecurityText(w http.ResponseWriter, _ *http.Request) {
	expires := s.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, securityTextDays)
	h := w.Header()
	h.Set("content-type", "text/plain; charset=utf-8")
	h.Set("cache-control", "public, max-age=86400")
	h.Set("x-content-type-options", "nosniff")
	// A caller that is gone needs no answer.
	_, _ = fmt.Fprintf(
		w, "Contact: %s\nExpires: %s\nPreferred-Languages: pt, en\n", s.Contact, expires.Format(time.RFC3339),
	)
}
