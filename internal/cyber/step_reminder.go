package cyber

import "time"

// Reminder is what a person is to be reminded of now, and when to look again; a zero Next means never.
type Reminder struct {
	Due  []PlannedStep
	Next time.Time
}

// ReminderOf decides which steps of a plan to remind of, each once, when it becomes due between since and now. There
// are no reminders for a finding that is closed or that the person was never alerted to.
func ReminderOf(p Plan, since, now time.Time) (r Reminder) {
	if !p.Finding.Open() || p.Finding.Quiet {
		return r
	}
	for _, s := range p.Steps {
		switch at := s.reminderTime(); {
		case at.After(now):
			if r.Next.IsZero() || at.Before(r.Next) {
				r.Next = at
			}
		case !at.Before(since) && s.State == StepTodo:
			r.Due = append(r.Due, s)
		}
	}
	return r
}

// FirstReminder returns when to look at a new finding for the first time; zero: never.
func FirstReminder(f Finding) time.Time {
	return ReminderOf(NewFindingPlan(f, nil), f.planStart(), f.planStart()).Next
}
