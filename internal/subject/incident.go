package subject

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Incident is what a report is about: a breach, or a window of time.
type Incident struct {
	Breach   string
	From, To time.Time
	// Partner narrows the report; empty means all.
	Partner partner.ID
}

// checkIncident refuses an incident without a breach or with a window that ends before it begins.
func (i Incident) checkIncident() error {
	switch {
	case (i.Breach == "") == i.From.IsZero():
		return ErrInvalid.With("breach", fault.BreachOrWindow)
	case i.Breach == "" && !i.From.Before(i.To):
		return ErrInvalid.With("to", fault.WindowReversed)
	}
	return nil
}

// Affected is a person of an incident.
type Affected struct {
	Partner partner.ID
	// User is the person as the partner names them.
	User partner.UserHash
	// Kinds counts the person's affected values by what they are.
	Kinds    map[identifier.Kind]int
	Breaches []string
	First    time.Time
	Last     time.Time
	// Values are the values in clear; the report leaves them out unless they were asked for with a reason.
	Values []string
}

// Showing counts lines of the audit trail.
type Showing struct {
	Actor, Action string
	Count         int64
}

// Report lists the people that an incident affects.
type Report struct {
	People   int
	Findings int
	// Partners counts people by partner, in the order of the list.
	Partners []PartnerCount
	Kinds    map[identifier.Kind]int
	// List is every person; it may be left out of what is shown.
	List []Affected
	// Showings are who saw or changed personal data in the window; for a report by time.
	Showings []Showing
	// Deadline is when the authority and the people have to be told if this is an incident of the service itself: three
	// working days from when it was known, local holidays not counted.
	Deadline time.Time
}

// PartnerCount is how many people of a partner are affected.
type PartnerCount struct {
	Partner partner.ID
	People  int
}

// ReportIncident finds the people that an incident affects. With a reason it shows their values in clear, and each
// person's line in the audit trail is written first.
func (d *Rights) ReportIncident(
	ctx context.Context, who operator.Actor, of Incident, known time.Time, reveal bool, reason string,
) (Report, error) {
	r := Report{Kinds: map[identifier.Kind]int{}}
	if err := of.checkIncident(); err != nil {
		return r, err
	}
	if reveal && reason == "" {
		return r, ErrNoReason.With("reason", fault.RevealReason)
	}
	err := d.store.Affected(ctx, of, func(a Affected) error {
		if n := len(r.Partners); n == 0 || r.Partners[n-1].Partner != a.Partner {
			r.Partners = append(r.Partners, PartnerCount{Partner: a.Partner})
		}
		r.Partners[len(r.Partners)-1].People++
		r.People++
		for k, n := range a.Kinds {
			r.Kinds[k] += n
			r.Findings += n
		}
		if !reveal {
			a.Values = nil
		}
		r.List = append(r.List, a)
		return nil
	})
	if err != nil {
		return r, fmt.Errorf("find the affected: %w", err)
	}
	if reveal {
		if err := d.recordReveals(ctx, who, r.List, reason); err != nil {
			return r, err
		}
	}
	if of.Breach == "" {
		if r.Showings, err = d.store.Showings(ctx, of.From, of.To); err != nil {
			return r, fmt.Errorf("read the audit trail: %w", err)
		}
	}
	r.Deadline = NoticeDeadline(known)
	return r, nil
}

// recordBatch is how many lines of the audit trail share a transaction.
const recordBatch = 200

// recordReveals writes a line to the audit trail for each person whose values are about to be shown, in batches.
func (d *Rights) recordReveals(ctx context.Context, who operator.Actor, list []Affected, reason string) error {
	for part := range slices.Chunk(list, recordBatch) {
		refs := make([]string, len(part))
		for i, a := range part {
			refs[i] = d.store.PersonReference(Person{User: a.User, Partner: a.Partner})
		}
		if err := d.trail.RecordAll(ctx, who, "subject.reveal", refs, reason); err != nil {
			return err
		}
	}
	return nil
}

// NoticeDeadline returns until when the authority and the people have to be told of an incident: see Report.Deadline.
func NoticeDeadline(known time.Time) time.Time { return addWorkingDays(known, 3) }

// addWorkingDays counts Monday to Friday; the day itself does not count.
func addWorkingDays(t time.Time, days int) time.Time {
	for days > 0 {
		if t = t.AddDate(0, 0, 1); t.Weekday() != time.Saturday && t.Weekday() != time.Sunday {
			days--
		}
	}
	return t
}
