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
	k, joined := i, false
	for ; k > 0 && i-k < 8 && class[b[k-1]]&(letter|digit) == 0; k-- {
		switch b[k-1] {
		case ',', ';', '|', '\n', '\r', '\t', 0:
			return noWord
		case '=', '>':
			joined = true
		case ':': // a:b is a line of a combo list, "a":b and a: b are not
			joined = joined || b[k] == ' ' || quote(b[k]) || k > 1 && quote(b[k-2])
		}
	}
	end := k
	for ; k > 0 && end-k < longestLabel && class[b[k-1]]&inName != 0; k-- {
	}
	if k == end {
		return noWord
	}
	meaning := s.labels.of(b, k, end)
	switch {
	case meaning.always != noWord:
		return meaning.always
	case !joined || k > 0 && (b[k-1] == '.' || b[k-1] == '@' || b[k-1] == '-'):
		return noWord // running text, the end of an address
	}
	return meaning.joined
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

// names are what is looked for in a label, by the letter they begin with.
var names = func() (byLetter [256][]labelName) {
	for text, means := range map[string]word{
		"cpf": cpfWord, "doc": cpfWord, "taxid": cpfWord, "tax_id": cpfWord,
		"fone": phoneWord, "phone": phoneWord, "tel": phoneWord, "cel": phoneWord, "whats": phoneWord, "zap": phoneWord, "mobile": phoneWord, "contat": phoneWord,
		"fax": phoneWord, "cartao": cardWord, "creditcard": cardWord, "credit_card": cardWord, "card_number": cardWord, "cardnumber": cardWord,
		"renavam": numberWord, "pasep": numberWord, "boleto": numberWord, "timestamp": numberWord, "barcode": numberWord, "codbarras": numberWord, "codigobarras": numberWord,
		"chassi": numberWord, "linhadigitavel": numberWord, "nossonumero": numberWord, "nosso_numero": numberWord,
	} {
		byLetter[text[0]] = append(byLetter[text[0]], labelName{text, means})
	}
	return byLetter
}()

type labelName struct {
	text  string
	means word
}

// named tells what a label that holds one of the names says: a CPF, if it holds names of both.
func named(label []byte) (means word) {
	for k, c := range label {
		for _, n := range names[c] {
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
