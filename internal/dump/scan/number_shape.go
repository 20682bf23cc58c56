package scan

import (
	"strings"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
)

// shapeHash stands for the sizes of groups and what is between them.
type shapeHash uint64

// add returns the hash with one more character of the shape.
func (h shapeHash) add(c byte) shapeHash { return (h + shapeHash(c)) * 0x9e3779b97f4a7c15 }

// addGap adds what stands between two groups: blanks count only where there is nothing else.
func (h shapeHash) addGap(gap []byte) shapeHash {
	blank := true
	for _, c := range gap {
		if c != ' ' && c != '+' {
			h, blank = h.add(gapByte[c]), false
		}
	}
	if blank {
		h = h.add(' ')
	}
	return h
}

// shapeTable holds the shapes by the top bits of their hashes, and after these.
var shapeTable = func() (t [4096]struct {
	hash shapeHash
	said record.Kinds
},
) {
	for h, said := range shapes {
		at := h >> 52
		for ; t[at%4096].said != 0; at++ {
		}
		t[at%4096].hash, t[at%4096].said = h, said
	}
	return t
}()

// shapeOfGroups returns what is written in groups of a shape, or 0.
func shapeOfGroups(h shapeHash) record.Kinds {
	for at := h >> 52; ; at++ {
		if e := &shapeTable[at%4096]; e.hash == h || e.said == 0 {
			return e.said
		}
	}
}

// hashShape returns the hash of a whole shape, to be compared with one that was built while reading.
func hashShape(shape string) (h shapeHash) {
	for _, c := range []byte(shape) {
		h = h.add(c)
	}
	return h
}

// gapByte is what a character between groups is in a shape.
var gapByte = func() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
	}
	t['['], t[']'], t['X'] = '(', ')', 'x'
	return t
}()

// looseShape marks shapes that other numbers have, too.
const looseShape record.Kinds = 1 << 7

// shapes are the ways identifiers are written in groups: the size of each, and what stands between them.
var shapes = func() map[shapeHash]record.Kinds {
	t := map[shapeHash]record.Kinds{}
	for _, s := range []string{
		"3.3.3-2", "3.3.3/2", "3.3.3 2", "3.3.3.2", "3 3 3 2", "3 3 3-2", "3 3 3/2", "3-3-3-2",
		"9-2", "9/2",
	} {
		t[hashShape(s)] = record.CPFKind
	}
	t[hashShape("9 2")] = record.CPFKind | looseShape
	for _, sep := range []string{" ", "-", ".", "_", "x", "xx"} {
		for _, s := range []string{"4~4~4~4", "4~4~4~4~3", "4~6~5", "4~6~4"} {
			t[hashShape(strings.ReplaceAll(s, "~", sep))] = record.CardKind
		}
	}
	phone := func(shape string, strict bool) {
		if h := hashShape(shape); t[h] == 0 {
			if t[h] = record.PhoneKind; !strict {
				t[h] |= looseShape
			}
		}
	}
	for _, sub := range []string{
		"5-4", "4-4", "5 4", "4 4", "5.4", "4.4", "9", "8", "1 4-4", "1 4 4", "1-4-4", "1.4.4",
		"1.4-4", "1 8",
	} {
		mobile := sub[0] == '5' || sub == "9" || sub[0] == '1'
		for _, gap := range []string{"", "-"} {
			for _, area := range []string{"(2)", "(3)", "(5)", "(1xx2)"} {
				for _, code := range []string{"", "+2", "2", "+2-", "4"} {
					phone(code+area+gap+sub, true)
				}
			}
		}
		for _, gap := range []string{" ", "-", ".", "/"} {
			for _, area := range []string{"3", "4", "5", "6", "1xx2", "+4"} {
				phone(area+gap+sub, true)
			}
			for _, code := range []string{"+2 ", "2 ", "+2-", "2-", "+2.", "4 ", "3 ", "3-", "4-"} {
				phone(code+"2"+gap+sub, true)
				phone(code+"3"+gap+sub, true)
			}
			hyphen := sub == "4-4" || sub == "4.4" && gap == "."
			phone("2"+gap+sub, (mobile || hyphen) && !(gap == "." && (sub == "9" || sub == "8")))
		}
	}
	phone("7-4", true)
	phone("6-4", false)
	return t
}()
