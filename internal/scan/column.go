package scan

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

const (
	// columnReach is how far to either side lines are compared: less than a margin, as a number may begin before its
	// anchor.
	columnReach = margin - longestRun - 4
	// At least so many numbers of a column have to say the same, and so many are asked at most.
	leastVotes = 2
	mostVotes  = 4
)

// column tells what the number at b[i] is by the numbers in the same place of the lines around it: dumps of tables have
// one kind in a column. It needs no header and no known format: a place is the character before the number and how
// often that comes before it in the line. It answers noWord where fewer than two numbers can be compared, or where they
// say different things.
func column(b []byte, i int) word {
	from, to := max(0, i-columnReach), min(len(b), i+columnReach)
	ends := lineEnd
	if bytes.IndexByte(b[from:to], '\n') < 0 {
		ends = tupleEnd
	}
	start := from + ends.last(b[from:i]) + 1
	if start == from && from > 0 {
		return noWord // the line begins before what may be seen
	}
	v := votes{mark: '\n'}
	if place := b[start:i]; len(place) > 0 {
		v.mark = place[len(place)-1]
		v.times = bytes.Count(place, place[len(place)-1:])
	}
	for at := i; at < to && !v.enough(); {
		end := to
		if n := ends.first(b[at:to]); n >= 0 {
			end = at + n
		} else if to < len(b) {
			break // the line ends beyond what may be seen
		}
		if at > i {
			v.ask(b[at:end])
		}
		at = end + 1
	}
	for end := start - 1; end > from && !v.enough(); {
		before := from + ends.last(b[from:end]) + 1
		if before == from && from > 0 {
			break
		}
		v.ask(b[before:end])
		end = before - 1
	}
	return v.word()
}

// lineBreak is what ends a line: a character, with others around it or not.
type lineBreak struct {
	text []byte
	at   int // which character of text ends the line
}

var (
	lineEnd = lineBreak{text: []byte("\n")}
	// tupleEnd parts the rows of an SQL statement that has all of them in one line.
	tupleEnd = lineBreak{text: []byte("),("), at: 1}
)

// last returns where the last line of b but one ends, or -1.
func (l lineBreak) last(b []byte) int {
	if n := bytes.LastIndex(b, l.text); n >= 0 {
		return n + l.at
	}
	return -1
}

// first returns where the first line of b ends, or -1.
func (l lineBreak) first(b []byte) int {
	if n := bytes.Index(b, l.text); n >= 0 {
		return n + l.at
	}
	return -1
}

// votes are what the numbers of a column say. They stand after mark has come so many times in their line.
type votes struct {
	mark         byte
	times        int
	cpfs, phones int
}

// ask looks at the column in another line.
func (v *votes) ask(line []byte) {
	for range v.times {
		at := bytes.IndexByte(line, v.mark)
		if at < 0 {
			return
		}
		line = line[at+1:]
	}
	switch written(line) {
	case cpfWord:
		v.cpfs++
	case phoneWord:
		v.phones++
	case noWord, otherWord, cardWord, numberWord: // no vote
	}
}

func (v *votes) enough() bool { return v.cpfs+v.phones >= mostVotes || v.cpfs > 0 && v.phones > 0 }

func (v *votes) word() word {
	switch {
	case v.cpfs >= leastVotes && v.phones == 0:
		return cpfWord
	case v.phones >= leastVotes && v.cpfs == 0:
		return phoneWord
	}
	return noWord
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
