package store

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/subscription"
)

// sealedSubscription is what the sealed column of a subscription holds. There is one for each beneficiary of each
// partner, so its names are short: under the contract's they would take a seventh of the row.
type sealedSubscription struct {
	GroupSize   int64         `json:"g,omitzero"`
	Holder      string        `json:"h,omitzero"`
	Metadata    string        `json:"m,omitzero"`
	InternalID  string        `json:"i,omitzero"`
	PrimaryCard string        `json:"pc,omitzero"`
	UserCard    string        `json:"uc,omitzero"`
	Name        string        `json:"n,omitzero"`
	CPF         string        `json:"cpf,omitzero"`
	BirthDate   string        `json:"bd,omitzero"`
	Gender      string        `json:"s,omitzero"`
	Email       string        `json:"e,omitzero"`
	Phone       string        `json:"p,omitzero"`
	Address     sealedAddress `json:"a,omitzero"`
}

type sealedAddress struct {
	Zipcode      string `json:"z,omitzero"`
	Street       string `json:"st,omitzero"`
	Number       string `json:"n,omitzero"`
	Complement   string `json:"co,omitzero"`
	Neighborhood string `json:"nb,omitzero"`
	City         string `json:"c,omitzero"`
	State        string `json:"uf,omitzero"`
}

// errBody means that a body was unsealed and is not what sealBody wrote.
var errBody = errors.New("subscription body: unknown layout")

// sealBody seals what a subscription's row does not say in the clear.
func (s Subscriptions) sealBody(place seal.Place, sub *subscription.Subscription) ([]byte, error) {
	who := sub.Beneficiary
	body, err := json.Marshal(sealedSubscription{
		GroupSize:   sub.GroupSize,
		Holder:      sub.Holder,
		Metadata:    sub.Metadata,
		InternalID:  sub.InternalID,
		PrimaryCard: who.PrimaryCard,
		UserCard:    who.UserCard,
		Name:        who.Name,
		CPF:         who.CPF,
		BirthDate:   who.BirthDate,
		Gender:      who.Gender,
		Email:       who.Email,
		Phone:       who.Phone,
		Address:     sealedAddress(who.Address),
	})
	if err != nil {
		return nil, fmt.Errorf("write subscription: %w", err)
	}
	return s.sealValue(place, body)
}

// unsealBody unseals a body into sub, whose plan and time of creation are set.
func (s Subscriptions) unsealBody(id partner.ID, cpf, sealed []byte, sub *subscription.Subscription) error {
	plain, err := s.keys.Unseal(subscriptionPlace(id, cpf, sub.Plan, toMicros(sub.CreatedAt)), sealed)
	if err != nil {
		return fmt.Errorf("open subscription: %w", err)
	}
	var body sealedSubscription
	if err := json.Unmarshal(plain, &body); err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	sub.GroupSize = body.GroupSize
	sub.Holder = body.Holder
	sub.Metadata = body.Metadata
	sub.InternalID = body.InternalID
	sub.Beneficiary = subscription.Beneficiary{
		PrimaryCard: body.PrimaryCard,
		UserCard:    body.UserCard,
		Name:        body.Name,
		CPF:         body.CPF,
		BirthDate:   body.BirthDate,
		Gender:      body.Gender,
		Email:       body.Email,
		Phone:       body.Phone,
		Address:     subscription.Address(body.Address),
	}
	return nil
}
