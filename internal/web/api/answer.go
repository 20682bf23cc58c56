package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// Names of headers.
const (
	keyHeader       = "X-Api-Key"
	requestIDHeader = "X-Request-Id"
	// detailHeader says which field broke which rule.
	detailHeader = "x-error-detail"
)

// encodeAnswer writes a value to a buffer, so that a failure is an error and never half an answer. What is encoded
// already, by runIdempotently or in an earlier request, stays as it is: an endpoint with a header of its own, which a
// replay must repeat, returns what encodeAnswer made, with Headers filled.
func encodeAnswer(value any) (partner.Answer, error) {
	if a, ok := value.(partner.Answer); ok {
		return a, nil
	}
	body, err := json.Marshal(value, json.FormatNilSliceAsNull(false))
	if err != nil {
		return partner.Answer{}, err
	}
	return partner.Answer{Status: http.StatusOK, Body: body}, nil
}

// encodeRefusal encodes a fault in the shape of its area.
func (a *area) encodeRefusal(err error) partner.Answer {
	status := a.statusOfFault(err)
	body, merr := json.Marshal(a.body(status, messageOf(err, status)))
	if merr != nil { // cannot happen with these shapes; an empty body is still an honest status
		body = nil
	}
	answer := partner.Answer{Status: status, Body: body, Headers: map[string]string{codeHeader: publicCode(err)}}
	if detail := errorDetail(err); detail != "" {
		answer.Headers[detailHeader] = detail
	}
	return answer
}

// writeAnswer sends the answer and returns its status.
func (s *Server) writeAnswer(w http.ResponseWriter, r *request, answer partner.Answer, err error) int {
	h := w.Header()
	if err != nil {
		discardBody(w, r.http)
		answer = r.route.area.encodeRefusal(err)
		// The repeat of a request whose work is done anew was refused: nothing was repeated.
		h.Del("idempotency-replayed")
	}
	h.Set("content-type", "application/json; charset=utf-8")
	h.Set("cache-control", "no-store")
	h.Set("x-content-type-options", "nosniff")
	body := compressAnswer(h, r, answer.Body)
	h.Set("content-length", strconv.Itoa(len(body)))
	h.Set(requestIDHeader, telemetry.RequestID(r.ctx))
	for name, value := range answer.Headers {
		h.Set(name, value)
	}
	if answer.Status != http.StatusOK {
		retryAfter(h, answer.Status, err)
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(body) // a caller that is gone needs no answer
	return answer.Status
}

// retryAfter tells a caller when to come back, where coming back may help and nothing else said when.
func retryAfter(h http.Header, status int, err error) {
	later := status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests ||
		status == http.StatusConflict && errors.Is(err, partner.ErrStillRunning)
	switch {
	case !later || h.Get("retry-after") != "":
	case errors.Is(err, password.ErrNoCorpus): // an operator has to load one
		h.Set("retry-after", "300")
	default:
		h.Set("retry-after", "1")
	}
}
