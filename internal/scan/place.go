package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
)

// place tells what the place of the bare number b[i:j] says of it: the word before it, the columns of a browser's
// cookies, the blocks of a payment slip.
func (s *Scanner) place(b []byte, i, j int) word {
	before := byte('\n')
	if i > 0 {
		before = b[i-1]
	}
	switch before {
	case '\n', ',', ';', '|': // most stand in tables, where no word is right before them
	case '\t':
		if cookieLine(b, i) {
			return numberWord
		}
	default:
		if quote(before) && i > 1 && labelGaps[b[i-2]] == gapEnds { // a field in quotes
			break
		}
		if word := s.label(b, i); word != noWord {
			return word
		}
	}
	if slip(b, i, j) {
		return numberWord
	}
	return noWord
}

// cookieLine says whether b[i], which follows a tab, is the expiry or the value in a line of a browser's cookies as they are
// exported: domain, TRUE or FALSE, path, TRUE or FALSE, expiry, name, value.
func cookieLine(b []byte, i int) bool {
	if afterPath(b, i-1) {
		return true
	}
	name := fieldBefore(b, i-1)
	if name <= 1 || b[name-1] != '\t' || !isDigit(b[name-2]) && b[name-2] != '\t' {
		return false
	}
	expiry := name - 1
	for stop := max(0, expiry-columnReach/4); expiry > stop && isDigit(b[expiry-1]); expiry-- {
	}
	return expiry > 0 && afterPath(b, expiry-1)
}

// fieldBefore is where the field begins that the tab at b[tab] ends.
func fieldBefore(b []byte, tab int) int {
	stop := max(0, tab-columnReach/4)
	for tab-8 >= stop {
		word := binary.LittleEndian.Uint64(b[tab-8:])
		if ends := zeros(word^'\t'*ones) | zeros(word^'\n'*ones); ends != 0 {
			return tab - bits.LeadingZeros64(ends)/8
		}
		tab -= 8
	}
	for tab > stop && b[tab-1] != '\t' && b[tab-1] != '\n' {
		tab--
	}
	return tab
}

// zeros has the top bit of each byte of x set that is zero.
func zeros(x uint64) uint64 { return ^(x&sevens + sevens | x) & tops }

// afterPath says whether a path and TRUE or FALSE stand before the tab at b[tab].
func afterPath(b []byte, tab int) bool {
	if tab < 7 || b[tab] != '\t' || b[tab-1]|0x20 != 'e' {
		return false
	}
	word := fieldBefore(b, tab)
	if text := b[word:tab]; !bytes.EqualFold(text, []byte("true")) && !bytes.EqualFold(text, []byte("false")) || word == 0 {
		return false
	}
	return b[word-1] == '\t' && b[fieldBefore(b, word-1)] == '/'
}

// slip says whether b[i:j] is a block of the digits that a payment slip is typed by: 23793.38128 60000.000003
// 00000.000405 1 84340000010000, or four times twelve digits.
func slip(b []byte, i, j int) bool {
	switch j - i {
	case 12:
		return i > 12 && b[i-1] == ' ' && digitsOnly(b[i-13:i-1]) || j+13 <= len(b) && b[j] == ' ' && digitsOnly(b[j+1:j+13])
	case 14:
		return i > 4 && b[i-1] == ' ' && isDigit(b[i-2]) && b[i-3] == ' ' && isDigit(b[i-4])
	}
	return false
}

func digitsOnly(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// things are the words for numbers that belong to a thing, a document or a moment. Those that are words of a sentence too
// count only where they are joined to the number.
var things = func() map[string]labelMeaning {
	words := map[string]labelMeaning{}
	for _, w := range strings.Fields("pis cnh nis nit cns nsu imei iccid imsi ean gtin isbn") {
		words[w] = labelMeaning{numberWord, numberWord}
	}
	for _, w := range strings.Fields("id uid uuid ip time ts date expires expiry expire expiration expirationdate exp iat nbf created updated modified createdat updatedat expiresat " +
		"lastlogin epoch unix order pedido protocolo protocol transaction transacao serial seq sequence sku tracking rastreio session matricula titulo nfe nota hash token " +
		"barras digitavel userid orderid size length hora data validade vencimento") {
		words[w] = labelMeaning{noWord, numberWord}
	}
	return words
}()

// ofThings tells what the words of a name say that a number is, or nothing.
func ofThings(name []byte) (m labelMeaning, ok bool) {
	for len(name) > 0 {
		word := name
		if n := bytes.IndexByte(name, '_'); n >= 0 {
			word, name = name[:n], name[n+1:]
		} else {
			name = nil
		}
		if len(word) == 0 || isDigit(word[len(word)-1]) { // a password, a counter: none of them ends so
			continue
		}
		if said, known := things[string(word)]; known && (!ok || said.always != noWord) {
			m, ok = said, true
		}
	}
	return m, ok
}

// sameLabel says whether the CPF b[i:i+11], which stands after a name that promises none, is one all the same: the
// numbers after the same name nearby are CPFs too, or there are none.
func sameLabel(b []byte, i int) bool {
	k := i
	for ; k > 0 && i-k < 8 && class[b[k-1]]&(letter|digit) == 0; k-- {
	}
	for stop := max(0, k-24); k > stop && (class[b[k-1]]&(letter|digit) != 0 || b[k-1] == '_'); k-- {
	}
	name := b[k:i]
	for _, around := range [2][]byte{b[max(0, i-columnReach):k], b[i:min(len(b), i+columnReach)]} {
		for {
			n := bytes.Index(around, name)
			if n < 0 {
				break
			}
			around = around[n+len(name):]
			if len(around) >= 12 && isDigit(around[0]) && isDigit(around[7]) && (isDigit(around[11]) || !identifier.ValidCPF(around[:11])) {
				return false
			}
		}
	}
	return true
}
