package plan

import (
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Watch is the kinds of values that a plan watches of those that its subscriptions name, a bit for each. The zero value
// watches nothing.
type Watch uint8

// WatchedKinds are the kinds that a plan can watch, in the order in which they are written.
var WatchedKinds = []identifier.Kind{identifier.Email, identifier.CPF, identifier.Phone}

// NewWatch returns a watch of some kinds.
func NewWatch(kinds ...identifier.Kind) Watch {
	var w Watch
	for _, k := range kinds {
		w |= 1 << (k - 1)
	}
	return w
}

// HasKind reports whether values of a kind are watched.
func (w Watch) HasKind(k identifier.Kind) bool { return w&NewWatch(k) != 0 }

// IsKnown reports whether it has only kinds that a plan can watch: see sqldb.Enumerated.
func (w Watch) IsKnown() bool { return w&^NewWatch(WatchedKinds...) == 0 }

// ListKinds returns the kinds that are watched.
func (w Watch) ListKinds() []identifier.Kind {
	var kinds []identifier.Kind
	for _, k := range WatchedKinds {
		if w.HasKind(k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// String returns the contract's words for the kinds, separated by commas; empty for none.
func (w Watch) String() string {
	var words []string
	for _, k := range w.ListKinds() {
		words = append(words, k.String())
	}
	return strings.Join(words, ",")
}

// ParseWatch reads kinds in the contract's words, separated by commas; an empty text is none.
func ParseWatch(text string) (Watch, error) {
	var w Watch
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		k, err := identifier.ParseKind(word)
		if err != nil || !slices.Contains(WatchedKinds, k) {
			return 0, ErrInvalid.With("watch", fault.OneOf, "email, cpf, phone")
		}
		w |= NewWatch(k)
	}
	return w, nil
}

// MarshalText writes what String returns.
func (w Watch) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads what ParseWatch reads.
func (w *Watch) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWatch(string(text))
	return err
}
