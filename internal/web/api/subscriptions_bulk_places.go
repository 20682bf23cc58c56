package api

import (
	"encoding/base64"
	"strconv"
)

// notCreatedHeader says which items of a bulk request failed, by their places from 0: the contract's body cannot.
const notCreatedHeader = "x-not-created-index"

// maxNotCreated bounds the header's value. Proxies give all headers of an answer 4 to 16 KiB before they refuse it.
const maxNotCreated = 4096

// notCreatedIndex writes the places of failures in the first of three forms that is short enough: every place
// (3,17,18,19), runs of places (3,17-19), or a bit for each item from the first on, the highest bit of a byte first,
// between colons in base64. The last one always is: ten thousand items take 1,670 characters.
func notCreatedIndex(failures []int) string {
	for _, runs := range []bool{false, true} {
		if list := encodePlaces(failures, runs); len(list) <= maxNotCreated {
			return string(list)
		}
	}
	bits := make([]byte, failures[len(failures)-1]/8+1)
	for _, f := range failures {
		bits[f/8] |= 0x80 >> (f % 8)
	}
	return ":" + base64.StdEncoding.EncodeToString(bits) + ":"
}

// encodePlaces lists places in decimal, and stops when the list has become too long. Failures are in the order of the
// request.
func encodePlaces(failures []int, runs bool) []byte {
	var list []byte
	for i := 0; i < len(failures) && len(list) <= maxNotCreated; i++ {
		first := failures[i]
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, int64(first), 10)
		last := first
		for runs && i+1 < len(failures) && failures[i+1] == last+1 {
			i++
			last++
		}
		if last > first {
			list = strconv.AppendInt(append(list, '-'), int64(last), 10)
		}
	}
	return list
}
