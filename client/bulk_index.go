package client

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// maxBulk is the most items of one request.
const maxBulk = 10_000

// notCreatedIndex reads the header x-not-created-index: places from 0 (3,17), runs of them (3,17-19), or, between
// colons in base64, a bit for each item, the highest bit of a byte first. Anything else is nil.
func notCreatedIndex(header string) []int {
	if header == "" {
		return nil
	}
	var places []int
	if bits, ok := strings.CutPrefix(header, ":"); ok {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(bits, ":"))
		if err != nil {
			return nil
		}
		for i := range len(raw) * 8 {
			if raw[i/8]&(0x80>>(i%8)) != 0 {
				places = append(places, i)
			}
		}
	} else {
		for _, part := range strings.Split(header, ",") {
			from, to, run := strings.Cut(part, "-")
			if !run {
				to = from
			}
			first, err1 := strconv.Atoi(from)
			last, err2 := strconv.Atoi(to)
			if err1 != nil || err2 != nil || last-first >= maxBulk {
				return nil
			}
			for n := first; n <= last; n++ {
				places = append(places, n)
			}
		}
	}
	return places
}
