package alert

import (
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// Leak is the data of LeakDetected: what was found of one person at one time.
type Leak struct {
	User     partner.UserHash `json:"userHash"`
	Findings []LeakFinding    `json:"findings"`
}

// LeakFinding is one finding in a Leak.
type LeakFinding struct {
	ID       cyber.FindingID `json:"id"`
	Asset    cyber.AssetID   `json:"assetId"`
	Kind     string          `json:"assetType"`
	Status   cyber.Status    `json:"status"`
	Breach   string          `json:"breach"`
	Severity cyber.Severity  `json:"severity"`
}

// StatusChange is the data of StatusChanged.
type StatusChange struct {
	User     partner.UserHash `json:"userHash"`
	Asset    cyber.AssetID    `json:"assetId"`
	Kind     string           `json:"assetType"`
	Previous cyber.Status     `json:"previousStatus"`
	Status   cyber.Status     `json:"status"`
}
