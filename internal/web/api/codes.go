package api

import (
	"slices"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// codeHeader names the refusal for programs. Its values are part of the contract: they are listed in the document, in
// the clients and on the page of errors, and none changes its meaning.
const codeHeader = "x-error-code"

// publicCodes are the faults that partners are told by their own code, in the order of the document.
var publicCodes = []string{
	"key.missing",
	"key.refused",
	"key.scope_missing",
	"path.not_found",
	"method.not_allowed",
	"header.invalid",
	"query.invalid",
	"body.invalid",
	"body.incomplete",
	"body.not_gzip",
	"body.too_large",
	"body.unpack_ratio",
	"body.unsupported_type",
	"rate.limited",
	"idempotency.other_body",
	"idempotency.still_running",
	"idempotency.given_once",
	"idempotency.answer_not_kept",
	"user_hash.invalid",
	"person.not_found",
	"language.invalid",
	"asset.invalid",
	"asset.not_found",
	"asset.limit_reached",
	"asset.list_stopped",
	"finding.not_found",
	"finding.closed",
	"resolution.invalid",
	"step.not_found",
	"step.invalid",
	"breach.not_found",
	"service.not_found",
	"case.invalid",
	"case.not_found",
	"case.ended",
	"case.not_resolved",
	"case.too_long",
	"appointment.unavailable",
	"appointment.no_calendar",
	"device.invalid",
	"device.not_found",
	"device.limit_reached",
	"device.exists",
	"device.ended",
	"pool.empty",
	"share.not_covered",
	"share.used_up",
	"password.prefix",
	"password.algorithm",
	"password.no_corpus",
	"credential.too_new",
	"credential.limit_reached",
	"answer.invalid",
	"content.not_found",
	"coverage.not_found",
	"portal.invalid",
	"portal.no_address",
	"subscription.invalid",
	"subscription.not_found",
	"plan.not_found",
	"event.cursor_invalid",
	"event.not_found",
	"event.replay_invalid",
	"message.channel_invalid",
	"message.none",
	"webhook.not_found",
	"webhook.types_invalid",
	"webhook.url_invalid",
	"webhook.address_refused",
	"webhook.key_invalid",
	"webhook.too_many",
	"webhook.too_many_keys",
	"key.invalid",
	"key.not_found",
	"key.too_many",
	"erasure.invalid",
	"erasure.not_found",
	"erasure.begun",
	"clock.invalid",
	"clock.live",
	"request.invalid",
	"request.forbidden",
	"request.not_found",
	"request.conflict",
	"request.unprocessable",
	"server.unavailable",
	"server.failed",
}

// publicNames are the codes of faults whose own code says something of the inside, or is also used in the console for
// what partners do not send.
var publicNames = map[string]string{ //nolint:gosec // names of refusals, no credentials
	"assets.stopped":         "asset.list_stopped",
	"breach.unknown":         "breach.not_found",
	"corpora.not_asked":      "server.unavailable",
	"credential.guesses":     "credential.limit_reached",
	"partner.invalid":        "key.invalid",
	"service.unknown":        "service.not_found",
	"store.unavailable":      "server.unavailable",
	"subscription.edit":      "subscription.invalid",
	"subject.reason":         "erasure.invalid",
	"subscription.selection": "subscription.invalid",
}

// codeByKind is what partners are told of a fault that is not listed. A new fault says at least its kind, and never
// something of the inside.
var codeByKind = map[fault.Kind]string{
	fault.Internal:        "server.failed",
	fault.Invalid:         "request.invalid",
	fault.Unauthenticated: "key.refused",
	fault.Forbidden:       "request.forbidden",
	fault.NotFound:        "request.not_found",
	fault.Conflict:        "request.conflict",
	fault.TooLarge:        "body.too_large",
	fault.UnsupportedType: "body.unsupported_type",
	fault.Unprocessable:   "request.unprocessable",
	fault.RateLimited:     "rate.limited",
	fault.Unavailable:     "server.unavailable",
}

// publicCode returns what x-error-code says of a fault.
func publicCode(err error) string {
	kind := fault.KindOf(err)
	code := fault.CodeOf(err)
	if name, renamed := publicNames[code]; renamed {
		code = name
	}
	if kind == fault.Internal || !slices.Contains(publicCodes, code) {
		return codeByKind[kind]
	}
	return code
}
