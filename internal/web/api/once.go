package api

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
	answer, replayed, err := r.server.Ledger.Once(
		r.ctx,
		r.caller.Partner,
		r.claim,
		func(in *Rules) (partner.Answer, error) {
			value, err := work(in)
			if err == nil {
				return encodeAnswer(value)
			}
			// One who asked too often has not been answered: the repeat may be.
			if refusal := r.route.area.encodeRefusal(err); refusal.Status < http.StatusInternalServerError &&
				refusal.Status != http.StatusTooManyRequests {
				return refusal, nil
			}
			return partner.Answer{}, err
		},
	)
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

// onceBefore claims the idempotency key for a request whose work is done again when it is repeated. Another body under
// the same key is refused before any work, and the answer is not kept.
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

// keepRefusal keeps a refusal that was found before the request's work began, like every answer but those of 5xx. A
// body that did not arrive was never a request: its repeat is the first one.
func (r *request) keepRefusal(err error) (partner.Answer, error) {
	status := r.route.area.statusOfFault(err)
	keep := r.claim.Key != "" && !r.claimed && status < http.StatusInternalServerError &&
		status != http.StatusTooManyRequests
	if !keep || errors.Is(err, errBodySlow) || !r.in.drainBody() {
		return partner.Answer{}, err
	}
	return r.runIdempotently(func(*Rules) (any, error) { return nil, err })
}

// withRules returns the request with other rules: those of the transaction that keeps the answer.
func (r *request) withRules(in *Rules) *request {
	inner := *r
	inner.rules = in
	return &inner
}
