package alert

import "time"

// Report compares what happened with what the partner got.
type Report struct {
	Events int64
	// Pushed are events that every endpoint wanting them has received, and at least one did.
	Pushed int64
	// Pulled are events up to the cursor that the partner has shown.
	Pulled int64
	// Missing are neither pushed nor pulled.
	Missing int64
	// Oldest are the first of the missing.
	Oldest    []Kept
	Endpoints []EndpointReport
	// Next is the number of the last event that was looked at, if there are more, and Until its time.
	Next  int64
	Until time.Time
}

// ReportOf says which events are compared.
type ReportOf struct {
	// From and To are a window; a zero time is an open end.
	From, To time.Time
	// After is the number of an event: only later ones count.
	After int64
	// Most is how many are looked at; 0 is all.
	Most int
	// Show is how many of the missing are named.
	Show int
}

// EndpointReport counts an endpoint's deliveries by state.
type EndpointReport struct {
	Endpoint                         EndpointID
	State                            EndpointState
	Delivered, Pending, Held, Failed int64
}

func (e *EndpointReport) countDelivery(s DeliveryState) {
	switch s {
	case Delivered:
		e.Delivered++
	case Pending:
		e.Pending++
	case Held:
		e.Held++
	case DeliveryFailed:
		e.Failed++
	}
}

// Sent is an event and one of its deliveries, as a tally counts them; without any, Endpoint is empty.
type Sent struct {
	Seq      int64
	At       time.Time
	Type     Type
	Endpoint EndpointID
	State    DeliveryState
}

// Tally makes a report of events as they are read.
type Tally struct {
	report Report
	of     ReportOf
	pulled Pulls
	lines  map[EndpointID]int // places in report.Endpoints
	oldest []int64
}

// NewTally begins a report on a partner's endpoints, each with its name and state.
func NewTally(of ReportOf, pulled Pulls, endpoints []EndpointReport) *Tally {
	t := &Tally{report: Report{Endpoints: endpoints}, of: of, pulled: pulled, lines: map[EndpointID]int{}}
	for i, e := range endpoints {
		t.lines[e.Endpoint] = i
	}
	return t
}

// Remaining returns how many more events may be read, at most atOnce.
func (t *Tally) Remaining(atOnce int64) int64 {
	if t.of.Most > 0 {
		return min(atOnce, int64(t.of.Most)-t.report.Events)
	}
	return atOnce
}

// AddEvents counts events with their deliveries, those of one event behind each other, and tells how many events they
// were and which was the last.
func (t *Tally) AddEvents(rows []Sent) (events, last int64) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Seq == rows[0].Seq {
			n++
		}
		t.addEvent(rows[:n])
		rows, events = rows[n:], events+1
	}
	return events, t.report.Next
}

// addEvent counts one event. A delivery to an endpoint that there is no more says nothing.
func (t *Tally) addEvent(rows []Sent) {
	e, r, sent, open := rows[0], &t.report, 0, 0
	for _, d := range rows {
		line, there := t.lines[d.Endpoint]
		if !there {
			continue
		}
		sent++
		if r.Endpoints[line].countDelivery(d.State); d.State != Delivered {
			open++
		}
	}
	r.Events++
	r.Next, r.Until = e.Seq, e.At
	pushed, pulled := sent > 0 && open == 0, t.pulled.HasRead(e.Type, e.Seq)
	if pushed {
		r.Pushed++
	}
	if pulled {
		r.Pulled++
	}
	if pushed || pulled {
		return
	}
	if r.Missing++; len(t.oldest) < t.of.Show {
		t.oldest = append(t.oldest, e.Seq)
	}
}

// FinishReport returns the report and the numbers of the missing events that it is to name. Where no event is left to
// look at, nothing says where to go on.
func (t *Tally) FinishReport(more bool) (r Report, oldest []int64) {
	if !more {
		t.report.Next, t.report.Until = 0, time.Time{}
	}
	return t.report, t.oldest
}
