package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
)

// Limits of what a partner may send.
const (
	maxSmallBody      = 64 << 10
	maxListBody       = 512 << 10
	maxBulkBody       = 32 << 20
	maxDepth          = 32
	maxID             = 256
	maxIdempotencyKey = 255
	bulkReadTime      = 2 * time.Minute
	bulkAnswerTime    = 30 * time.Second // for the work and the answer, after the slowest body
)

// request is what an endpoint works with.
type request struct {
	http *http.Request
	// ctx is whole until allow gives it a deadline; both live exactly as long as the request.
	ctx, whole context.Context //nolint:containedctx // see above
	endTime    context.CancelFunc
	route      *route
	server     *Server
	// rules are what the endpoint asks: inside once, those that commit together with the answer.
	rules  *Rules
	caller partner.Caller
	// vendor means that the vendor of the antivirus asks, about a key of whatever partner.
	vendor bool
	// query are the parameters, decoded.
	query url.Values
	// in is the body as it comes in; body is the whole of it on a smallBody route.
	in   intake
	body []byte
	// claim is filled when the partner sent an idempotency key, and claimed is set once it was presented.
	claim   partner.RequestClaim
	claimed bool
	// reply are the headers of the answer.
	reply http.Header
	// items is how many items of a list the answer holds: the partner is charged for them.
	items int
	// release gives back the slot that a heavy request took; nil without one.
	release func()
}

// takeHeavySlot waits for one of the partner's slots for heavy requests. The request has it until its answer is written,
// because encoding and compressing a long list is most of its work.
func (r *request) takeHeavySlot() (err error) {
	r.release, err = r.server.works.takeHeavySlot(r.ctx, r.caller.Partner)
	return err
}

// releaseSlot gives back the slot of a heavy request; it does nothing for others.
func (r *request) releaseSlot() {
	if r.release != nil {
		r.release()
	}
}

// beginRead lets a list of at most that many items in, unless the partner is in debt for lists before it.
func (r *request) beginRead(most int) error {
	if wait := r.server.limits.waitForList(r.caller, r.server.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return errRateLimited.With("rate", fault.ItemsRead)
	}
	if most > lightList {
		return r.takeHeavySlot()
	}
	return nil
}

// allowTime gives the calls that follow so long together, whatever was left before: the time that a body takes to arrive is
// not the database's.
func (r *request) allowTime(d time.Duration) {
	if r.endTime != nil {
		r.endTime()
	} else {
		r.whole = r.ctx
	}
	r.ctx, r.endTime = context.WithTimeout(r.whole, d)
}

// workTime returns how long the work of the route may take once the body is there.
func (r *request) workTime() time.Duration {
	if r.route.outside || r.route.body == streamBody {
		return bulkAnswerTime
	}
	return r.server.DatabaseTime
}

// readSmallBody reads a small body whole.
func (r *request) readSmallBody() (err error) {
	r.body, err = io.ReadAll(&r.in)
	return err
}

// readClaim takes the idempotency key from either of its two headers.
func (r *request) readClaim() error {
	keys := append(r.http.Header.Values("Idempotency-Key"), r.http.Header.Values("X-Idempotency-Key")...)
	if len(keys) == 0 {
		return nil
	}
	for _, k := range keys {
		if k != keys[0] || len(k) == 0 || len(k) > maxIdempotencyKey {
			return errHeaderInvalid.With("idempotency-key", fault.OneValueLength, maxIdempotencyKey)
		}
	}
	r.claim.Key = keys[0]
	r.claim.Path, r.claim.Line = r.route.requestPlace(r.http), r.caller.Line
	return nil
}

// runIdempotently runs work unless this request has been answered before; without an idempotency key it simply runs.
func (r *request) runIdempotently(work func(in *Rules) (any, error)) (partner.Answer, error) {
	if r.claim.Key == "" {
		value, err := work(r.rules)
		if err != nil {
			return partner.Answer{}, err
		}
		return encodeAnswer(value)
	}
	r.claimed = true
	r.claim.Digest, r.claim.About = r.in.bodyDigest(r.http.URL.RawQuery), r.personOfRequest()
	answer, replayed, err := r.server.Ledger.Once(r.ctx, r.caller.Partner, r.claim, func(in *Rules) (partner.Answer, error) {
		value, err := work(in)
		if err == nil {
			return encodeAnswer(value)
		}
		// One who asked too often has not been answered: the repeat may be.
		if refusal := r.route.area.encodeRefusal(err); refusal.Status < http.StatusInternalServerError && refusal.Status != http.StatusTooManyRequests {
			return refusal, nil
		}
		return partner.Answer{}, err
	})
	if replayed && answer.Created != "" {
		r.reply.Set("x-created-id", answer.Created)
		return partner.Answer{}, partner.ErrGivenOnce.With("idempotency-key", fault.AnswerHeldSecret)
	}
	if replayed {
		r.reply.Set("idempotency-replayed", "true")
	}
	return answer, err
}

// encodeSecret encodes an answer that holds a secret, and so is given once; id names what was made.
func encodeSecret(id string, value any) (partner.Answer, error) {
	answer, err := encodeAnswer(value)
	answer.Created = id
	return answer, err
}

// onceBefore claims the idempotency key for a request whose work is done again when it is repeated. Another body under the
// same key is refused before any work, and the answer is not kept.
func (r *request) onceBefore() (partner.Answer, error) {
	return r.runIdempotently(func(*Rules) (any, error) { return struct{}{}, nil })
}

// personOfRequest returns the person that a request with a small body names in its path or its body.
func (r *request) personOfRequest() partner.UserHash {
	name := r.http.PathValue("userhash")
	if name == "" && len(r.body) > 0 {
		var in struct {
			UserHash string `json:"userHash"`
		}
		if json.Unmarshal(r.body, &in) == nil {
			name = in.UserHash
		}
	}
	user, err := partner.ParseUserHash("userHash", name)
	if err != nil {
		return "" // the endpoint will say so
	}
	return user
}

// keepRefusal keeps a refusal that was found before the request's work began, like every answer but those of 5xx. A body
// that did not arrive was never a request: its repeat is the first one.
func (r *request) keepRefusal(err error) (partner.Answer, error) {
	status := r.route.area.statusOfFault(err)
	keep := r.claim.Key != "" && !r.claimed && status < http.StatusInternalServerError && status != http.StatusTooManyRequests
	if !keep || errors.Is(err, errBodySlow) || !r.in.drainBody() {
		return partner.Answer{}, err
	}
	return r.runIdempotently(func(*Rules) (any, error) { return nil, err })
}

// decodeBody reads a small body into v: one JSON value, strict, its members' names unique.
func (r *request) decodeBody(v any) error {
	if bytes.Count(r.body, []byte{'{'})+bytes.Count(r.body, []byte{'['}) > maxDepth {
		if err := checkDepth(r.body); err != nil {
			return err
		}
	}
	if trimmed := bytes.TrimLeft(r.body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errBodyInvalid.With("body", fault.ExpectedJSONObject)
	}
	return jsonFault(json.Unmarshal(r.body, v))
}

// checkDepth refuses JSON that is nested too deep, before it is decoded. It takes tokens only and needs little memory.
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
			return errBodyInvalid.With("body", fault.NestedDeeper, maxDepth)
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
		return errBodyInvalid.With(plainPointer(semantic.JSONPointer), fault.WrongJSONType)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errBodyInvalid.With("body", fault.DuplicateName)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return errBodyInvalid.With("body", fault.NotJSONAtByte, syntactic.ByteOffset)
	}
	return errBodyInvalid.With("body", fault.NotValidJSON)
}

// plainPointer returns the place of a fault in a body as a dotted path; "body" where the path could echo what was
// sent.
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

// userHashInPath reads the {userhash} of the path.
func (r *request) userHashInPath() (partner.UserHash, error) {
	return partner.ParseUserHash("userhash", r.http.PathValue("userhash"))
}

// idInPath reads an id from the path; one that no id could be is simply not found.
func (r *request) idInPath(name string, notFound *fault.Error) (string, error) {
	id := r.http.PathValue(name)
	if !partner.IsPrintable(id, maxID) {
		return "", notFound.With(name, fault.PrintableLength, maxID)
	}
	return id, nil
}

// panicTypeName names the type of a panic's value.
func panicTypeName(v any) string { return fmt.Sprintf("%T", v) }

// causeForLog returns what the log says of a failure. Causes come from the engine and the system; rules keep values out
// of them.
func causeForLog(err error) string {
	const limit = 500
	if s := err.Error(); len(s) > limit {
		return s[:limit]
	}
	return err.Error()
}
