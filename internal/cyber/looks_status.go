package cyber

import "time"

// LookStatus is how a partner stands with its first looks.
type LookStatus struct {
	Pace LookPace
	// Left is how many first looks can be made now, Granted those of them that an operator gave.
	Left    int64
	Granted int64
	// BonusPerDay is how many tokens return in a day for subscriptions.
	BonusPerDay int64
	// Waiting counts the values that wait, Overdue those that have waited for longer than LookOverdueAfter.
	Waiting int64
	Overdue int64
	// Until is when the last of those that wait will have had its first look, or the zero time when none waits. While
	// first looks are stopped it is when that would be if they went on now.
	Until time.Time
}

// State returns the state that the partner is told.
func (s LookStatus) State() LookState {
	switch {
	case s.Pace.IsStopped():
		return LooksStopped
	case s.Overdue > 0:
		return LooksOverdue
	default:
		return LooksRunning
	}
}

// LookState says whether the first looks of a partner are made in time.
type LookState string

// The states.
const (
	LooksRunning LookState = "running"
	LooksOverdue LookState = "waiting" // values have waited for longer than LookOverdueAfter
	LooksStopped LookState = "stopped"
)

// LookReason says why the state of first looks changed.
type LookReason string

// The reasons.
const (
	LooksByOperator LookReason = "operator"  // the operator stopped first looks, or lets them go on
	LooksNoTokens   LookReason = "tokens"    // more values were added than the partner's first looks allow
	LooksCaughtUp   LookReason = "caught_up" // no value has waited for long any more
)

// LookChange is a change of the state of a partner's first looks, as the partner is told.
type LookChange struct {
	State   LookState
	Reason  LookReason
	Waiting int64
	PerHour int64
}

// changeFrom returns what a partner is told whose last told state was another one.
func (s LookStatus) changeFrom(told LookState) LookChange {
	change := LookChange{State: s.State(), Waiting: s.Waiting, PerHour: s.Pace.PerHour}
	switch {
	case change.State == LooksStopped, told == LooksStopped:
		change.Reason = LooksByOperator
	case change.State == LooksOverdue:
		change.Reason = LooksNoTokens
	default:
		change.Reason = LooksCaughtUp
	}
	return change
}
