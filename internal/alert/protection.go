package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// CaseChange is the data of CaseStatusChanged.
type CaseChange struct {
	Case     cyber.CaseID     `json:"caseId"`
	Service  cyber.ServiceID  `json:"serviceId"`
	Previous cyber.CaseStatus `json:"previousStatus"`
	Status   cyber.CaseStatus `json:"status"`
}

// CaseMoved tells of a case's move.
func CaseMoved(c cyber.Case, m cyber.CaseMove) (Event, error) {
	return New(c.Partner, CaseStatusChanged, c.User, m.At, CaseChange{Case: c.ID, Service: c.Service, Previous: m.From, Status: m.To})
}

// KeyExpiry is the data of KeyExpiring. It never holds the key.
type KeyExpiry struct {
	Key        cyber.KeyID  `json:"keyId"`
	System     cyber.System `json:"operatingSystem"`
	ValidUntil string       `json:"validUntil"` // in TimeFormat
}

// KeyExpires tells that a device's key ends soon.
func KeyExpires(d cyber.Device, at time.Time) (Event, error) {
	return New(d.Partner, KeyExpiring, d.User, at, KeyExpiry{Key: d.ID, System: d.System, ValidUntil: d.ValidUntil.UTC().Format(TimeFormat)})
}
