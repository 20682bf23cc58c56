package scan

import "encoding/binary"

// The words a label next to a number can be.
type word uint8

const (
	noWord word = iota
	otherWord
	cpfWord
	phoneWord
	cardWord
	numberWord // of a thing or a moment, not of a person
)

// label classifies the word right before a number: the name of a JSON member, a form field, a tag, a heading. Field
// separators end the search.
func (s *Scanner) label(b []byte, i int) word {
	if i < len(knownLabel{}.text)*8 {
		word, _ := s.readLabel(b, i)
		return word
	}
	near, far := binary.LittleEndian.Uint64(b[i-8:]), binary.LittleEndian.Uint64(b[i-16:])
	known := &s.known[near*0x9e3779b97f4a7c15>>(64-6)]
	if known.text[0] != near || (known.text[1]^far)>>known.beyond != 0 || known.beyond == 0 {
		word, from := s.readLabel(b, i)
		seen := max(i-from, 8)
		if seen > 15 { // not to be told by so little
			return word
		}
		*known = knownLabel{text: [2]uint64{near, far}, beyond: uint8(8 * (16 - seen)), word: word}
	}
	return known.word
}

// knownLabel is what the bytes right before a number say, so that names which come again and again are not read each time:
// eight of them, and of the eight before these all but so many bits, which is 64 where none are asked, and 0 where nothing
// is known.
type knownLabel struct {
	text   [2]uint64
	beyond uint8
	word   word
}

// readLabel is label, and returns where what it looked at begins.
func (s *Scanner) readLabel(b []byte, i int) (word, int) {
	k, joined := i, false
	for ; k > 0 && i-k < 8 && class[b[k-1]]&(letter|digit) == 0; k-- {
		switch labelGaps[b[k-1]] {
		case gapEnds:
			return noWord, k - 1
		case gapJoins:
			joined = true
		case gapMayJoin: // a:b is a line of a combo list, "a":b and a: b are not
			joined = joined || b[k] == ' ' || quote(b[k]) || k > 1 && quote(b[k-2])
		}
	}
	end := k
	name := b[max(0, end-longestLabel):end]
	n := len(name) - 1
	for ; n >= 0 && class[name[n]]&inName != 0; n-- {
	}
	k = end - (len(name) - 1 - n)
	from := max(0, min(k, end-1)-1) // the mark before a colon may be a quote
	if k == end {
		return noWord, from
	}
	if !joined && end-k > longestAlways && !mayName(b[k:end]) {
		return noWord, from // as most passwords before a number of a combo list are
	}
	meaning := s.labels.of(b, k, end)
	switch {
	case meaning.always != noWord:
		return meaning.always, from
	case !joined || k > 0 && (b[k-1] == '.' || b[k-1] == '@' || b[k-1] == '-'):
		return noWord, from // running text, the end of an address
	}
	return meaning.joined, from
}

// longestAlways is how long a word is at most that says what a number is, wherever it stands before it, and that no name
// begins with.
const longestAlways = len("iccid")

// mayName says whether a label that is longer than that may hold a name, or words that are parted.
func mayName(label []byte) bool {
	before := byte('_')
	for _, c := range label {
		if c == '_' || nameStarts[nameStart(before, c)] != 0 {
			return true
		}
		before = c
	}
	return false
}

// What the characters between a label and a number say: that it is none, that it is one, or that with another.
const (
	gapEnds uint8 = 1 + iota
	gapJoins
	gapMayJoin
)

var labelGaps = [256]uint8{
	',': gapEnds, ';': gapEnds, '|': gapEnds, '\n': gapEnds, '\r': gapEnds, '\t': gapEnds, 0: gapEnds,
	'=': gapJoins, '>': gapJoins, ':': gapMayJoin,
}

// longestLabel is how much of the end of a name is read.
const longestLabel = 24

// labelMeaning is what a name says of a number next to it, and what it says only where it is joined to it.
type labelMeaning struct{ always, joined word }

// labelMemo keeps what the last names said: dumps have few names and many values. A name is kept in words, from its end
// on.
type labelMemo [64]struct {
	name [longestLabel / 8]uint64
	labelMeaning
}

// of tells what b[from:to] says, which is not empty and no longer than the longest.
func (m *labelMemo) of(b []byte, from, to int) labelMeaning {
	if to < longestLabel {
		return loweredMeaning(b[from:to])
	}
	n := to - from
	name := [longestLabel / 8]uint64{binary.LittleEndian.Uint64(b[to-8:])}
	if n < 8 {
		name[0] >>= 8 * uint(8-n)
	} else {
		name[1] = binary.LittleEndian.Uint64(b[to-16:]) >> (8 * uint(max(0, 16-n)))
		name[2] = binary.LittleEndian.Uint64(b[to-24:]) >> (8 * uint(min(8, 24-n)))
	}
	e := &m[(name[0]^name[1])*0x9e3779b97f4a7c15>>(64-6)]
	if e.name != name {
		e.name, e.labelMeaning = name, loweredMeaning(b[from:to])
	}
	return e.labelMeaning
}

func loweredMeaning(name []byte) labelMeaning {
	var text [longestLabel]byte
	for i, c := range name {
		text[i] = lower[c]
	}
	return meaningOf(text[:len(name)])
}

// meaningOf reads a name.
func meaningOf(name []byte) labelMeaning {
	if means := named(name); means != noWord {
		return labelMeaning{means, means}
	}
	if m, ok := ofThings(name); ok {
		return m
	}
	if saysNothing(name) {
		return labelMeaning{}
	}
	return labelMeaning{noWord, otherWord}
}

// names are what is looked for in a label, by the two letters they begin with: most pairs of letters begin none.
var names, nameStarts = func() (groups [][]labelName, starts [1 << 10]uint8) {
	groups = [][]labelName{nil}
	for text, means := range map[string]word{
		"cpf": cpfWord, "doc": cpfWord, "taxid": cpfWord, "tax_id": cpfWord,
		"fone": phoneWord, "phone": phoneWord, "tel": phoneWord, "cel": phoneWord, "whats": phoneWord, "zap": phoneWord, "mobile": phoneWord, "contat": phoneWord,
		"fax": phoneWord, "cartao": cardWord, "creditcard": cardWord, "credit_card": cardWord, "card_number": cardWord, "cardnumber": cardWord,
		"renavam": numberWord, "pasep": numberWord, "boleto": numberWord, "timestamp": numberWord, "barcode": numberWord, "codbarras": numberWord, "codigobarras": numberWord,
		"chassi": numberWord, "linhadigitavel": numberWord, "nossonumero": numberWord, "nosso_numero": numberWord,
	} {
		start := &starts[nameStart(text[0], text[1])]
		if *start == 0 {
			*start = uint8(len(groups))
			groups = append(groups, nil)
		}
		groups[*start] = append(groups[*start], labelName{text, means})
	}
	return groups, starts
}()

// nameStart is the place of two letters in a table. Others share it.
func nameStart(a, b byte) int { return int(a&31)<<5 | int(b&31) }

type labelName struct {
	text  string
	means word
}

// named tells what a label that holds one of the names says: a CPF, if it holds names of both.
func named(label []byte) (means word) {
	for k := 0; k+1 < len(label); k++ {
		start := nameStarts[nameStart(label[k], label[k+1])]
		if start == 0 {
			continue
		}
		for _, n := range names[start] {
			if rest := label[k:]; len(rest) >= len(n.text) && string(rest[:len(n.text)]) == n.text {
				if means == noWord || means == numberWord || n.means == cpfWord {
					means = n.means
				}
				if means == cpfWord {
					return means
				}
			}
		}
	}
	return means
}

// saysNothing knows the names that stand before any kind of number: table cells and the like.
func saysNothing(w []byte) bool {
	switch string(w) {
	case "number", "numero", "num", "value", "valor", "td", "th", "li", "p", "b", "i", "em", "span", "div", "strong", "font", "dd":
		return true
	}
	return false
}

func quote(c byte) bool { return c == '"' || c == '\'' }
