package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/once"
	"github.com/vigiahq/vigia/internal/partner"
)

// Limits of what a partner may send.
const (
	maxSmallBody      = 64 << 10
	maxBulkBody       = 32 << 20
	maxDepth          = 32
	maxID             = 256
	maxIdempotencyKey = 255
	bulkReadTime      = 2 * time.Minute
	bulkAnswerTime    = 30 * time.Second // for the work and the answer, after the slowest body
)

// request is what an endpoint works with.
type request struct {
	http   *http.Request
	ctx    context.Context //nolint:containedctx // lives exactly as long as the request; replaced inside once
	route  *route
	server *Server
	caller partner.Caller
	// body is the whole body of a smallBody route.
	body []byte
	// claim is filled when the partner sent an idempotency key.
	claim once.Claim
	// reply are the headers of the answer.
	reply http.Header
}

// limited tells the caller when to come back.
func (r *request) limited(wait time.Duration) {
	seconds := strconv.Itoa(int(math.Ceil(max(wait.Seconds(), 1))))
	perSecond, _ := r.caller.Settings.Rate()
	r.reply.Set("retry-after", seconds)
	r.reply.Set("ratelimit-policy", `"partner";q=`+strconv.Itoa(perSecond)+`;w=1`)
	r.reply.Set("ratelimit", `"partner";r=0;t=`+seconds)
}

// readBody checks the headers of a body and, for a small one, reads it whole.
func (r *request) readBody(w http.ResponseWriter) error {
	if r.route.body == noBody {
		return nil
	}
	if err := r.checkBodyHeaders(); err != nil {
		return err
	}
	if r.route.body == streamBody {
		r.http.Body = http.MaxBytesReader(w, r.http.Body, maxBulkBody)
		// A large body may take longer than the server's general limits. Servers without deadlines (tests) may refuse.
		control, now := http.NewResponseController(w), time.Now()
		_ = control.SetReadDeadline(now.Add(bulkReadTime))
		_ = control.SetWriteDeadline(now.Add(bulkReadTime + bulkAnswerTime))
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.http.Body, maxSmallBody))
	if err != nil {
		return bodyFault(err)
	}
	r.body = body
	if r.claim.Key != "" {
		sum := sha256.Sum256(body)
		r.claim.Digest = r.digest(sum[:])
	}
	return nil
}

// digest mixes the query into a body's digest: the same body with another query is another request.
func (r *request) digest(body []byte) []byte {
	if r.http.URL.RawQuery == "" {
		return body
	}
	sum := sha256.Sum256(append(body, r.http.URL.RawQuery...))
	return sum[:]
}

func (r *request) checkBodyHeaders() error {
	h := r.http.Header
	if enc := h.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return errBodyType.With("content-encoding: not supported, send the body as it is")
	}
	if ct := h.Values("Content-Type"); len(ct) > 0 && (len(ct) > 1 || ct[0] != "application/json") {
		kind, params, err := mime.ParseMediaType(ct[0])
		if err != nil || len(ct) > 1 || (kind != "application/json" && !(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))) {
			return errBodyType.With("content-type: expected application/json")
		}
		if cs := params["charset"]; cs != "" && !strings.EqualFold(cs, "utf-8") {
			return errBodyType.With("content-type: expected charset utf-8")
		}
	}
	return r.readClaim()
}

// readClaim takes the idempotency key from either of its two headers.
func (r *request) readClaim() error {
	keys := append(r.http.Header.Values("Idempotency-Key"), r.http.Header.Values("X-Idempotency-Key")...)
	if len(keys) == 0 {
		return nil
	}
	for _, k := range keys {
		if k != keys[0] || len(k) == 0 || len(k) > maxIdempotencyKey {
			return errHeaderInvalid.With("idempotency-key: one value of 1 to %d characters", maxIdempotencyKey)
		}
	}
	r.claim.Key = keys[0]
	r.claim.Path = r.http.Method + " " + strings.TrimPrefix(r.http.URL.EscapedPath(), versionPrefix)
	return nil
}

// bodyFault tells a body that is too large from one that did not arrive.
func bodyFault(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return errBodyTooLarge.With("body: at most %d bytes", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.Canceled):
		return errBodySlow.With("body: did not arrive whole").Because(err)
	}
	return errBodySlow.With("body: cannot be read").Because(err)
}

// once runs work unless this request has been answered before.
func (r *request) once(work func(ctx context.Context) (any, error)) (once.Answer, error) {
	answer, replayed, err := r.server.Ledger.Once(r.ctx, r.caller.Partner, r.claim, func(ctx context.Context) (once.Answer, error) {
		value, err := work(ctx)
		if err == nil {
			return encode(value)
		}
		if refusal := r.route.area.refusal(err); refusal.Status < http.StatusInternalServerError {
			return refusal, nil
		}
		return once.Answer{}, err
	})
	if replayed {
		r.reply.Set("idempotency-replayed", "true")
	}
	return answer, err
}

// decode reads a small body into v: one JSON value, strict, its members' names unique.
func (r *request) decode(v any) error {
	if bytes.Count(r.body, []byte{'{'})+bytes.Count(r.body, []byte{'['}) > maxDepth {
		if err := checkDepth(r.body); err != nil {
			return err
		}
	}
	if trimmed := bytes.TrimLeft(r.body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errBodyInvalid.With("body: expected a JSON object")
	}
	return jsonFault(json.Unmarshal(r.body, v))
}

func checkDepth(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if _, err := d.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return jsonFault(err)
		}
		if d.StackDepth() > maxDepth {
			return errBodyInvalid.With("body: nested deeper than %d", maxDepth)
		}
	}
}

// jsonFault names the place and the rule that a body broke, without repeating any of it. A JSON pointer can hold member
// names that the caller made up, so it is used only when it is plain.
func jsonFault(err error) error {
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return errBodyInvalid.With("%s: wrong JSON type", plainPointer(semantic.JSONPointer))
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errBodyInvalid.With("body: duplicate member name")
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return errBodyInvalid.With("body: not valid JSON at byte %d", syntactic.ByteOffset)
	}
	return errBodyInvalid.With("body: not valid JSON")
}

func plainPointer(p jsontext.Pointer) string {
	s := strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
	if s == "" || len(s) > 64 {
		return "body"
	}
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c == '.' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			return "body"
		}
	}
	return s
}

// userHash reads the {userhash} of the path.
func (r *request) userHash() (partner.UserHash, error) {
	return partner.ParseUserHash("userhash", r.http.PathValue("userhash"))
}

// idInPath reads an id from the path; one that no id could be is simply not found.
func (r *request) idInPath(name string, notFound *fault.Error) (string, error) {
	id := r.http.PathValue(name)
	if !partner.Printable(id, maxID) {
		return "", notFound.With("%s: 1 to %d printable characters", name, maxID)
	}
	return id, nil
}

func typeName(v any) string { return fmt.Sprintf("%T", v) }

// causeOf is what the log says of a failure. Causes come from the engine and the system; rules keep values out of them.
func causeOf(err error) string {
	const limit = 500
	if s := err.Error(); len(s) > limit {
		return s[:limit]
	}
	return err.Error()
}
