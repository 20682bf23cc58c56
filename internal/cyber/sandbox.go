package cyber

import (
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
)

// SandboxBreach is the made-up breach of sandbox partners.
const SandboxBreach = "sandbox"

// SandboxPassword is the one that stands in the records of the sandbox that hold one: the first 40 bits of the SHA-1 of
// "password".
const SandboxPassword = 0x5baa61e4c9

// sandboxRecords are what stands in the records of the made-up breach that hold the documented value of a kind. They
// differ, so that partners see every status.
var sandboxRecords = map[identifier.Kind][]Exposed{
	identifier.Email:  {ExposedEmail, ExposedPassword, ExposedName},
	identifier.Domain: {ExposedEmail, ExposedPassword, ExposedName},
	identifier.CPF:    {ExposedCPF, ExposedName, ExposedBirthDate},
	identifier.Phone:  {ExposedPhone, ExposedName},
	identifier.Card:   {ExposedCard, ExposedName},
	identifier.PixKey: {ExposedName, ExposedFinancial},
	identifier.CNPJ:   {ExposedName, ExposedOther},
}

// sandboxSeen tells where a value of a sandbox partner is found: nowhere, or in the made-up breach, if it is one of
// those that the documentation promises a leak for.
func sandboxSeen(k identifier.Kind, normal string) []Seen {
	if !sandboxLeak(k, normal) {
		return nil
	}
	return []Seen{{Breach: SandboxBreach, Trace: Trace{Told: true, Classes: NewClasses(sandboxRecords[k])}}}
}

// sandboxLeak reports whether a value is one of the documented test values that count as leaked in the sandbox.
func sandboxLeak(k identifier.Kind, normal string) bool {
	switch k {
	case identifier.Email:
		return strings.HasSuffix(normal, "@vazamento.test")
	case identifier.CPF:
		return normal == "00000000191"
	case identifier.Phone:
		return normal == "+5511999990000"
	case identifier.Card:
		return normal == "4000000000000002"
	case identifier.Domain:
		return normal == "vazamento.test"
	case identifier.PixKey:
		return normal == "00000000-0000-4000-8000-000000000002"
	case identifier.CNPJ:
		return normal == "VAZAMENTO00103"
	}
	return false
}

// MadeUpBreach returns what is told of the made-up breach.
func MadeUpBreach() Breach {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return Breach{
		Name:        SandboxBreach,
		Title:       "Vazamento de demonstração",
		Date:        day,
		Source:      "Vigia",
		Description: "Dados fictícios para parceiros em teste.",
		Exposes: []Exposed{
			ExposedEmail,
			ExposedPassword,
			ExposedCPF,
			ExposedPhone,
			ExposedCard,
			ExposedName,
		},
		Kind:     SourceBreach,
		Verified: true,
		AddedAt:  day,
	}
}

// SandboxTimes returns the made-up calendar of a sandbox partner, the same for every service that has one: three times
// on each of the next five days, in the time of Brasília.
func SandboxTimes(now time.Time) []time.Time {
	const days = 5
	day := now.UTC().Truncate(24 * time.Hour)
	var times []time.Time
	for n := 1; n <= days; n++ {
		for _, hour := range []int{13, 17, 19} { // 10, 14 and 16 o'clock there
			times = append(times, day.AddDate(0, 0, n).Add(time.Duration(hour)*time.Hour))
		}
	}
	return times
}
