package record

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// isEmptyValue reports whether a value is none: nothing, NULL, \N, a dash.
func isEmptyValue(v []byte) bool {
	switch len(v) {
	case 0:
		return true
	case 1:
		return v[0] == '-' || v[0] == ' ' || v[0] == '.'
	case 2:
		return v[0] == '\\' && v[1] == 'N' || v[0] == '-' && v[1] == '-'
	case 3:
		return foldShort(v) == "n/a" || foldShort(v) == "nil" || foldShort(v) == "nan"
	case 4:
		return bytes.EqualFold(v, []byte("null")) || bytes.EqualFold(v, []byte("none"))
	case 6:
		return bytes.EqualFold(v, []byte("(null)")) || bytes.EqualFold(v, []byte("<null>")) ||
			bytes.EqualFold(v, []byte("[null]"))
	}
	return false
}

// foldShort returns a short value in lower case.
func foldShort(v []byte) string { return string([]byte{lowered(v[0]), lowered(v[1]), lowered(v[2])}) }

// lowered returns an ASCII letter in lower case, and any other byte as it is.
func lowered(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// The kinds of characters in a value.
const (
	hasLetter uint8 = 1 << iota
	hasDigit
	hasSpace
	hasMark
	hasUpper
	hasHigh
)

// kindOf sorts bytes for the shape of a value.
var kindOf = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = hasLetter
		case c >= 'A' && c <= 'Z':
			t[c] = hasLetter | hasUpper
		case c >= '0' && c <= '9':
			t[c] = hasDigit
		case c == ' ':
			t[c] = hasSpace
		case c >= 0x80:
			t[c] = hasLetter | hasHigh
		default:
			t[c] = hasMark
		}
	}
	return t
}()

// byteSet is the bytes of some kinds and others.
func byteSet(kinds uint8, others string) (t [256]bool) {
	for c := range t {
		t[c] = kindOf[c]&kinds != 0 || strings.IndexByte(others, byte(c)) >= 0
	}
	return t
}

// characterKinds tells which kinds of characters a value has.
func characterKinds(v []byte) (k uint8) {
	for len(v) >= 4 {
		k |= kindOf[v[0]] | kindOf[v[1]] | kindOf[v[2]] | kindOf[v[3]]
		v = v[4:]
	}
	for _, c := range v {
		k |= kindOf[c]
	}
	return k
}

// maybeHash reports whether what strongHash knows may begin with c.
func maybeHash(c byte) bool { return c == '$' || c == '{' || c == 'p' || c == 'b' }

// strongHash knows what nothing but a password is stored as: bcrypt, argon2, crypt, PHPass, LDAP schemes, Django's.
func strongHash(v []byte) bool {
	if len(v) < 20 || len(v) > 512 {
		return false
	}
	switch v[0] {
	case '$':
		return crypted(v) && bytes.IndexByte(v, ' ') < 0 && bytes.IndexByte(v, '\t') < 0 &&
			bytes.IndexByte(v, '"') < 0 &&
			bytes.IndexByte(v, '\'') < 0
	case '{':
		for _, scheme := range [...]string{"{SSHA", "{SHA", "{MD5", "{SMD5", "{CRYPT", "{PBKDF2", "{ARGON2"} {
			if len(v) > len(scheme) && bytes.EqualFold(v[:len(scheme)], []byte(scheme)) {
				return true
			}
		}
	case 'p', 'b':
		return bytes.HasPrefix(v, []byte("pbkdf2_sha")) || bytes.HasPrefix(v, []byte("pbkdf2:sha")) ||
			bytes.HasPrefix(v, []byte("bcrypt_sha256$"))
	}
	return false
}

// crypted reports whether v, which has at least 20 characters, begins like a crypted password.
func crypted(v []byte) bool {
	switch v[1] {
	case '2':
		return v[3] == '$' && (v[2] == 'a' || v[2] == 'b' || v[2] == 'x' || v[2] == 'y')
	case '1', '5', '6', '7', 'y', 'P', 'H', 'S':
		return v[2] == '$'
	case 'a', 's', 'p':
		return bytes.HasPrefix(v, []byte("$argon2")) || bytes.HasPrefix(v, []byte("$apr1$")) ||
			bytes.HasPrefix(v, []byte("$scrypt$")) ||
			bytes.HasPrefix(v, []byte("$pbkdf2"))
	}
	return false
}

// hexDigest knows MD5, SHA-1, SHA-256 and SHA-512 by their length.
func hexDigest(v []byte) bool {
	switch len(v) {
	case 32, 40, 64, 128:
	default:
		return false
	}
	all := uint8(0)
	for ; len(v) >= 4; v = v[4:] { // it has no rest
		all |= hexOf[v[0]] | hexOf[v[1]] | hexOf[v[2]] | hexOf[v[3]]
	}
	return all == hexDigit|hexLetter
}

const (
	hexDigit uint8 = 1 << iota
	hexLetter
	noHex
)

// hexOf tells hexadecimal digits and letters apart, by byte.
var hexOf = func() (t [256]uint8) {
	for c := range t {
		t[c] = noHex
		if at := strings.IndexByte("0123456789abcdefABCDEF", byte(c)); at >= 0 {
			t[c] = hexDigit << (min(at, 10) / 10)
		}
	}
	return t
}()

// postalCode knows a Brazilian one, 01310-100.
func postalCode(v []byte) bool {
	return len(v) == 9 && v[5] == '-' && allDigits(v[:5]) && allDigits(v[6:]) && string(v) != "00000-000"
}

// allDigits reports whether v consists of digits; false for an empty v.
func allDigits(v []byte) bool {
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(v) > 0
}

// The years that are accepted as a year of birth, and those in which a date is more likely a birth date than another.
const (
	firstYear, lastYear = 1900, 2025
	oldestAlive         = 1915
	recordsBegin        = 1994
)

// ParseYear reads a date as people and databases write it, and returns its year, or 0.
func ParseYear(v []byte) int {
	if len(v) < 8 || v[0] < '0' || v[0] > '9' {
		return 0
	}
	if len(v) > 10 && (v[10] == 'T' || v[10] == ' ') {
		v = v[:10]
	}
	switch {
	case len(v) == 10 && isParted(v, 4, 7):
		return validDate(parseNumber(v[:4]), parseNumber(v[5:7]), parseNumber(v[8:]))
	case len(v) == 10 && isParted(v, 2, 5):
		return dayOrMonth(parseNumber(v[6:]), parseNumber(v[:2]), parseNumber(v[3:5]))
	case len(v) == 8 && allDigits(v):
		if y := validDate(parseNumber(v[:4]), parseNumber(v[4:6]), parseNumber(v[6:])); y >= firstYear {
			return y
		}
		return dayOrMonth(parseNumber(v[4:]), parseNumber(v[:2]), parseNumber(v[2:4]))
	case len(v) == 8 && isParted(v, 1, 3): // 1/2/1980
		return dayOrMonth(parseNumber(v[4:]), parseNumber(v[:1]), parseNumber(v[2:3]))
	case len(v) == 9 && isParted(v, 2, 4):
		return dayOrMonth(parseNumber(v[5:]), parseNumber(v[:2]), parseNumber(v[3:4]))
	case len(v) == 9 && isParted(v, 1, 4):
		return dayOrMonth(parseNumber(v[5:]), parseNumber(v[:1]), parseNumber(v[2:4]))
	}
	return 0
}

// isParted reports whether a date is parted in the usual places.
func isParted(v []byte, i, j int) bool {
	return v[i] == v[j] && (v[i] == '-' || v[i] == '/' || v[i] == '.')
}

// dayOrMonth reads day and month in whichever order they can be.
func dayOrMonth(y, a, b int) int { return max(validDate(y, b, a), validDate(y, a, b)) }

// validDate returns the year of a date that there is, or 0.
func validDate(y, m, d int) int {
	if y < firstYear || y > lastYear || m < 1 || m > 12 || d < 1 || d > 31 || y == firstYear && m == 1 && d == 1 {
		return 0
	}
	return y
}

// parseNumber reads digits, or returns -1.
func parseNumber(v []byte) int {
	n := 0
	for _, c := range v {
		if c < '0' || c > '9' || n > 1<<20 {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// address knows an IP address, v4 or v6.
func ipAddress(v []byte) bool {
	if len(v) < 3 || len(v) > 45 || v[0] != ':' && (v[0] < '0' || v[0] > '9') && (v[0]|0x20 < 'a' || v[0]|0x20 > 'f') {
		return false
	}
	if bytes.IndexByte(v, ':') >= 0 {
		for _, c := range v {
			if c != ':' && c != '.' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'f') {
				return false
			}
		}
		return bytes.Count(v, []byte(":")) >= 2
	}
	groups, n, digits := 0, 0, 0
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9':
			if n, digits = n*10+int(c-'0'), digits+1; digits > 3 || n > 255 {
				return false
			}
		case c == '.' && digits > 0:
			groups, n, digits = groups+1, 0, 0
		default:
			return false
		}
	}
	return groups == 3 && digits > 0 && string(v) != "0.0.0.0"
}

// claimValue tells what a value of a column exposes: nothing, if it is none or has not the shape that it should have.
// Columns of identifiers are the scanner's to judge.
func claimValue(c column, v []byte) Classes {
	if isEmptyValue(v) {
		return 0
	}
	switch c {
	case colPassword:
		return passwordClass(v)
	case colHash:
		if strongHash(v) || hexDigest(v) || len(v) >= 13 && characterKinds(v)&(hasSpace|hasHigh) == 0 {
			return PasswordHash
		}
		return 0
	case colName:
		if k := characterKinds(v); k&hasLetter == 0 || k&hasDigit != 0 || bytes.IndexByte(v, '@') >= 0 || len(v) < 2 ||
			isTruthWord(v) {
			return 0
		}
	case colBirthDate:
		if ParseYear(v) == 0 {
			return 0
		}
	case colAddress:
		if k := characterKinds(v); postalCode(v) || len(v) == 8 && allDigits(v) && string(v) != "00000000" {
			return Address
		} else if len(v) < 4 || k&hasLetter == 0 || isTruthWord(v) {
			return 0
		}
	case colDocument, colPaper:
		if len(v) < 5 || characterKinds(v)&hasDigit == 0 {
			return 0
		}
	case colFinancial, colPix:
		if characterKinds(v)&hasDigit == 0 {
			return 0
		}
	case colIP:
		if !ipAddress(v) {
			return 0
		}
	case colUsername:
		if bytes.IndexByte(v, '@') > 0 || isTruthWord(v) || characterKinds(v)&hasLetter == 0 {
			return 0
		}
	case colHealth, colCookies:
		if isTruthWord(v) {
			return 0
		}
	case unknown:
		if strongHash(v) {
			return PasswordHash
		}
		return 0
	default:
		return 0
	}
	return classOf[c]
}

// isTruthWord knows the words for yes and no, which say that something is so, not what it is.
func isTruthWord(v []byte) bool {
	if len(v) == 0 || len(v) > 5 {
		return false
	}
	var word [5]byte
	for i, c := range v {
		word[i] = lowered(c)
	}
	switch string(word[:len(v)]) {
	case "true", "false", "yes", "no", "sim", "nao", "0", "1", "t", "f", "y", "n", "s":
		return true
	}
	return false
}

// passwordClass tells a password from what is stored instead of one.
func passwordClass(v []byte) Classes {
	if len(v) >= 20 && (strongHash(v) || hexDigest(v)) {
		return PasswordHash
	}
	if isTruthWord(v) && len(v) > 3 || isMasked(v) {
		return 0
	}
	return Password
}

// isMasked reports whether a value is a mask or a placeholder.
func isMasked(v []byte) bool {
	switch v[0] {
	case '*':
		return len(v) > 3 && bytes.Count(v, []byte("*")) == len(v)
	case '[':
		return bytes.EqualFold(v, []byte("[redacted]"))
	}
	return false
}

// shortestShape is how long a value must be for its shape to say something.
const shortestShape = 8

// classesOfShape returns what a headerless value shows by its shape alone.
func classesOfShape(v []byte) Classes {
	switch n := len(v); {
	case strongHash(v): // digits alone may be a token of any kind
		return PasswordHash
	case n == 9 && postalCode(v):
		return Address
	case n <= 19 && n != 8:
		if y := ParseYear(v); y >= oldestAlive && y < recordsBegin {
			return BirthDate
		}
	}
	return 0
}

// firstStealer is before which no log of a stealer was written.
const firstStealer = 2010

// parseDay reads 2024-03-12, 12.03.2024 and their kin, and returns the day since 1970, or 0. A day that could be read
// with its month in either place is none.
func parseDay(s string) int32 {
	v := []byte(s)
	for i, c := range v {
		if c == '_' {
			v[i] = '-'
		}
	}
	var y, m, d int
	switch {
	case isParted(v, 4, 7):
		y, m, d = parseNumber(v[:4]), parseNumber(v[5:7]), parseNumber(v[8:])
	case isParted(v, 2, 5):
		d, m, y = parseNumber(v[:2]), parseNumber(v[3:5]), parseNumber(v[6:])
		if d <= 12 && m <= 12 && d != m && v[2] == '/' {
			return 0
		}
	default:
		return 0
	}
	if y < firstStealer || y > firstStealer+90 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0
	}
	return int32(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// unescaped returns a value as it was typed. It is valid until the next call.
func (r *Reader) unescaped(f field) []byte {
	v := r.b[f.from:f.to]
	if !bytes.ContainsAny(v, [...]string{
		literal: "", doubled: `"`, backslash: `\'`, copyText: `\`,
		jsonText: `\`,
	}[f.escapes]) {
		return v
	}
	switch f.escapes {
	case literal, doubled:
		r.text = appendTyped(r.text[:0], v, false, '"')
	case backslash:
		r.text = appendTyped(r.text[:0], v, true, '\'')
	case copyText:
		r.text = appendTyped(r.text[:0], v, true, '\\')
	case jsonText:
		r.text = appendJSON(r.text[:0], v)
	}
	return r.text
}

// appendTyped appends v with each doubled quote made single, as SQL and CSV double the quotes within a value, and,
// where they have a meaning, with backslashes undone.
func appendTyped(dst, v []byte, slashes bool, quote byte) []byte {
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case slashes && c == '\\' && i+1 < len(v):
			i++
			dst = append(dst, control(v[i]))
		case c == quote && i+1 < len(v) && v[i+1] == quote:
			i++
			dst = append(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// control returns the character that stands for c behind a backslash; c itself if it has no other meaning.
func control(c byte) byte {
	if i := strings.IndexByte("ntrbf", c); i >= 0 {
		return "\n\t\r\b\f"[i]
	}
	return c
}

// appendJSON appends v with the escapes of JSON undone, surrogate pairs included. Escapes that are not valid are left
// out: a dump may be cut or damaged anywhere.
func appendJSON(dst, v []byte) []byte {
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' || i+1 >= len(v) {
			dst = append(dst, v[i])
			continue
		}
		i++
		if v[i] != 'u' || i+4 >= len(v) {
			dst = append(dst, control(v[i]))
			continue
		}
		n, err := strconv.ParseUint(string(v[i+1:i+5]), 16, 32)
		if err != nil {
			continue
		}
		c := rune(n)
		i += 4
		if c >= 0xd800 && c < 0xdc00 && i+6 < len(v) && v[i+1] == '\\' && v[i+2] == 'u' {
			if low, err := strconv.ParseUint(string(v[i+3:i+7]), 16, 32); err == nil && low >= 0xdc00 && low < 0xe000 {
				c = (c-0xd800)<<10 + rune(low) - 0xdc00 + 0x10000
				i += 6
			}
		}
		dst = utf8.AppendRune(dst, c)
	}
	return dst
}

// longestHost is how long the name of a host may be.
const longestHost = 253

// setSite takes the host out of an address.
func (r *Reader) setSite(url []byte) {
	if site := AppendHost(r.site[:0], url); len(site) > 0 {
		r.out.Site = site
	}
}

// AppendHost appends the host of an address, in lower case and without www, or nothing where it has none.
func AppendHost(dst, url []byte) []byte {
	if n := bytes.Index(url, []byte("://")); n >= 0 {
		url = url[n+3:]
	}
	from, to := 0, len(url)
	for i, c := range url {
		if inHost[c] != 0 {
			continue
		}
		if c == '/' || c == '?' || c == '#' || c == ' ' || c == '\t' {
			to = i
			break
		}
		if c == '@' {
			from = i + 1
		}
	}
	url = url[from:to]
	if n := bytes.IndexByte(url, ':'); n >= 0 {
		url = url[:n]
	}
	if len(url) < 4 || len(url) > longestHost || bytes.IndexByte(url, '.') <= 0 {
		return dst[:0]
	}
	for _, c := range url {
		if inHost[c] == 0 {
			return dst[:0]
		}
		dst = append(dst, inHost[c])
	}
	return bytes.TrimPrefix(dst, []byte("www."))
}

// inHost has the characters that names of hosts are made of, in lower case.
var inHost = func() (t [256]byte) {
	for c, isIn := range byteSet(hasLetter|hasDigit, ".-_") {
		if isIn {
			t[c] = lowered(byte(c))
		}
	}
	return t
}()

// dayOfNames returns the day that the names of the file and its folders tell, since 1970, or 0.
func (r *Reader) dayOfNames() int32 {
	if r.day >= 0 {
		return r.day
	}
	r.day = 0
	name := r.name
	for i := 0; i+10 <= len(name); i++ {
		if i > 0 && name[i-1] >= '0' && name[i-1] <= '9' || i+10 < len(name) && name[i+10] >= '0' && name[i+10] <= '9' {
			continue
		}
		if d := parseDay(name[i : i+10]); d > 0 {
			r.day = d
		}
	}
	return r.day
}
