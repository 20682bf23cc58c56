package partner

import "time"

// Brasilia is the distance of the service's days from UTC: they begin at midnight there. Brazil has had no summer time
// since 2019.
const Brasilia = -3 * time.Hour

// DayNumber numbers the calendar day of a moment in Brasília: days since 1970-01-01.
func DayNumber(t time.Time) int64 {
	return int64(t.Add(Brasilia).Sub(time.Unix(0, 0)) / (24 * time.Hour))
}

// UntilTomorrow returns how long the calendar day of Brasília lasts from a moment on.
func UntilTomorrow(t time.Time) time.Duration {
	return 24*time.Hour - t.Add(Brasilia).Sub(time.Unix(0, 0))%(24*time.Hour)
}
