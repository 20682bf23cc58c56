package cyber

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// folder is a store of one case and one target.
type folder struct {
	CaseStore
	c      Case
	added  []CaseMove
	target time.Duration
}

func (f *folder) UpdateCase(_ context.Context, _ CaseKey, change func(*Case) (CaseChange, error)) (Case, error) {
	done, err := change(&f.c)
	f.added = done.Lines
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
		if _, err := rules.AssignCase(
			t.Context(),
			"cs_1",
			c.to,
		); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrCaseInvalid) ||
			f.c.Assignee != c.want {
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
		err := NewCases(f, nil).SetTargetTime(t.Context(), "sv_1", target)
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrCaseInvalid) || ok != (f.target == target) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestTriageNamesTheQuestion: whoever left a question out is told which one, counted as people count.
func TestTriageNamesTheQuestion(t *testing.T) {
	asks := Triage{
		Questions: []Question{
			{ID: "qs_1", Text: "Um?"},
			{ID: "qs_2", Text: "Dois?", Required: true, Options: []string{"sim", "talvez"}},
		},
	}
	for name, c := range map[string]struct {
		answers []TriageAnswer
		want    string
	}{
		"left out":      {nil, `question 2 (qs_2) is not answered: "Dois?"`},
		"blank":         {[]TriageAnswer{{Question: "qs_2", Answer: " "}}, "question 2 (qs_2) is not answered"},
		"not an option": {[]TriageAnswer{{Question: "dois?", Answer: "sei"}}, "question 2 (qs_2) is none of its options"},
		"answered":      {[]TriageAnswer{{Question: " dois?", Answer: "SIM "}}, ""},
	} {
		err := asks.checkAnswers(c.answers)
		if c.want == "" && err != nil ||
			c.want != "" && (!errors.Is(err, ErrCaseInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPersonsWord: in which statuses a person can do what, and where the case is afterwards.
func TestPersonsWord(t *testing.T) {
	key := CaseKey{ID: "cs_1", Partner: "pt_1", User: "u"}
	refused := CaseStatus("refused")
	for what, c := range map[string]struct {
		do    func(*Cases) error
		after [6]CaseStatus // in the order of CaseStatuses
	}{
		"tell": {
			func(r *Cases) error { _, err := r.AddMessage(t.Context(), key, Message{Text: "oi"}); return err },
			[6]CaseStatus{CaseOpen, CaseInProgress, CaseInProgress, CaseOpen, refused, refused},
		},
		"cancel": {
			func(r *Cases) error { _, err := r.CancelCase(t.Context(), key, ""); return err },
			[6]CaseStatus{CaseCancelled, CaseCancelled, CaseCancelled, refused, refused, CaseCancelled},
		},
		"rebook": {
			func(r *Cases) error {
				_, err := r.RebookCase(t.Context(), key, "live", []time.Time{modelNow})
				return err
			},
			[6]CaseStatus{CaseOpen, CaseInProgress, CaseWaiting, refused, refused, refused},
		},
		"rate": {
			func(r *Cases) error { _, err := r.RateCase(t.Context(), key, 5, ""); return err },
			[6]CaseStatus{refused, refused, refused, CaseResolved, CaseClosed, refused},
		},
	} {
		for i, from := range CaseStatuses() {
			f := &folder{c: Case{Status: from}}
			err := c.do(NewCases(f, func() time.Time { return modelNow }))
			switch want := c.after[i]; {
			case want == refused && (fault.KindOf(err) != fault.Conflict || f.c.Status != from):
				t.Errorf("%s of a case that is %s: %v", what, from, err)
			case want != refused && (err != nil || f.c.Status != want):
				t.Errorf("%s of a case that is %s: %v, now %s, want %s", what, from, err, f.c.Status, want)
			}
			for _, m := range f.added {
				if m.Actor != "" || m.At != modelNow {
					t.Errorf("%s: %+v is not the person's", what, m)
				}
			}
		}
	}
}

// TestMessage: what a person may write, and how an attachment is read again.
func TestMessage(t *testing.T) {
	f := &folder{c: Case{Status: CaseOpen}}
	rules := NewCases(f, func() time.Time { return modelNow })
	for name, c := range map[string]struct {
		m  Message
		ok bool
	}{
		"plain":           {Message{Text: " oi\ntudo bem? "}, true},
		"blank":           {Message{Text: "  "}, false},
		"long":            {Message{Text: strings.Repeat("x", 2001)}, false},
		"control":         {Message{Text: "a\x00b"}, false},
		"attachment":      {Message{Text: "veja", Attachment: &Attachment{"cabecalho.txt", "Received: x\nFrom: y"}}, true},
		"nothing in it":   {Message{Text: "veja", Attachment: &Attachment{}}, false},
		"no name":         {Message{Text: "veja", Attachment: &Attachment{"", "x"}}, false},
		"no text":         {Message{Text: "veja", Attachment: &Attachment{"a.txt", ""}}, false},
		"two-line name":   {Message{Text: "veja", Attachment: &Attachment{"a\nb", "x"}}, false},
		"long attachment": {Message{Text: "veja", Attachment: &Attachment{"a", strings.Repeat("x", 20_001)}}, false},
	} {
		f.added = nil
		_, err := rules.AddMessage(t.Context(), CaseKey{}, c.m)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrCaseInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if c.ok && f.added[0].Note != strings.TrimSpace(c.m.Text) ||
			c.m.Attachment != nil && c.ok && f.added[1].ParseAttachment() != *c.m.Attachment {
			t.Errorf("%s: kept as %+v", name, f.added)
		}
	}
	for _, bad := range []int{0, 6, -1} {
		if _, err := rules.RateCase(t.Context(), CaseKey{}, bad, ""); !errors.Is(err, ErrCaseInvalid) {
			t.Errorf("rating %d: %v", bad, err)
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

// busyFolder is a folder whose transactions run twice and then fail as often as failures says.
type busyFolder struct {
	folder
	failures int
}

func (*busyFolder) EndingCases(context.Context, time.Time, int) ([]CaseID, error) {
	return []CaseID{"cs_1", "cs_2"}, nil
}

func (f *busyFolder) UpdateCase(_ context.Context, _ CaseKey, change func(*Case) (CaseChange, error)) (Case, error) {
	due := Case{Status: CaseInProgress, Ending: Ending{To: CaseResolved, Actor: "bia", At: modelNow}}
	var err error
	for range 2 {
		c := due
		_, err = change(&c)
	}
	if f.failures > 0 {
		f.failures--
		return due, errors.New("the database is gone")
	}
	return due, err
}

// TestMakeEndingsCountsWhatWasKept: a move counts once, however often its transaction ran, and not at all when it was
// not kept.
func TestMakeEndingsCountsWhatWasKept(t *testing.T) {
	for failures, want := range map[int]int{0: 2, 1: 1, 2: 0} {
		rules := NewCases(&busyFolder{failures: failures}, func() time.Time { return modelNow })
		if made, err := rules.MakeEndings(t.Context()); made != want || (err == nil) != (failures == 0) {
			t.Errorf("with %d failures %d moves were made, want %d: %v", failures, made, want, err)
		}
	}
}
