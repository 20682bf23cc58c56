package operator

import (
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// Figure names one count that an operator looks at.
type Figure string

// The figures. Those of a day are kept for each day, the others as they stand now.
const (
	SubscriptionsActive    Figure = "subscriptions.active"
	SubscriptionsSuspended Figure = "subscriptions.suspended"
	SubscriptionsEnded     Figure = "subscriptions.ended"
	AssetsMonitored        Figure = "assets.monitored" // were looked for in past breaches and not found
	AssetsUnlooked         Figure = "assets.unlooked"  // were not looked for yet
	AssetsAlert            Figure = "assets.alert"
	AssetsCompromised      Figure = "assets.compromised"
	FindingsOpen           Figure = "findings.open"
	FindingsResolved       Figure = "findings.resolved"
	DeliveriesPending      Figure = "deliveries.pending"
	DeliveriesFailed       Figure = "deliveries.failed"
	CasesOpen              Figure = "cases.open"
	DevicesProtected       Figure = "devices.protected"

	FindingsOfDay      Figure = "day.findings"
	AlertsOfDay        Figure = "day.alerts"
	EventsOfDay        Figure = "day.events"
	SubscriptionsOfDay Figure = "day.subscriptions"
	DeliveriesOfDay    Figure = "day.deliveries"

	// Cases of a day: those opened, and those resolved within their target and after it.
	CasesOpenedOfDay Figure = "day.cases.opened"
	CasesInTimeOfDay Figure = "day.cases.in_time"
	CasesLateOfDay   Figure = "day.cases.late"

	// Of one endpoint: what arrived in a day, what was given up, and the microseconds from the event to its arrival.
	ArrivedOfDay Figure = "day.endpoint.arrived"
	GivenUpOfDay Figure = "day.endpoint.given_up"
	TravelOfDay  Figure = "day.endpoint.travel"
	// Backlog is what waits for an endpoint now, Arrived what came there in the last 24 hours.
	Backlog Figure = "endpoint.backlog"
	Arrived Figure = "endpoint.arrived"
)

// ScoreBands is into how many equal bands scores are parted; ScoresIn is how many of a sample of people are in one.
const ScoreBands = 10

// ScoreBandFigure is described above.
func ScoreBandFigure(band int) Figure { return Figure("scores.band" + string(rune('0'+band))) }

// Figures are the counts of the whole service, or of one partner, at one moment.
type Figures struct {
	// At is when they were counted; zero before the first time.
	At  time.Time
	Now map[Figure]int64
}

// DayCount is a figure of one day.
type DayCount struct {
	// Day is that calendar day, as midnight UTC.
	Day   time.Time
	Count int64
}

// Brasilia is the distance of the operator's clock from UTC.
const Brasilia = partner.Brasilia

// FillLastDays lays counts of days out as the last days up to today, with zeros for days without a count.
func FillLastDays(counts []DayCount, now time.Time, days int) []DayCount {
	list := make([]DayCount, days)
	first := time.Unix((partner.DayNumber(now)-int64(days)+1)*24*60*60, 0).UTC()
	for i := range list {
		list[i].Day = first.AddDate(0, 0, i)
	}
	for _, d := range counts {
		if i := int(d.Day.Sub(first) / (24 * time.Hour)); i >= 0 && i < days {
			list[i].Count += d.Count
		}
	}
	return list
}
