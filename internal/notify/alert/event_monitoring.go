package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// Leak is the data of LeakDetected: what was found of one person at one time.
type Leak struct {
	Findings []LeakFinding `json:"findings"`
}

// LeakFinding is one finding in a Leak.
type LeakFinding struct {
	ID       cyber.FindingID `json:"id"`
	Asset    cyber.AssetID   `json:"assetId"`
	Kind     string          `json:"assetType"`
	Status   cyber.Status    `json:"status"`
	Breach   string          `json:"breach"`
	Severity cyber.Severity  `json:"severity"`
	Exposed  []cyber.Exposed `json:"exposed"`
	Basis    cyber.Basis     `json:"basis"`
	OwnSite  bool            `json:"ownSite,omitzero"`
	Watched  bool            `json:"watchedSite,omitzero"`
	// LeakedAs are the spellings of a Gmail mailbox, without its letters.
	LeakedAs []string `json:"leakedAs,omitempty"`
}

// NewLeakEvent tells of everything that was found of one person at one time.
func NewLeakEvent(news cyber.News, at time.Time) Event {
	leak := Leak{Findings: make([]LeakFinding, len(news.Found))}
	for i, f := range news.Found {
		leak.Findings[i] = LeakFinding{
			ID:       f.ID,
			Asset:    f.Asset,
			Kind:     f.Kind.String(),
			Status:   news.Status[f.Asset],
			Breach:   f.Breach.Name,
			Severity: f.Severity,
			Exposed:  f.Breach.Exposes,
			Basis:    f.Basis(),
			OwnSite:  f.OwnSite,
			Watched:  f.WatchedSite,
			LeakedAs: f.LeakedAs(),
		}
	}
	return NewEvent(news.Partner, LeakDetected, news.User, at, leak)
}

// StatusChange is the data of StatusChanged.
type StatusChange struct {
	Asset    cyber.AssetID `json:"assetId"`
	Kind     string        `json:"assetType"`
	Previous cyber.Status  `json:"previousStatus"`
	Status   cyber.Status  `json:"status"`
}

// NewStatusEvent tells that a watched value has another status than before.
func NewStatusEvent(a cyber.Asset, before cyber.Status, at time.Time) Event {
	return NewEvent(
		a.Partner,
		StatusChanged,
		a.User,
		at,
		StatusChange{Asset: a.ID, Kind: a.Kind.String(), Previous: before, Status: a.Status},
	)
}

// DueSteps is the data of StepDue: what one person is to be reminded of at one time.
type DueSteps struct {
	Steps []DueOne `json:"steps"`
}

// DueOne is one step in a DueSteps.
type DueOne struct {
	Finding   cyber.FindingID `json:"findingId"`
	Breach    string          `json:"breach"`
	Step      cyber.StepID    `json:"step"`
	Essential bool            `json:"essential"`
	Due       string          `json:"dueAt"`
}

// NewStepsDueEvent tells of the steps of a person's plans whose deadline nears; plans hold no others.
func NewStepsDueEvent(id partner.ID, user partner.UserHash, plans []cyber.Plan, at time.Time) Event {
	var due DueSteps
	for _, p := range plans {
		for _, s := range p.Steps {
			due.Steps = append(due.Steps, DueOne{
				Finding:   p.Finding.ID,
				Breach:    p.Finding.Breach.Name,
				Step:      s.ID,
				Essential: s.Essential,
				Due:       s.Due.UTC().Format(TimeFormat),
			})
		}
	}
	return NewEvent(id, StepDue, user, at, due)
}

// LooksChanged is the data of FirstLooksChanged.
type LooksChanged struct {
	State   cyber.LookState  `json:"state"`
	Reason  cyber.LookReason `json:"reason"`
	Waiting int64            `json:"waiting"`
	PerHour int64            `json:"perHour"`
}

// LooksChange tells a partner that the first looks of its new values wait, were stopped, or go on.
func LooksChange(id partner.ID, change cyber.LookChange, at time.Time) Event {
	return NewEvent(id, FirstLooksChanged, "", at, LooksChanged(change))
}
