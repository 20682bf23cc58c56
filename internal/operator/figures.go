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
	// Day is that calendar day, as midnight UTC.
	Day   time.Time
	Count int64
}

// Brasilia is the distance of the operator's clock from UTC: days begin at midnight there. Brazil has had no summer
// time since 2019.
const Brasilia = -3 * time.Hour

// DayOf numbers the calendar day of a moment in Brasília: days since 1970-01-01.
func DayOf(t time.Time) int64 { return int64(t.Add(Brasilia).Sub(time.Unix(0, 0)) / (24 * time.Hour)) }

// Series returns the last FigureDays days of a figure up to today, with zeros for days without a count.
func (f Figures) Series(name Figure, now time.Time) []DayCount {
	today := time.Unix(DayOf(now)*24*60*60, 0).UTC()
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
