package console

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/plan"
)

// toInteger returns a number of any integer type.
func toInteger(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n)
	case int32:
		return int64(n)
	}
	return 0
}

func pluralWord(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// countWithWord returns a number with what it counts.
func countWithWord(n int64, one, many string) string {
	return groupedNumber(n) + " " + pluralWord(n, one, many)
}

// groupedNumber writes 1234567 as 1.234.567.
func groupedNumber(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "." + s[i:]
	}
	return sign + s
}

// briefNumber writes a number in few letters, for the side of a chart: 1234567 as 1,2 mi.
func briefNumber(n int64) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(formatTenths(n/100_000), ",0") + " mi"
	case n >= 10_000:
		return strings.TrimSuffix(formatTenths(n/100), ",0") + " mil"
	}
	return groupedNumber(n)
}

// formatDecimal writes a number with one decimal, behind a comma.
func formatDecimal(f float64) string {
	return strings.Replace(strconv.FormatFloat(f, 'f', 1, 64), ".", ",", 1)
}

// formatTenths writes a number of tenths with a comma.
func formatTenths(n int64) string { return fmt.Sprintf("%d,%d", n/10, n%10) }

// formatTurn writes by how many tenths a score moved, with its sign: +1,4, −0,2.
func formatTurn(tenths int64) string {
	if tenths < 0 {
		return "−" + formatDecimal(float64(-tenths)/10)
	}
	return "+" + formatDecimal(float64(tenths)/10)
}

// formatShare writes a part of a whole as a percentage; "—" of nothing.
func formatShare(part, whole int64) string {
	if whole == 0 {
		return "—"
	}
	return formatTenths(part*1000/whole) + "%"
}

// formatByteSize writes a number of bytes for people.
func formatByteSize(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for f >= 1000 && i < len(units)-1 {
		f /= 1000
		i++
	}
	if i == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return formatDecimal(f) + " " + units[i]
}

// formatReais writes an amount as people do: 50.000 or 50.000,50.
func formatReais(m plan.Money) string {
	text := groupedNumber(int64(m) / 100)
	if cents := int64(m) % 100; cents != 0 {
		text += "," + strconv.Itoa(int(cents/10)) + strconv.Itoa(int(cents%10))
	}
	return text
}
