package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/plan"
)

// coverageAnswer is the answer of GET /cyber/insurance/{userhash}.
type coverageAnswer struct {
	Details coverageDetails `json:"detalhesCobertura"`
}

// coverageDetails is an insurance cover; its Portuguese member names are those of the contract.
type coverageDetails struct {
	Plano           string         `json:"plano"`
	LimiteCobertura jsontext.Value `json:"limiteCobertura"`
	TipoCobertura   []string       `json:"tipoCobertura"`
	Condicoes       string         `json:"condições"`
	Exclusoes       string         `json:"exclusões"`
}

// insurance answers with the best cover of a person, which is all that the contract has room for; see listCover for
// the others.
func (s *Server) insurance(r *request) (any, error) {
	list, _, err := r.rules.Cover.ListCover(r.ctx, r.caller, r.user)
	if err != nil {
		return nil, err
	}
	return coverageAnswer{detailsOf(list[0].Coverage)}, nil
}

// detailsOf returns a cover as the contract writes it. The limit is a decimal number and never a float.
func detailsOf(c plan.Coverage) coverageDetails {
	return coverageDetails{
		Plano:           c.Plan,
		LimiteCobertura: jsontext.Value(c.Limit.DecimalText()),
		TipoCobertura:   c.Types,
		Condicoes:       c.Conditions,
		Exclusoes:       c.Exclusions,
	}
}
