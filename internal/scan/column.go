package scan

import (
	"bytes"

	"vigia/internal/identifier"
)

const (
	// columnReach is how far to either side lines are compared: less than a margin, as a number may begin before its anchor.
	columnReach = margin - longestRun - 4
	// columnVotes is how many numbers of a column have to say the same.
	columnVotes = 2
)

// column tells what the number at b[i] is by the numbers in the same place of the lines around it: dumps of tables have one kind in a column. It
// needs no header and no known format: a place is the character before the number and how often that comes before it in the line. It
// answers noWord where fewer than two numbers can be compared, or where they say different things.
func column(b []byte, i int) word {
	from, to := max(0, i-columnReach), min(len(b), i+columnReach)
	start := from + lastBreak(b[from:i]) + 1
	if start == from && from > 0 {
		return noWord // the line begins before what may be seen
	}
	place := b[start:i]
	cpfs, phones := 0, 0
	vote := func(line []byte) {
		switch written(samePlace(line, place)) {
		case cpfWord:
			cpfs++
		case phoneWord:
			phones++
		}
	}
	for end := start - 1; end > from; {
		before := from + lastBreak(b[from:end]) + 1
		if before == from && from > 0 {
			break
		}
		vote(b[before:end])
		end = before - 1
	}
	for at := i; at < to; {
		end := to
		if n := firstBreak(b[at:to]); n >= 0 {
			end = at + n
		} else if to < len(b) {
			break // the line ends beyond what may be seen
		}
		if at > i {
			vote(b[at:end])
		}
		at = end + 1
	}
	switch {
	case cpfs >= columnVotes && phones == 0:
		return cpfWord
	case phones >= columnVotes && cpfs == 0:
		return phoneWord
	}
	return noWord
}

// nextTuple ends a row of an SQL statement that has all of them in one line; the comma stands for the end of the line.
var nextTuple = []byte("),(")

// lastBreak returns where the last line of b but one ends, or -1.
func lastBreak(b []byte) int {
	at := bytes.LastIndexByte(b, '\n')
	if n := bytes.LastIndex(b[at+1:], nextTuple); n >= 0 {
		return at + 1 + n + 1
	}
	return at
}

// firstBreak returns where the first line of b ends, or -1.
func firstBreak(b []byte) int {
	at := bytes.IndexByte(b, '\n')
	if at < 0 {
		at = len(b)
	}
	if n := bytes.Index(b[:at], nextTuple); n >= 0 {
		return n + 1
	}
	if at == len(b) {
		return -1
	}
	return at
}

// samePlace returns what stands in line where place ends in its own: after as many of the character that place ends with.
func samePlace(line, place []byte) []byte {
	if len(place) == 0 {
		return line
	}
	mark := place[len(place)-1]
	for n := bytes.Count(place, []byte{mark}); n > 0; n-- {
		at := bytes.IndexByte(line, mark)
		if at < 0 {
			return nil
		}
		line = line[at+1:]
	}
	return line
}

// written tells what the number that b begins with is, if its digits and the way it is written leave no choice.
func written(b []byte) word {
	var digits [13]byte
	n, end, run := digits[:0], 0, 0 // end is where its last digit ends, run how many digits it begins with
	for k, c := range b {
		if isDigit(c) {
			if len(n) == cap(n) {
				return noWord
			}
			if n, end = append(n, c), k+1; run == k {
				run = end
			}
		} else if c != ' ' && c != '-' && c != '.' && c != '(' && c != ')' && c != '+' {
			break
		}
	}
	if len(n) < 10 || !rightFree(b, end) {
		return noWord
	}
	area := identifier.AreaCode(n[0], n[1])
	switch {
	case len(n) == 11:
		cpf, phone := (run == 11 || run == 9 || run == 3) && identifier.ValidCPF(n), run != 9 && run != 3 && n[2] == '9' && area
		if cpf && !phone {
			return cpfWord
		}
		if phone && !cpf {
			return phoneWord
		}
	case len(n) == 10 && run < 10 && area, brazilian(n): // ten bare digits may be a time
		return phoneWord
	}
	return noWord
}
