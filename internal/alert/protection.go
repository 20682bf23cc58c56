package alert

import (
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// CaseChange is the data of case.status_changed.
type CaseChange struct {
	User     partner.UserHash `json:"userHash"`
	Case     cyber.CaseID     `json:"caseId"`
	Service  cyber.ServiceID  `json:"serviceId"`
	Previous cyber.CaseStatus `json:"previousStatus"`
	Status   cyber.CaseStatus `json:"status"`
}

// KeyExpiry is the data of epp.key_expiring.
type KeyExpiry struct {
	User       partner.UserHash `json:"userHash"`
	Key        cyber.KeyID      `json:"keyId"`
	System     cyber.System     `json:"operatingSystem"`
	ValidUntil string           `json:"validUntil"` // in TimeFormat
}
