package difftest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// noted is a test that notes what it is told instead of failing.
type noted struct {
	testing.TB
	told string
}

func (n *noted) Helper() {}

func (n *noted) Errorf(_ string, args ...any) { n.told = args[1].(string) }

// TestCheck: equal values pass, one moment in two zones is one, and of others only the fields that differ are told.
func TestCheck(t *testing.T) {
	type value struct {
		Name  string
		at    time.Time
		notes []string
	}
	noon := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	got := value{"Ana", noon, []string{"a"}}
	same := value{"Ana", noon.In(time.FixedZone("", -3*3600)), []string{"a"}}
	n := &noted{TB: t}
	if difftest.Check(n, "a value", got, same); n.told != "" {
		t.Errorf("equal values differ: %s", n.told)
	}
	other := same
	other.notes = []string{"b"}
	difftest.Check(n, "a value", got, other)
	if !strings.Contains(n.told, "notes") || strings.Contains(n.told, "-\tName") {
		t.Errorf("told %q", n.told)
	}
}
