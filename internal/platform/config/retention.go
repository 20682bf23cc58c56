package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
)

// leastRetention is longer than the 75 hours over which a delivery is tried, and than the five days after which a dead
// endpoint is disabled.
const leastRetention = 7 * 24 * time.Hour

// Bounds of how long things are kept, in days. Card rules ask for twelve months of audit trail.
const (
	leastAudit = 365
	mostDays   = 36500
)

// alertProblems checks the settings of webhooks, endpoint reports and retention, and returns all problems at once.
func (s Serve) alertProblems() Problems {
	var p Problems
	if err := s.OutgoingSettings().CheckOutgoing(); err != nil {
		errors.As(err, &p)
	}
	for _, text := range s.EppSecrets {
		base, has := strings.CutPrefix(text, "whsec_")
		if key, err := base64.StdEncoding.DecodeString(base); !has || err != nil || len(key) < 24 || len(key) > 64 {
			p = append(p, "--epp-callback-secret: expected whsec_ and the base64 of 24 to 64 bytes")
		}
	}
	p.addProblemIf(s.WebhookSlots < 0 || s.WebhookSlots > 256, "--webhook-slots: 0 (the default) to 256")
	p.addProblemIf(s.WebhookRate < 0 || s.WebhookRate > 100_000, "--webhook-rate: 0 (no limit) to 100000")
	for _, k := range []struct {
		flag string
		days int
	}{
		{"--keep-attempts", s.KeepAttempts},
		{"--keep-subscriptions", s.KeepSubscriptions},
		{"--keep-cases", s.KeepCases},
		{"--keep-devices", s.KeepDevices},
		{"--keep-scores", s.KeepScores},
		{"--keep-jobs", s.KeepJobs},
	} {
		p.addProblemIf(k.days < 0 || k.days > mostDays, fmt.Sprintf("%s: 0 (for ever) to %d days", k.flag, mostDays))
	}
	p.addProblemIf(s.KeepAudit != 0 && (s.KeepAudit < leastAudit || s.KeepAudit > mostDays),
		fmt.Sprintf("--keep-audit: 0 (for ever), or %d to %d days", leastAudit, mostDays))
	p.addProblemIf(s.EventRetention != 0 && s.EventRetention < leastRetention, "--event-retention: at least 168h")
	return p
}
