package stated

import (
	"strings"
	"time"
)

// dateForm is how days are written.
type dateForm string

// The forms. The first is that of vigia-records.
const (
	isoDates    dateForm = "YYYY-MM-DD"
	dayFirst    dateForm = "DD/MM/YYYY"
	monthFirst  dateForm = "MM/DD/YYYY"
	unixSeconds dateForm = "unix"
)

// Years outside of these are taken for mistakes of the vendor.
const firstYear, lastYear = 1990, 2100

// parseDay returns the days since 1970, or 0 when text is no date. The time after the date is ignored.
func (f dateForm) parseDay(text string) int32 {
	var at time.Time
	var err error
	layout := map[dateForm]string{isoDates: time.DateOnly, dayFirst: "02/01/2006", monthFirst: "01/02/2006"}[f]
	switch {
	case f == unixSeconds:
		var seconds int64
		for _, c := range text {
			if c < '0' || c > '9' || len(text) > 11 {
				return 0
			}
			seconds = seconds*10 + int64(c-'0')
		}
		at = time.Unix(seconds, 0).UTC()
	case len(text) < len(layout) || len(text) > len(layout) && strings.IndexByte("T ", text[len(layout)]) < 0:
		return 0
	default:
		at, err = time.Parse(layout, text[:len(layout)])
	}
	if err != nil || at.Year() < firstYear || at.Year() > lastYear {
		return 0
	}
	return int32(at.Unix() / 86400)
}
