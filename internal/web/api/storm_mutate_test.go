package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// mutate changes one thing.
func (x *seedling) mutate(luck *rand.Rand) {
	switch luck.IntN(11) {
	case 10:
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write([]byte(x.body)) // into memory
		_ = w.Close()
		x.body, x.header["Content-Encoding"] = packed.String(), []string{"gzip"}
	case 0, 1, 2, 3:
		x.mutateMember(luck)
	case 4:
		x.body = string(garble([]byte(x.body), luck))
	case 5:
		x.mutatePath(luck)
	case 6:
		x.mutateQuery(luck)
	case 7, 8:
		x.mutateHeader(luck)
	case 9:
		x.method = pick(luck, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW", "get",
			"PROPFIND")
	}
}

func pick[T any](luck *rand.Rand, list ...T) T { return list[luck.IntN(len(list))] }

// mutateMember changes a value of the body, leaves a member out, doubles it or adds one.
func (x *seedling) mutateMember(luck *rand.Rand) {
	fields := stringsOf(x.body)
	if len(fields) == 0 {
		pick(luck, x.mutatePath, x.mutateQuery, x.mutateHeader)(luck)
		return
	}
	right := pick(luck, fields...)
	at := strings.Index(x.body, quoted(right))
	switch {
	case at < 0:
		x.body = string(garble([]byte(x.body), luck))
	case luck.IntN(6) == 0:
		x.body = x.body[:at] + x.body[at+len(quoted(right)):] // neither value nor, perhaps, sense
	case luck.IntN(8) == 0:
		x.body = strings.Replace(x.body, "{", pick(luck, `{"x":1,`, `{"value":"a",`, `{"userHash":"`+stormMark+`",`,
			`{"cpf":1,`, `{"a":{"a":[{"a":[]}]},`), 1+luck.IntN(2))
	case luck.IntN(20) == 0:
		x.body = x.body[:at] + strings.Repeat(" ", 66<<10) + x.body[at:]
	default:
		x.body = x.body[:at] + pick(luck, mutations(right)...) + x.body[at+len(quoted(right)):]
	}
}

// garble changes bytes without knowing what they mean.
func garble(body []byte, luck *rand.Rand) []byte {
	body = bytes.Clone(body)
	for range 1 + luck.IntN(4) {
		at := luck.IntN(len(body) + 1)
		switch luck.IntN(5) {
		case 0:
			body = body[:at]
		case 1:
			body = slices.Insert(body, at, byte(luck.IntN(256)))
		case 2:
			body = slices.Insert(body, at, []byte(pick(luck, "[", "]", "{", "}", ",", ":", `"`, `\`, "\x00", "\ufeff",
				"null", "1e999", `\ud800`, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["))...)
		case 3:
			if at < len(body) {
				body[at] ^= 1 << luck.IntN(8)
			}
		case 4:
			body = append(body, body[at:]...)
		}
		if len(body) > 1<<20 {
			return body
		}
	}
	return body
}

// mutatePath changes a segment, or the number of segments.
func (x *seedling) mutatePath(luck *rand.Rand) {
	path, query, asked := strings.Cut(x.path, "?")
	parts := strings.Split(path, "/")
	at := len(parts) - 1
	if luck.IntN(3) == 0 {
		at = 1 + luck.IntN(len(parts)-1)
	}
	switch luck.IntN(5) {
	case 0:
		parts[at] = url.PathEscape(unquotedText(pick(luck, mutations(parts[at])...)))
	case 1:
		parts[at] = pick(luck, "", ".", "..", "%2e%2e", "%2F", "%2f%2f", "%00", "%", "%zz", "%ff", "a%20b", "ç", "*",
			"{id}", "a;b", "a+b", strings.Repeat("x", 300), "%E2%80%AE", "~", "'")
	case 2:
		parts = slices.Insert(parts, at, pick(luck, "", "x", "..", "v1", "resolve"))
	case 3:
		parts = slices.Delete(parts, at, at+1)
	case 4:
		parts[at] = pick(luck, strings.ToUpper(parts[at]), parts[at]+"/", "%"+fmt.Sprintf("%02X", parts[at][:min(1,
			len(parts[at]))])+parts[at][min(1, len(parts[at])):])
	}
	if path = strings.Join(parts, "/"); path == "" {
		path = "/"
	}
	if x.path = path; asked {
		x.path += "?" + query
	}
}

func unquotedText(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) != nil {
		return raw
	}
	return text
}

func (x *seedling) mutateQuery(luck *rand.Rand) {
	name := pick(luck, "page", "page_size", "limit", "after", "userHash", "dry_run", "dryRun", "x", "", "userhash",
		"%zz", "a;b")
	value := pick(luck, "1", "0", "-1", "true", "false", "", "%", "%zz", "a b", "9999999999999999999", "1e3", "null",
		";", "%00", "ç", "+", "a=b=c", strings.Repeat("9", 400), stormMark)
	x.path += pick(luck, "?", "&", "&&", "?&", ";") + name + pick(luck, "=", "", "==") + strings.ReplaceAll(value,
		" ", "%20")
	if before, after, ok := strings.Cut(x.path, "?"); ok {
		x.path = before + "?" + strings.TrimLeft(strings.ReplaceAll(after, "?", "&"), "&")
	}
}

func (x *seedling) mutateHeader(luck *rand.Rand) {
	value := pick(luck, "", "a", "application/json", "text/plain", "application/json; charset=utf-16", "gzip",
		"deflate, gzip", "identity", "br", "é", strings.Repeat("k", 256), "*/*", "0", "a, b", "\t", "true", stormMark)
	name := pick(luck, "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding", "X-Request-Id", "X-Api-Key",
		"X-User-Hash", "Idempotency-Key", "X-Idempotency-Key", "If-None-Match", "Range",
		"Expect", "X-Forwarded-For", "Traceparent", "Content-Language", "Origin", "X-Http-Method-Override",
		"Authorization", "Cookie")
	switch {
	case name == "Idempotency-Key" && luck.IntN(2) == 0:
		value = "chave-" + strconv.Itoa(luck.IntN(40)) // met again with other bodies
	case name == "X-Request-Id" && value == stormMark:
		return // it is in the log on purpose
	case name == "X-Api-Key" && luck.IntN(3) > 0:
		return // most requests should get further than the door
	}
	x.header[name] = append(slices.Clone(x.header[name]), value)
	if luck.IntN(10) > 0 {
		x.header[name] = []string{value}
	}
}
