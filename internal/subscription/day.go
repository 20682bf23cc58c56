package subscription

import (
	"time"
	_ "time/tzdata" // the binary knows São Paulo's clock wherever it runs
)

// Day is a calendar day: 1 January of the year 1 is day 1. The zero value is no day.
type Day int64

// saoPaulo is where a subscription's last day ends.
var saoPaulo = func() *time.Location {
	loc, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil { // cannot happen with the zone data built in; three hours behind is right since 2019
		return time.FixedZone("-03", -3*60*60)
	}
	return loc
}()

// yearOneToUnix is the number of days from day 1 to 1 January 1970.
const yearOneToUnix = 719162

// DayInBrazil returns the day that a moment falls on in São Paulo.
func DayInBrazil(t time.Time) Day {
	y, m, d := t.In(saoPaulo).Date()
	return newCivilDay(y, m, d)
}

func newCivilDay(y int, m time.Month, d int) Day {
	return Day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()/86400 + yearOneToUnix + 1)
}

// Time returns midnight UTC of the day, which is how the contract writes dates; the zero time for no day.
func (d Day) Time() time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Unix((int64(d)-yearOneToUnix-1)*86400, 0).UTC()
}

// String writes the day as YYYY-MM-DD; empty for no day.
func (d Day) String() string {
	if d == 0 {
		return ""
	}
	return d.Time().Format(time.DateOnly)
}

// ParseDay reads YYYY-MM-DD, or a full ISO 8601 date-time whose date as written counts.
func ParseDay(s string) (Day, bool) {
	const length = len(time.DateOnly)
	if len(s) > length {
		// A date-time with an offset, or a local one without.
		if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
			if _, err := time.Parse("2006-01-02T15:04:05.999999999", s); err != nil {
				return 0, false
			}
		}
		s = s[:length]
	}
	if len(s) != length || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, ok1 := parseDigits(s[:4])
	month, ok2 := parseDigits(s[5:7])
	day, ok3 := parseDigits(s[8:])
	if !ok1 || !ok2 || !ok3 || year == 0 || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day { // 30 February came out as 1 or 2 March
		return 0, false
	}
	return Day(t.Unix()/86400 + yearOneToUnix + 1), true
}

// parseDigits reads a number that is made of digits alone.
func parseDigits(s string) (int, bool) {
	n := 0
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return n, true
}
