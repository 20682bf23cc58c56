package cyber

import (
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
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
	return "", ErrCaseInvalid.With("status", fault.OneOf, "aberto, em-andamento, aguardando-cliente, resolvido, fechado, cancelado")
}

// Clock counts the working time of a case against its target. It stands while the client is waited for and once the
// case is resolved, closed or cancelled; a reopened case goes on from where it stood.
type Clock struct {
	// Target is the time allowed; 0 means any.
	Target time.Duration
	// Used is what was counted up to Since, which is zero while the clock stands.
	Used  time.Duration
	Since time.Time
}

// UsedAt returns the working time counted so far.
func (c Clock) UsedAt(now time.Time) time.Duration {
	if c.Since.IsZero() || now.Before(c.Since) {
		return c.Used
	}
	return c.Used + now.Sub(c.Since)
}

// Due returns when the target is reached if the clock keeps running; false while it stands or without a target.
func (c Clock) Due() (time.Time, bool) {
	if c.Target == 0 || c.Since.IsZero() {
		return time.Time{}, false
	}
	return c.Since.Add(c.Target - c.Used), true
}

// Late reports whether more time was used than allowed.
func (c Clock) Late(now time.Time) bool { return c.Target > 0 && c.UsedAt(now) > c.Target }

// advanceTo counts what ran until now, and runs on or stands.
func (c *Clock) advanceTo(now time.Time, run bool) {
	c.Used, c.Since = c.UsedAt(now), time.Time{}
	if run {
		c.Since = now
	}
}
