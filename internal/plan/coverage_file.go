package plan

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// coverageFile is a coverage as files and rows hold it: the five members of the contract's answer, sub-limits and
// waiting period.
type coverageFile struct {
	Plano      string         `json:"plano"`
	Limite     jsontext.Value `json:"limiteCobertura"`
	Tipos      []string       `json:"tipoCobertura"`
	Condicoes  string         `json:"condições"`
	Exclusoes  string         `json:"exclusões"`
	Sublimites []subLimitFile `json:"sublimites,omitempty"`
	Carencia   int            `json:"carenciaDias,omitzero"`
}

// subLimitFile is a limit within a coverage as it is written in JSON.
type subLimitFile struct {
	Nome   string         `json:"nome"`
	Limite jsontext.Value `json:"limite"`
}

// ParseCoverage reads the JSON of a coverage. Members it does not know are refused: a misspelt one would silently be
// lost.
func ParseCoverage(text []byte) (Coverage, error) {
	var f coverageFile
	if err := json.Unmarshal(bytes.TrimSpace(text), &f, json.RejectUnknownMembers(true)); err != nil {
		return Coverage{}, ErrInvalid.With("coverage", fault.CoverageFormat).Because(err)
	}
	limit, err := parseMoney("limiteCobertura", f.Limite)
	if err != nil {
		return Coverage{}, err
	}
	c := Coverage{
		Plan:        f.Plano,
		Limit:       limit,
		Types:       f.Tipos,
		Conditions:  f.Condicoes,
		Exclusions:  f.Exclusoes,
		WaitingDays: f.Carencia,
	}
	for _, s := range f.Sublimites {
		limit, err := parseMoney("sublimites", s.Limite)
		if err != nil {
			return Coverage{}, err
		}
		c.SubLimits = append(c.SubLimits, SubLimit{Name: s.Nome, Limit: limit})
	}
	return c, c.checkCoverage()
}

// parseMoney reads an amount in reais with at most two decimals. It refuses a third decimal instead of rounding it.
func parseMoney(field string, number jsontext.Value) (Money, error) {
	bad := ErrInvalid.With(fmt.Sprintf("coverage %s", field), fault.ReaisDecimals, int64(maxLimitReais))
	if len(number) == 0 || number.Kind() != '0' {
		return 0, bad
	}
	reais, err := strconv.ParseFloat(string(number), 64)
	if err != nil || reais < 0 || reais > maxLimitReais {
		return 0, bad
	}
	// A float64 holds every amount within the bound to far better than a centavo, and the quotient is the one nearest
	// to it, as is what was read.
	cents := math.Round(reais * 100)
	if cents/100 != reais {
		return 0, bad
	}
	return Money(cents), nil
}

// MarshalCoverage writes a coverage in the form that ParseCoverage reads.
func (c Coverage) MarshalCoverage() ([]byte, error) {
	f := coverageFile{
		Plano:     c.Plan,
		Limite:    jsontext.Value(c.Limit.DecimalText()),
		Tipos:     c.Types,
		Condicoes: c.Conditions,
		Exclusoes: c.Exclusions,
		Carencia:  c.WaitingDays,
	}
	for _, s := range c.SubLimits {
		f.Sublimites = append(f.Sublimites, subLimitFile{s.Name, jsontext.Value(s.Limit.DecimalText())})
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode coverage: %w", err)
	}
	return text, nil
}
