package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Money is an amount in centavos.
type Money int64

// DecimalText writes the amount in reais as a JSON number, with cents only where there are any: 50000 or 50000.5.
func (m Money) DecimalText() string {
	sign, n := "", int64(m)
	if n < 0 {
		sign, n = "-", -n
	}
	text := sign + strconv.FormatInt(n/100, 10)
	switch cents := n % 100; {
	case cents == 0:
		return text
	case cents%10 == 0:
		return text + "." + strconv.FormatInt(cents/10, 10)
	default:
		return text + fmt.Sprintf(".%02d", cents)
	}
}

// Coverage is the insurance that a plan carries: what the contract calls detalhesCobertura.
type Coverage struct {
	// Plan is the name that people read; it need not be the plan's id.
	Plan       string
	Limit      Money
	Types      []string
	Conditions string
	Exclusions string
	// SubLimits bound parts of Limit. The contract's answer has no place for them, nor for the waiting period: an
	// extension tells them.
	SubLimits []SubLimit
	// WaitingDays is how many days after the start of a subscription pass before it covers; 0: it covers from its first
	// day on.
	WaitingDays int
}

// IsNone reports whether the coverage insures nothing: a plan may be sold without insurance.
func (c Coverage) IsNone() bool { return c.Limit == 0 && len(c.Types) == 0 }

// SubLimit is the part of the limit that one kind of loss may use.
type SubLimit struct {
	Name  string
	Limit Money
}

// checkCoverage bounds what an operator gave.
func (c *Coverage) checkCoverage() error {
	isNoType := func(t string) bool { return !partner.IsPrintableLine(t, 1, maxName) }
	isNoSubLimit := func(s SubLimit) bool {
		return !partner.IsPrintableLine(s.Name, 1, maxName) || s.Limit < 0 || s.Limit > c.Limit
	}
	isTooLong := !partner.Paragraphs(c.Conditions, 0, maxText) || !partner.Paragraphs(c.Exclusions, 0, maxText)
	return errors.Join(
		fault.When(
			!partner.IsPrintableLine(c.Plan, 1, maxName),
			ErrInvalid.With("coverage plano", fault.PlainLength, maxName),
		),
		fault.When(
			c.Limit < 0 || c.Limit > maxLimitReais*100,
			ErrInvalid.With("coverage limiteCobertura", fault.ReaisUpTo, int64(maxLimitReais)),
		),
		fault.When(
			len(c.Types) > maxList || len(c.SubLimits) > maxList,
			ErrInvalid.With("coverage", fault.ListEntries, maxList),
		),
		fault.When(isTooLong, ErrInvalid.With("coverage texts", fault.TextAtMost, maxText)),
		fault.When(
			c.WaitingDays < 0 || c.WaitingDays > maxWaitingDays,
			ErrInvalid.With("coverage carenciaDias", fault.DaysUpTo, maxWaitingDays),
		),
		fault.When(
			slices.ContainsFunc(c.Types, isNoType),
			ErrInvalid.With("coverage tipoCobertura", fault.EachPlainLength, maxName),
		),
		fault.When(
			slices.ContainsFunc(c.SubLimits, isNoSubLimit),
			ErrInvalid.With("coverage sublimites", fault.SubLimitFormat, maxName),
		),
	)
}

// DemoCoverage returns the coverage that a sandbox partner's plans and people have until another is registered.
func DemoCoverage() Coverage {
	return Coverage{
		Plan:  "Proteção Digital Demonstração",
		Limit: 50_000_00,
		Types: []string{
			"Transações não autorizadas após vazamento de dados",
			"Roubo de identidade",
			"Assistência para recuperação de contas",
		},
		Conditions: "Cobertura de demonstração do ambiente de testes. Carência de um dia a partir do início da " +
			"assinatura e " +
			"comunicação do evento em até 30 dias.",
		Exclusions:  "Perdas anteriores ao início da assinatura e fornecimento voluntário de senhas a terceiros.",
		SubLimits:   []SubLimit{{Name: "Roubo de identidade", Limit: 10_000_00}},
		WaitingDays: 1,
	}
}
