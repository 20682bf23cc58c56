// Package buckettest is for tests: an S3 in memory.
package buckettest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const region, access, secret = "sa-east-1", "made-up", "made-up secret"

// S3 has one bucket, called vigia.
type S3 struct {
	// Address opens it.
	Address string
	// Before, if set, sees every request first.
	Before func(*http.Request)

	mu       sync.Mutex
	objects  map[string][]byte
	uploads  map[string]map[int][]byte
	refuse   int
	requests []string
}

// NewFakeS3 starts one, and has the environment hold its credentials.
func NewFakeS3(t testing.TB) *S3 {
	t.Helper()
	s := &S3{objects: map[string][]byte{}, uploads: map[string]map[int][]byte{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret} {
		t.Setenv(name, value)
	}
	s.Address = "s3://vigia?region=" + region + "&use_path_style=true&disable_https=true&endpoint=" + server.URL
	return s
}

// PutObject stores an object.
func (s *S3) PutObject(key string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = content
}

// RefuseRequests has the next n requests fail as they do where a server is busy.
func (s *S3) RefuseRequests(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse, s.requests = n, nil
}

// Requests returns the methods it was asked with since RefuseRequests.
func (s *S3) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// CountUploads counts the objects that are being sent in parts.
func (s *S3) CountUploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// ServeHTTP checks signatures and digests as S3 does, so that a client that leaves them out fails its test.
func (s *S3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Before != nil {
		s.Before(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller went away
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method)
	if s.refuse--; s.refuse >= 0 {
		writeFailure(w, http.StatusServiceUnavailable, "SlowDown")
		return
	}
	claimed := r.Header.Get("X-Amz-Content-Sha256")
	streamed := strings.HasPrefix(claimed, "STREAMING-")
	sum := sha256.Sum256(body)
	altered := !streamed && claimed != "UNSIGNED-PAYLOAD" && hex.EncodeToString(sum[:]) != claimed
	if altered || !isSigned(r) {
		writeFailure(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	if streamed {
		body = joinChunks(body)
	}
	path, found := strings.CutPrefix(r.URL.Path, "/vigia/")
	if !found {
		writeFailure(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	s.serveRequest(w, r, path, body)
}

// joinChunks returns what a body holds that was sent and signed in chunks: SIZE;chunk-signature=..., a line break, the
// bytes, a line break; the last one is empty.
func joinChunks(body []byte) (content []byte) {
	for {
		head, rest, found := bytes.Cut(body, []byte("\r\n"))
		digits, _, _ := strings.Cut(string(head), ";")
		size, err := strconv.ParseInt(digits, 16, 64)
		if !found || err != nil || size == 0 || size > int64(len(rest)) {
			return content
		}
		content, body = append(content, rest[:size]...), rest[min(size+2, int64(len(rest))):]
	}
}

// serveRequest handles one request with a valid signature; the caller holds the lock.
func (s *S3) serveRequest(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	query := r.URL.Query()
	id := query.Get("uploadId")
	switch {
	case r.Method == http.MethodGet && key == "":
		s.listObjects(w, query)
	case r.Method == http.MethodGet:
		content, found := s.objects[key]
		if !found {
			writeFailure(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		http.ServeContent(w, r, "", time.Unix(1_767_323_045, 0), bytes.NewReader(content))
	case r.Method == http.MethodPost && query.Has("uploads"):
		id = strconv.Itoa(len(s.uploads) + 1)
		s.uploads[id] = map[int][]byte{}
		writeAnswer(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case id != "" && s.uploads[id] == nil:
		writeFailure(w, http.StatusNotFound, "NoSuchUpload")
	case r.Method == http.MethodPut && id != "":
		n, _ := strconv.Atoi(query.Get("partNumber"))
		s.uploads[id][n] = body
		w.Header().Set("ETag", entityTag(body))
	case r.Method == http.MethodPost:
		s.joinParts(w, key, id, body)
	case r.Method == http.MethodDelete && id != "":
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		s.objects[key] = body
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	}
}

// joinParts makes an object of the parts that are named, in that order. What is wrong with them is said in an answer of
// status 200, as S3 may.
func (s *S3) joinParts(w http.ResponseWriter, key, id string, body []byte) {
	var named struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	err := xml.Unmarshal(body, &named)
	var whole []byte
	for _, p := range named.Part {
		part := s.uploads[id][p.PartNumber]
		if strings.Trim(entityTag(part), `"`) != strings.Trim(p.ETag, `"`) {
			err = cmp.Or(err, fmt.Errorf("part %d", p.PartNumber))
		}
		whole = append(whole, part...)
	}
	if err != nil {
		writeAnswer(w, "<Error><Code>InvalidPart</Code></Error>")
		return
	}
	s.objects[key] = whole
	delete(s.uploads, id)
	writeAnswer(w, "<CompleteMultipartUploadResult><Bucket>vigia</Bucket></CompleteMultipartUploadResult>")
}

// listObjects answers two names at a time, so that a reader has to ask on.
func (s *S3) listObjects(w http.ResponseWriter, query url.Values) {
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, query.Get("prefix")) && key > query.Get("continuation-token") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var b strings.Builder
	if len(keys) > 2 {
		keys = keys[:2]
		b.WriteString("<IsTruncated>true</IsTruncated><NextContinuationToken>")
		_ = xml.EscapeText(&b, []byte(keys[1])) // a strings.Builder takes everything
		b.WriteString("</NextContinuationToken>")
	}
	for _, key := range keys {
		fmt.Fprintf(
			&b,
			"<Contents><Key>%s</Key><Size>%d</Size><LastModified>2026-01-02T03:04:05.678Z</LastModified></Contents>",
			url.QueryEscape(key),
			len(s.objects[key]),
		)
	}
	writeAnswer(w, "<ListBucketResult><EncodingType>url</EncodingType>%s</ListBucketResult>", b.String())
}

// writeAnswer writes an XML answer.
func writeAnswer(w http.ResponseWriter, format string, args ...any) {
	_, _ = fmt.Fprintf(
		w,
		`<?xml version="1.0" encoding="UTF-8"?>`+format,
		args...) // a caller that went away needs none
}

// writeFailure writes an error as S3 does, with a code that clients decide by.
func writeFailure(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	writeAnswer(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

// entityTag returns the entity tag of a part, quoted; clients only compare it.
func entityTag(part []byte) string {
	sum := sha256.Sum256(part)
	return fmt.Sprintf("%q", hex.EncodeToString(sum[:8]))
}

// isSigned reports whether a request claims to be signed by our key for our region. The signature itself is the
// library's.
func isSigned(r *http.Request) bool {
	day := r.Header.Get("X-Amz-Date")
	scope := strings.Join([]string{access, day[:min(8, len(day))], region, "s3", "aws4_request"}, "/")
	return strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+scope+",")
}
