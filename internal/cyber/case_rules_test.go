package cyber

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// folder is a store of one case and one target.
type folder struct {
	CaseStore
	c      Case
	target time.Duration
}

func (f *folder) UpdateCase(_ context.Context, _ CaseID, change func(*Case) (CaseMove, error)) (Case, error) {
	_, err := change(&f.c)
	return f.c, err
}

func (f *folder) SetTarget(_ context.Context, _ ServiceID, target time.Duration) error {
	f.target = target
	return nil
}

// TestAssign: a case has somebody who works on it, or nobody.
func TestAssign(t *testing.T) {
	f := &folder{}
	rules := NewCases(f, func() time.Time { return modelNow })
	for _, c := range []struct {
		to, want string
		ok       bool
	}{{" Bia ", "Bia", true}, {"", "", true}, {"  ", "", true}, {strings.Repeat("x", 101), "Bia", false}, {"a\x00b", "Bia", false}} {
		f.c.Assignee = "Bia"
		if _, err := rules.Assign(t.Context(), "cs_1", c.to); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrCaseInvalid) || f.c.Assignee != c.want {
			t.Errorf("%q: %q, %v", c.to, f.c.Assignee, err)
		}
	}
	if !f.c.ChangedAt.Equal(modelNow) {
		t.Error("a change does not show in the case's time")
	}
}

// TestTarget: from none to 366 days.
func TestTarget(t *testing.T) {
	year := 366 * 24 * time.Hour
	for target, ok := range map[time.Duration]bool{0: true, time.Hour: true, year: true, year + 1: false, -1: false} {
		f := &folder{target: time.Minute}
		err := NewCases(f, nil).SetTarget(t.Context(), "sv_1", target)
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrCaseInvalid) || ok != (f.target == target) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestTriageNamesTheQuestion: whoever left a question out is told which one, counted as people count.
func TestTriageNamesTheQuestion(t *testing.T) {
	asks := Triage{Questions: []Question{{ID: "qs_1", Text: "Um?"}, {ID: "qs_2", Text: "Dois?", Required: true, Options: []string{"sim", "talvez"}}}}
	for name, c := range map[string]struct {
		answers []TriageAnswer
		want    string
	}{
		"left out":      {nil, "question 2 (qs_2) is not answered"},
		"blank":         {[]TriageAnswer{{Question: "qs_2", Answer: " "}}, "question 2 (qs_2) is not answered"},
		"not an option": {[]TriageAnswer{{Question: "dois?", Answer: "sei"}}, "question 2 (qs_2) is none of its options"},
		"answered":      {[]TriageAnswer{{Question: " dois?", Answer: "SIM "}}, ""},
	} {
		err := asks.check(c.answers)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrCaseInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFirstAppointment: times before 1970 are none.
func TestFirstAppointment(t *testing.T) {
	if at, err := ParseAppointment("x", "1970-01-01T00:00:00Z"); err != nil || at.Unix() != 0 {
		t.Error(at, err)
	}
	if _, err := ParseAppointment("x", "1969-12-31T23:59:59Z"); !errors.Is(err, ErrCaseInvalid) {
		t.Error(err)
	}
}
