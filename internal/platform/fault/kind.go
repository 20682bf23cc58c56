package fault

import "errors"

// Kind is the class of a fault: it decides how an edge answers.
type Kind uint8

// The kinds. Internal comes first so that a forgotten kind is never shown as anything milder.
const (
	Internal Kind = iota
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	Conflict
	TooLarge
	UnsupportedType
	Unprocessable
	RateLimited
	Unavailable
)

var kindNames = [...]string{
	"internal", "invalid", "unauthenticated", "forbidden", "not_found", "conflict", "too_large", "unsupported_type",
	"unprocessable", "rate_limited", "unavailable",
}

// String returns the name that logs and metrics use.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Internal]
}

// KindOf returns the kind of the first fault in err's chain, and Internal for everything else.
func KindOf(err error) Kind {
	var f *Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return Internal
}

// CodeOf returns the code of the first fault in err's chain, and "internal" for everything else.
func CodeOf(err error) string {
	var f *Error
	if errors.As(err, &f) {
		return f.Code
	}
	return "internal"
}
