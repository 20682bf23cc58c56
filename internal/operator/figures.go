package operator

import "time"

// Figure names one count that an operator looks at.
type Figure string

// The figures. Those of a day are kept for each day, the others as they stand now.
const (
	SubscriptionsActive    Figure = "subscriptions.active"
	SubscriptionsSuspended Figure = "subscriptions.suspended"
	SubscriptionsEnded     Figure = "subscriptions.ended"
	AssetsMonitored        Figure = "assets.monitored"
	AssetsAlert            Figure = "assets.alert"
	AssetsCompromised      Figure = "assets.compromised"
	FindingsOpen           Figure = "findings.open"
	FindingsResolved       Figure = "findings.resolved"
	DeliveriesPending      Figure = "deliveries.pending"
	DeliveriesFailed       Figure = "deliveries.failed"
	CasesOpen              Figure = "cases.open"
	DevicesLive            Figure = "devices.live"

	FindingsOfDay      Figure = "day.findings"
	AlertsOfDay        Figure = "day.alerts"
	EventsOfDay        Figure = "day.events"
	SubscriptionsOfDay Figure = "day.subscriptions"
	DeliveriesOfDay    Figure = "day.deliveries"
)

// FigureDays is how many days the charts show.
const FigureDays = 30

// Figures are the counts of the whole service, or of one partner, at one moment.
type Figures struct {
	// At is when they were counted; zero before the first time.
	At    time.Time
	Now   map[Figure]int64
	ByDay map[Figure][]DayCount
}

// DayCount is a figure of one day.
type DayCount struct {
	// Day is that day at 00:00 UTC.
	Day   time.Time
	Count int64
}

// Series returns the last FigureDays days of a figure up to today, with zeros for days without a count.
func (f Figures) Series(name Figure, now time.Time) []DayCount {
	today := now.UTC().Truncate(24 * time.Hour)
	days := make([]DayCount, FigureDays)
	for i := range days {
		days[i].Day = today.AddDate(0, 0, i-FigureDays+1)
	}
	for _, d := range f.ByDay[name] {
		if i := int(d.Day.Sub(days[0].Day) / (24 * time.Hour)); i >= 0 && i < len(days) {
			days[i].Count += d.Count
		}
	}
	return days
}
