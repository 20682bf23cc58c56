package webhook

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxEventID bounds the id of an event in bytes.
const maxEventID = 128

// SignHeaders sets the three headers for one attempt. The id names the event and stays the same on every attempt; at is
// the time of this attempt. Each key adds one signature, in the order given.
func SignHeaders(header http.Header, id string, at time.Time, body []byte, keys []Key) error {
	if !validEventID(id) {
		// A dot in the id would let id and timestamp change places in the signed text.
		return ErrSign.Note("event id must be 1 to %d letters, digits, '_' or '-'", maxEventID)
	}
	if len(keys) == 0 {
		return ErrSign.Note("an endpoint must have a key")
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	content := make([]byte, 0, len(id)+len(timestamp)+len(body)+2)
	content = append(content, id...)
	content = append(content, '.')
	content = append(content, timestamp...)
	content = append(content, '.')
	content = append(content, body...)

	signatures := make([]string, 0, len(keys))
	for _, key := range keys {
		if !isUsableKey(key) {
			return ErrSign.Note("a key is empty")
		}
		signatures = append(signatures, key.Scheme()+","+base64.StdEncoding.EncodeToString(key.signContent(content)))
	}
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, timestamp)
	header.Set(HeaderSignature, strings.Join(signatures, " "))
	return nil
}

// isUsableKey refuses the zero value of a key: an empty HMAC key signs without complaint, and anybody can forge it.
func isUsableKey(key Key) bool {
	switch k := key.(type) {
	case Secret:
		return len(k.key) >= minSecret
	case SigningKey:
		return len(k.key) > 0
	}
	return false
}

// validEventID reports whether an ID is safe in a header and in the signed text: letters, digits, dashes and
// underscores.
func validEventID(id string) bool {
	if id == "" || len(id) > maxEventID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
