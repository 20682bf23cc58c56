package record

import "time"

// firstStealer is before which no log of a stealer was written.
const firstStealer = 2010

// parseDay reads 2024-03-12, 12.03.2024 and their kin, and returns the day since 1970, or 0. A day that could be read with
// its month in either place is none.
func parseDay(s string) int32 {
	v := []byte(s)
	for i, c := range v {
		if c == '_' {
			v[i] = '-'
		}
	}
	var y, m, d int
	switch {
	case isParted(v, 4, 7):
		y, m, d = parseNumber(v[:4]), parseNumber(v[5:7]), parseNumber(v[8:])
	case isParted(v, 2, 5):
		d, m, y = parseNumber(v[:2]), parseNumber(v[3:5]), parseNumber(v[6:])
		if d <= 12 && m <= 12 && d != m && v[2] == '/' {
			return 0
		}
	default:
		return 0
	}
	if y < firstStealer || y > firstStealer+90 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0
	}
	return int32(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}
