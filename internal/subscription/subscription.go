// Package subscription holds the rules of /subscriptions: which items of a bulk request may be created, what is wrong
// with the others, and the life of a subscription until it ends.
//
// Registry is the door; an Enrolment is one bulk request being worked on. What reaches the store has passed every rule
// of the contract, and what did not pass is reported with all of its problems, in the order of the request. The package
// may know neither HTTP nor SQL nor any sentence a partner reads: what is wrong with an item is a field and a rule, and
// the API gives them words.
package subscription

import (
	"strconv"
	"time"
	_ "time/tzdata" // the binary knows São Paulo's clock wherever it runs

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/plan"
)

// Subscription is one person's subscription to one plan.
type Subscription struct {
	// Seq numbers the subscriptions of a partner in the order of creation; some numbers are never used.
	Seq    int64
	Plan   plan.ID
	Start  Day
	Expiry Day // zero: no end
	// GroupSize and Holder (the CNPJ of the company that pays) are set for group plans only.
	GroupSize int64
	Holder    string
	// Metadata is JSON that the partner gave to be kept; empty when there is none.
	Metadata string
	// InternalID is the partner's own reference; empty when there is none.
	InternalID  string
	Beneficiary Beneficiary
	// Watch is which of the values that it names are watched because of it: what its plan watched when it was enrolled,
	// less what the partner has deleted since.
	Watch plan.Watch
	// SuspendedAt and EndedAt are zero while the subscription is neither.
	SuspendedAt, EndedAt, CreatedAt time.Time
}

// ID names a subscription among those of its partner: "sub_" and its number.
type ID string

// ID returns how events name the subscription.
func (s Subscription) ID() ID { return ID("sub_" + strconv.FormatInt(s.Seq, 10)) }

// LastDay returns the last day of its life: the expiry date, or the day on which it was ended before that. Zero: no
// end.
func (s Subscription) LastDay() Day {
	if ended := DayInBrazil(s.EndedAt); !s.EndedAt.IsZero() && (s.Expiry == 0 || ended < s.Expiry) {
		return ended
	}
	return s.Expiry
}

// Over reports whether it has ended by a day: it was ended, or its expiry date lies before. The sweep that notes the
// latter comes later.
func (s Subscription) Over(today Day) bool {
	return !s.EndedAt.IsZero() || s.Expiry != 0 && s.Expiry < today
}

// ChangedKinds returns the kinds of values that another state of the subscription names otherwise.
func (s Subscription) ChangedKinds(then Subscription) plan.Watch {
	var changed plan.Watch
	for _, k := range plan.WatchedKinds {
		if s.Beneficiary.ValueOfKind(k) != then.Beneficiary.ValueOfKind(k) {
			changed |= plan.NewWatch(k)
		}
	}
	return changed
}

// Beneficiary is the person who is protected, as the partner described them, under the contract's names.
type Beneficiary struct {
	PrimaryCard string  `json:"primary_card"`
	UserCard    string  `json:"user_card"`
	Name        string  `json:"name"`
	CPF         string  `json:"cpf"`
	BirthDate   string  `json:"birth_date"`
	Gender      string  `json:"gender"`
	Email       string  `json:"email"`
	Phone       string  `json:"phone_number"`
	Address     Address `json:"address"`
}

// ValueOfKind returns what the beneficiary is watched by; empty for kinds that plans do not watch.
func (b Beneficiary) ValueOfKind(k identifier.Kind) string {
	switch k {
	case identifier.Email:
		return b.Email
	case identifier.CPF:
		return b.CPF
	case identifier.Phone:
		return b.Phone
	default:
		return ""
	}
}

// Address is where the beneficiary lives.
type Address struct {
	Zipcode      string `json:"zipcode"`
	Street       string `json:"street"`
	Number       string `json:"number"`
	Complement   string `json:"complement,omitempty"`
	Neighborhood string `json:"neighborhood"`
	City         string `json:"city"`
	State        string `json:"state"`
}
