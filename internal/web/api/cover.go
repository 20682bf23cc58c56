package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
)

// coverList is the answer of GET /cyber/cover/{userhash}. It speaks Portuguese as the answer of /cyber/insurance does,
// whose members it repeats.
type coverList struct {
	Covers []coverItem `json:"coberturas"`
}

// coverItem is a plan in force. Its dates are there only where a subscription gives them.
type coverItem struct {
	PlanID      string          `json:"planoId,omitempty"`
	Origin      string          `json:"origem"`
	Details     coverageDetails `json:"detalhesCobertura"`
	SubLimits   []subLimit      `json:"sublimites"`
	WaitingDays int             `json:"carenciaDias"`
	CoveredFrom string          `json:"vigenteDesde,omitempty"`
	From        string          `json:"inicio,omitempty"`
	Until       string          `json:"fim,omitempty"`
}

// subLimit is a limit within a cover for one kind of damage.
type subLimit struct {
	Name  string         `json:"nome"`
	Limit jsontext.Value `json:"limite"`
}

// originWord is what a partner reads about why a plan is in force.
var originWord = map[cyber.Origin]string{
	cyber.OriginSubscription: "assinatura", cyber.OriginDefault: "plano_padrao", cyber.OriginDemo: "demonstracao",
}

// listCover answers with every cover of a person and where it comes from.
func (s *Server) listCover(r *request) (any, error) {
	list, origin, err := r.rules.Cover.ListCover(r.ctx, r.caller, r.user)
	return coverList{showAll(list, func(e cyber.Entitlement) coverItem {
		item := coverItem{
			PlanID:      string(e.ID),
			Origin:      originWord[origin],
			Details:     detailsOf(e.Coverage),
			SubLimits:   []subLimit{},
			WaitingDays: e.Coverage.WaitingDays,
			CoveredFrom: formatDay(e.CoveredFrom()),
			From:        formatDay(e.From),
			Until:       formatDay(e.Until),
		}
		for _, l := range e.Coverage.SubLimits {
			item.SubLimits = append(item.SubLimits, subLimit{l.Name, jsontext.Value(l.Limit.DecimalText())})
		}
		return item
	})}, err
}
