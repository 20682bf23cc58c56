package console

import (
	"context"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
)

// TestWholeLeakIsNoRecord: of a finding that is known from the leak as a whole, no page says that a password stood beside
// the value.
func TestWholeLeakIsNoRecord(t *testing.T) {
	for _, basis := range []cyber.Basis{cyber.BasisRow, cyber.BasisBreach} {
		found := cyber.Found{Finding: cyber.Finding{Severity: cyber.SeverityHigh, Breach: cyber.Breach{
			Name:    cyber.SandboxBreach,
			Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
			Basis:   basis,
		}}}
		told, err := (&Console{}).explainFinding(context.Background(), found)
		if err != nil {
			t.Fatal(err)
		}
		isRecord := basis == cyber.BasisRow
		if told.HasPassword != isRecord || strings.Contains(told.Why[0], "como um todo") == isRecord {
			t.Errorf("%s: a password beside it: %t; %q", basis, told.HasPassword, told.Why)
		}
	}
}
