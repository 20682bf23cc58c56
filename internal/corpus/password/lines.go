package password

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// parserFor looks at the first line and decides what the lines of an input hold: whole hashes, or hashes whose first
// five digits are the input's name.
func parserFor(a Algorithm, name string, head []byte) (*lineParser, error) {
	digits := 0
	for digits < len(head) && hexValues[head[digits]] <= 15 {
		digits++
	}
	if digits == a.hexDigits()-rangeDigits {
		prefix, ok := parseRange(inputStem(name))
		if !ok {
			return nil, ErrLine.With("", fault.FirstLineShort)
		}
		return rangeParser(a, prefix), nil
	}
	// Whatever else is wrong with the first line, the parser will say so.
	return &lineParser{digits: a.hexDigits(), taken: 40}, nil
}

// rangeParser reads the lines of a range file or answer.
func rangeParser(a Algorithm, prefix uint64) *lineParser {
	return &lineParser{digits: a.hexDigits() - rangeDigits, taken: 20, high: prefix << 20}
}

// rangeDigits is how many hex digits name a range.
const rangeDigits = 5

// parseRange parses the hex digits of a range's name; ok is false when the length or a digit is wrong.
func parseRange(s string) (prefix uint64, ok bool) {
	prefix, err := strconv.ParseUint(s, 16, 64)
	return prefix, err == nil && len(s) == rangeDigits
}

// byteOrderMark begins lists that were saved by an editor on Windows.
var byteOrderMark = []byte("\xef\xbb\xbf")

// trimByteOrderMark leaves out a byte order mark.
func trimByteOrderMark(b []byte) []byte { return bytes.TrimPrefix(b, byteOrderMark) }

// lineParser turns lines HASH or HASH:COUNT into keys: the first 40 bits of each hash. In range files the first five
// digits of the hash are the file's name and the lines hold the rest.
//
// Nearly every line of a corpus takes the fast path, which looks at eight characters at a time. Whatever it does not
// recognise at once goes through the slow path, which decides what is a bad line and says why.
type lineParser struct {
	digits int    // hex digits of a line's hash
	high   uint64 // bits that the file's name gives, in place
	taken  uint   // how many bits of the key the line gives: 40, or 20 in a range file
	lines  int    // complete lines read
	keys   []uint64
	widely []uint64 // those seen WidelySeen times or more
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	// slack is how far the fast path looks past a hash: colon, eight digits, line end, and a whole word beyond.
	slack = 20
)

// parseLines reads the complete lines at the front of b and returns how many bytes they take. With last set, b ends the
// file, and a line without a line end is complete too.
func (p *lineParser) parseLines(b []byte, last bool) (int, error) {
	at := 0
	for at < len(b) {
		at += p.parseFast(b[at:])
		line := b[at:]
		end := bytes.IndexByte(line, '\n')
		if len(line) == 0 || (end < 0 && !last) {
			break
		}
		used := len(line)
		if end >= 0 {
			line, used = line[:end], end+1
		}
		p.lines++
		if why := p.parseSlow(bytes.TrimSuffix(line, []byte("\r"))); why != nil {
			return at, ErrLine.With("", fault.OnLine, p.lines, why.Said())
		}
		at += used
	}
	return at, nil
}

// parseFast reads the well-formed lines at the front of b and returns how many bytes they take. It stops at the first
// line that is not plainly right, or too near to the end.
func (p *lineParser) parseFast(b []byte) int {
	n, at, lines, keys := p.digits, 0, 0, p.keys
	for at+n+slack <= len(b) {
		line := b[at:]
		// Five words cover hashes of 27, 32, 35 and 40 digits; in the shorter ones they overlap.
		first := binary.LittleEndian.Uint64(line)
		second, third := binary.LittleEndian.Uint64(line[8:]), binary.LittleEndian.Uint64(line[16:])
		fourth, fifth := binary.LittleEndian.Uint64(line[n-16:]), binary.LittleEndian.Uint64(line[n-8:])
		hex := hexDigits(first) & hexDigits(second) & hexDigits(third) & hexDigits(fourth) & hexDigits(fifth)
		if hex&^(first|second|third|fourth|fifth)&highs != highs {
			break
		}
		size, padding, wide := n, false, false
		if line[n] == ':' {
			digits := binary.LittleEndian.Uint64(line[n+1:])
			length := uint(bits.TrailingZeros64(nonDigitMask(digits)|1<<63)) >> 3
			if length == 0 || length > 7 {
				break
			}
			size = n + 1 + int(length)
			padding = digits<<(64-8*length)&(ones*0x0f) == 0
			wide = length > 3 && shortNumber(digits, length) >= WidelySeen
		}
		if line[size] == '\r' {
			size++
		}
		if line[size] != '\n' {
			break
		}
		at += size + 1
		lines++
		if padding {
			continue
		}
		key := parseHexWord(first)
		if p.taken == 40 {
			key = key<<8 | uint64(hexValues[second&0xff]<<4|hexValues[second>>8&0xff])
		} else {
			key = key>>12 | p.high
		}
		keys = append(keys, key)
		if wide {
			p.widely = append(p.widely, key)
		}
	}
	p.keys = keys
	p.lines += lines
	return at
}

// parseSlow reads one line without its end and returns what is wrong with it. It repeats nothing of the line.
func (p *lineParser) parseSlow(line []byte) *fault.Rule {
	if len(line) == 0 {
		return nil
	}
	if len(line) < p.digits {
		return &fault.ShortForAHash
	}
	var key uint64
	for i, c := range line[:p.digits] {
		v := hexValues[c]
		if v > 15 {
			return &fault.NotHexadecimal
		}
		if uint(i)*4 < p.taken {
			key = key<<4 | uint64(v)
		}
	}
	count := uint64(1)
	if rest := line[p.digits:]; len(rest) > 0 {
		if rest[0] != ':' {
			return &fault.NoColonAfterHash
		}
		var ok bool
		if count, ok = parseNumber(rest[1:]); !ok {
			return &fault.CountNotANumber
		}
	}
	if count > 0 { // zero marks the padding that the range service adds to hide the size of an answer
		p.keys = append(p.keys, key|p.high)
	}
	if count >= WidelySeen {
		p.widely = append(p.widely, key|p.high)
	}
	return nil
}

// parseNumber reads decimal digits; one too large to hold is held at the largest value.
func parseNumber(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+uint64(c-'0'), 1<<40)
	}
	return n, len(b) > 0
}

// nonDigitMask has the high bit set in each byte of w that is no decimal digit.
func nonDigitMask(w uint64) uint64 {
	v := w &^ highs
	return (^(v + ones*(0x80-'0')) | (v + ones*(0x7f-'9')) | w) & highs
}

// hexDigits has the high bit set in each byte of w that is a hex digit, provided that w has no high bit set itself.
func hexDigits(w uint64) uint64 {
	digit := (w + ones*(0x80-'0')) &^ (w + ones*(0x7f-'9'))
	w |= ones * 0x20
	return digit | (w+ones*(0x80-'a'))&^(w+ones*(0x7f-'f'))
}

// hexValues are the values of hexadecimal digits; 16 of any other byte.
var hexValues = func() (t [256]byte) {
	for c := range t {
		t[c] = 16
	}
	for v, c := range []byte("0123456789abcdef") {
		t[c] = byte(v)
	}
	for v, c := range []byte("ABCDEF") {
		t[c] = byte(10 + v)
	}
	return t
}()

// parseHexWord returns the value of the eight hex digits in w, the first one in its lowest byte.
func parseHexWord(w uint64) uint64 {
	w = w&(ones*0x0f) + (w>>6&ones)*9
	w = (w<<4 | w>>8) & 0x00ff00ff00ff00ff
	w = (w<<8 | w>>16) & 0x0000ffff0000ffff
	return (w<<16 | w>>32) & 0xffffffff
}

// shortNumber returns the value of the first length (1 to 7) decimal digits of w.
func shortNumber(w uint64, length uint) uint64 {
	w = w << (64 - 8*length) & (ones * 0x0f) // the digits that are missing in front become zeros
	w = w * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	w = w * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return w * (10000<<32 + 1) >> 32
}
