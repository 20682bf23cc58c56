package api

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// minPacked is from where on packing an answer saves more than it costs.
const minPacked = 1 << 10

// compressAnswer returns what is sent of an answer: packed by gzip where it is large and the caller asked for that. The
// header Vary tells caches about it in both cases.
func compressAnswer(h http.Header, r *request, body []byte) []byte {
	if len(body) <= minPacked || r.route.secret {
		return body
	}
	h.Set("vary", "Accept-Encoding")
	if !takesGzip(r.http.Header["Accept-Encoding"]) {
		return body
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.StatelessCompression) // a known level, and the one that keeps no tables
	if _, err := w.Write(body); err != nil || w.Close() != nil {
		return body // writing to memory does not fail
	}
	h.Set("content-encoding", "gzip")
	return packed.Bytes()
}

// takesGzip reads Accept-Encoding: gzip itself counts before *, and a weight of zero is a no. Where identity is
// preferred to it, the answer stays as it is.
func takesGzip(header []string) bool {
	gzipAt, anyAt, plainAt := -1.0, -1.0, -1.0
	for _, line := range header {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			weight := parseQuality(params)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				gzipAt = max(gzipAt, weight)
			case "*":
				anyAt = weight
			case "identity":
				plainAt = weight
			}
		}
	}
	if gzipAt < 0 {
		gzipAt = anyAt
	}
	return gzipAt > 0 && gzipAt >= plainAt
}

// parseQuality parses ;q=0.5. Unreadable text counts as 0, a refusal: every client can read an answer without
// compression.
func parseQuality(params string) float64 {
	if params == "" {
		return 1
	}
	name, value, _ := strings.Cut(params, "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 0
	}
	weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(weight >= 0 && weight <= 1) {
		return 0
	}
	return weight
}
