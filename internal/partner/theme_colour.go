package partner

import (
	_ "image/jpeg" // logos come as JPEG too
	"math"
	"regexp"
	"strconv"
	"strings"
)

// colour is six hexadecimal digits: shorter and named colours would have to be computed for contrast.
var colour = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// hasOnlyDigits reports whether s is made of digits alone.
func hasOnlyDigits(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// ContrastRatio returns the contrast ratio of two colours written as #rrggbb, 1 to 21: see WCAG 2.2, relative
// luminance.
func ContrastRatio(a, b string) float64 {
	one, two := relativeLuminance(a), relativeLuminance(b)
	return (max(one, two) + 0.05) / (min(one, two) + 0.05)
}

// relativeLuminance returns the relative luminance of a colour, as WCAG defines it.
func relativeLuminance(hex string) float64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		return 0
	}
	channel := func(shift uint) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}
