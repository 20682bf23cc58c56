package cyber

// Status is what a watched value's listing says.
type Status string

// The statuses, to the letter of the contract.
const (
	StatusMonitored   Status = "monitorado"
	StatusAlert       Status = "alerta"
	StatusCompromised Status = "comprometido"
)

// IsKnown reports whether it is one of the statuses: see sqldb.Enumerated.
func (s Status) IsKnown() bool {
	switch s {
	case StatusMonitored, StatusAlert, StatusCompromised:
		return true
	}
	return false
}

// Severity is how bad a finding is for the person.
type Severity string

// The severities, mildest first.
const (
	SeverityLow      Severity = "low"
	SeverityMedium   Severity = "medium"
	SeverityHigh     Severity = "high"
	SeverityCritical Severity = "critical"
)

// Severities lists them, the mildest first.
func Severities() []Severity {
	return []Severity{SeverityLow, SeverityMedium, SeverityHigh, SeverityCritical}
}

// ComputeStatus returns the status of a value with these findings; no other function computes one. Nothing open is
// monitored, something open is an alert, and an open finding whose breach exposed something usable against the person
// is a compromise.
func ComputeStatus(findings []Finding) Status {
	status := StatusMonitored
	for _, f := range findings {
		if !f.Open() {
			continue
		}
		if f.Breach.IsUsable() {
			return StatusCompromised
		}
		status = StatusAlert
	}
	return status
}

// IsUsable reports whether what a breach exposed can be used against the person: a password, card data, a government id
// together with identity data, or whatever a stealer took from their own device. Of fabricated data and spam lists
// nothing can.
func (b Breach) IsUsable() bool {
	switch {
	case b.Fabricated || b.SpamList:
		return false
	case b.wasTakenByStealer(), b.Has(ExposedPassword, ExposedCard):
		return true
	}
	return b.Has(ExposedCPF, ExposedDocument) && b.Has(ExposedName, ExposedBirthDate, ExposedAddress)
}

// wasTakenByStealer reports whether a stealer took something from the person's device that opens an account. Of a log
// whose records are not told apart that is assumed.
func (b Breach) wasTakenByStealer() bool {
	return b.Kind == SourceStealer && (b.Basis != BasisRow || b.Has(ExposedPassword, ExposedCookies))
}

// SeverityOf grades a finding by what was exposed, where it came from, and whether a key to the partner's own house, or
// to one that is watched for it, is among it. Fabricated data and spam lists are never more than a nuisance.
func SeverityOf(f Finding) Severity {
	if (f.OwnSite || f.WatchedSite) && !f.Breach.Fabricated && !f.Breach.SpamList {
		return SeverityCritical
	}
	return f.Breach.severityLevel()
}

// severityLevel returns how bad it is to be in the breach.
func (b Breach) severityLevel() Severity {
	switch {
	case b.Fabricated || b.SpamList:
		return SeverityLow
	case b.wasTakenByStealer() || b.Has(ExposedPassword) && b.Has(ExposedCard, ExposedFinancial):
		return SeverityCritical
	case b.IsUsable():
		return SeverityHigh
	case b.Has(ExposedPasswordHash, ExposedCPF, ExposedDocument, ExposedFinancial, ExposedHealth, ExposedCookies),
		b.Kind == SourcePhish:
		return SeverityMedium
	}
	return SeverityLow
}
