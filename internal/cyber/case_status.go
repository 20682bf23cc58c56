package cyber

import (
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// CaseStatus is where a case stands.
type CaseStatus string

// The statuses, to the letter of the contract's decisions.
const (
	CaseOpen       CaseStatus = "Aberto"
	CaseInProgress CaseStatus = "Em andamento"
	CaseWaiting    CaseStatus = "Aguardando cliente"
	CaseResolved   CaseStatus = "Resolvido"
	CaseClosed     CaseStatus = "Fechado"
	CaseCancelled  CaseStatus = "Cancelado"
)

// IsKnown reports whether it is one of the statuses, or empty where there is none: see sqldb.Enumerated.
func (s CaseStatus) IsKnown() bool {
	switch s {
	case "", CaseOpen, CaseInProgress, CaseWaiting, CaseResolved, CaseClosed, CaseCancelled:
		return true
	}
	return false
}

// CaseStatuses lists every status, in the order of a case's life.
func CaseStatuses() []CaseStatus {
	return []CaseStatus{CaseOpen, CaseInProgress, CaseWaiting, CaseResolved, CaseClosed, CaseCancelled}
}

// caseMoves is the one table of moves; docs/guided-resolution.md draws it. What is not open any more can only be
// reopened, or closed for good measure.
var caseMoves = map[CaseStatus][]CaseStatus{
	CaseOpen:       {CaseInProgress, CaseCancelled},
	CaseInProgress: {CaseWaiting, CaseResolved, CaseCancelled},
	CaseWaiting:    {CaseInProgress, CaseResolved, CaseCancelled},
	CaseResolved:   {CaseClosed, CaseOpen},
	CaseClosed:     {CaseOpen},
	CaseCancelled:  {CaseOpen},
}

// CanMoveTo reports whether the table has the move.
func (s CaseStatus) CanMoveTo(to CaseStatus) bool { return slices.Contains(caseMoves[s], to) }

// Moves lists where a case may go from here.
func (s CaseStatus) Moves() []CaseStatus { return slices.Clone(caseMoves[s]) }

// Open reports whether the operator or the person still has to do something.
func (s CaseStatus) Open() bool { return s == CaseOpen || s == CaseInProgress || s == CaseWaiting }

// runsClock reports whether the time spent here counts against the target: not while the client is waited for.
func (s CaseStatus) runsClock() bool { return s == CaseOpen || s == CaseInProgress }

// ParseCaseStatus reads a status as the contract writes it, or as it is easily typed: em-andamento.
func ParseCaseStatus(s string) (CaseStatus, error) {
	plain := strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(strings.TrimSpace(s)))
	for _, known := range CaseStatuses() {
		if plain == strings.ToLower(string(known)) {
			return known, nil
		}
	}
	return "", ErrCaseInvalid.With(
		"status",
		fault.OneOf,
		"aberto, em-andamento, aguardando-cliente, resolvido, fechado, cancelado",
	)
}
