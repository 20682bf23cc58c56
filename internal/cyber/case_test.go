package cyber_test

import (
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

func TestParseAppointment(t *testing.T) {
	want := time.Date(2026, 2, 3, 14, 0, 0, 0, time.UTC)
	for _, good := range []string{
		"2026-02-03T14:00:00.000Z", "2026-02-03T14:00:00Z", "2026-02-03T14:00Z", "2026-02-03T11:00:00-03:00", "2026-02-03T11:00:00-0300",
		"2026-02-03T11:00-03", "2026-02-03T11:00:00", "2026-02-03T11:00", "20260203T140000Z", "20260203T1100-0300", "2026-02-03T14:00:00,000Z",
		"2026-02-03T14:00:00.000000000Z",
	} {
		if at, err := cyber.ParseAppointment("f", good); err != nil || !at.Equal(want) {
			t.Errorf("%s: %v, %v", good, at, err)
		}
	}
	for _, bad := range []string{
		"", "2026-02-03", "14:00", "2026-02-30T14:00:00Z", "2026-13-01T14:00:00Z", "2026-02-03 14:00:00", "2026-02-03T25:00:00Z",
		"03/02/2026 14:00", "amanhã", "1770127200", "2026-02-03T14:00:00Z x", "0001-01-01T00:00:00Z",
	} {
		if _, err := cyber.ParseAppointment("f", bad); !errors.Is(err, cyber.ErrCaseInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestParseCaseStatus(t *testing.T) {
	for in, want := range map[string]cyber.CaseStatus{
		"Aberto": cyber.CaseOpen, "em-andamento": cyber.CaseInProgress, "AGUARDANDO_CLIENTE": cyber.CaseWaiting, " fechado ": cyber.CaseClosed,
	} {
		if got, err := cyber.ParseCaseStatus(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if _, err := cyber.ParseCaseStatus("pendente"); !errors.Is(err, cyber.ErrCaseInvalid) {
		t.Error(err)
	}
}

func TestClock(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	running := cyber.Clock{Target: 10 * time.Hour, Used: 3 * time.Hour, Since: start}
	if due, ok := running.Due(); !ok || !due.Equal(start.Add(7*time.Hour)) {
		t.Error(due, ok)
	}
	if running.Late(start.Add(7*time.Hour)) || !running.Late(start.Add(7*time.Hour+1)) {
		t.Error("late at the wrong time")
	}
	standing := cyber.Clock{Target: 10 * time.Hour, Used: 3 * time.Hour}
	if _, ok := standing.Due(); ok || standing.UsedAt(start.Add(1000*time.Hour)) != 3*time.Hour ||
		standing.Late(start) {
		t.Error("a standing clock moves")
	}
	if (cyber.Clock{Since: start}).Late(start.Add(1e6 * time.Hour)) {
		t.Error("late without a target")
	}
}
