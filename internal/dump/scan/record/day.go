package record

import "time"

// The years that are accepted as a year of birth, and those in which a date is more likely a birth date than another.
const (
	firstYear, lastYear = 1900, 2025
	oldestAlive         = 1915
	recordsBegin        = 1994
)

// ParseYear reads a date as people and databases write it, and returns its year, or 0.
func ParseYear(v []byte) int {
	if len(v) < 8 || v[0] < '0' || v[0] > '9' {
		return 0
	}
	if len(v) > 10 && (v[10] == 'T' || v[10] == ' ') {
		v = v[:10]
	}
	switch {
	case len(v) == 10 && isParted(v, 4, 7):
		return validDate(parseNumber(v[:4]), parseNumber(v[5:7]), parseNumber(v[8:]))
	case len(v) == 10 && isParted(v, 2, 5):
		return dayOrMonth(parseNumber(v[6:]), parseNumber(v[:2]), parseNumber(v[3:5]))
	case len(v) == 8 && allDigits(v):
		if y := validDate(parseNumber(v[:4]), parseNumber(v[4:6]), parseNumber(v[6:])); y >= firstYear {
			return y
		}
		return dayOrMonth(parseNumber(v[4:]), parseNumber(v[:2]), parseNumber(v[2:4]))
	case len(v) == 8 && isParted(v, 1, 3): // 1/2/1980
		return dayOrMonth(parseNumber(v[4:]), parseNumber(v[:1]), parseNumber(v[2:3]))
	case len(v) == 9 && isParted(v, 2, 4):
		return dayOrMonth(parseNumber(v[5:]), parseNumber(v[:2]), parseNumber(v[3:4]))
	case len(v) == 9 && isParted(v, 1, 4):
		return dayOrMonth(parseNumber(v[5:]), parseNumber(v[:1]), parseNumber(v[2:4]))
	}
	return 0
}

// isParted reports whether a date is parted in the usual places.
func isParted(v []byte, i, j int) bool {
	return v[i] == v[j] && (v[i] == '-' || v[i] == '/' || v[i] == '.')
}

// dayOrMonth reads day and month in whichever order they can be.
func dayOrMonth(y, a, b int) int { return max(validDate(y, b, a), validDate(y, a, b)) }

// validDate returns the year of a date that there is, or 0.
func validDate(y, m, d int) int {
	if y < firstYear || y > lastYear || m < 1 || m > 12 || d < 1 || d > 31 || y == firstYear && m == 1 && d == 1 {
		return 0
	}
	return y
}

// parseNumber reads digits, or returns -1.
func parseNumber(v []byte) int {
	n := 0
	for _, c := range v {
		if c < '0' || c > '9' || n > 1<<20 {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// firstStealer is before which no log of a stealer was written.
const firstStealer = 2010

// parseDay reads 2024-03-12, 12.03.2024 and their kin, and returns the day since 1970, or 0. A day that could be read
// with its month in either place is none.
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

// dayOfNames returns the day that the names of the file and its folders tell, since 1970, or 0.
func (r *Reader) dayOfNames() int32 {
	if r.day >= 0 {
		return r.day
	}
	r.day = 0
	name := r.name
	for i := 0; i+10 <= len(name); i++ {
		if i > 0 && name[i-1] >= '0' && name[i-1] <= '9' || i+10 < len(name) && name[i+10] >= '0' && name[i+10] <= '9' {
			continue
		}
		if d := parseDay(name[i : i+10]); d > 0 {
			r.day = d
		}
	}
	return r.day
}
