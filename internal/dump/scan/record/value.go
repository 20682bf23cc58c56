package record

import "bytes"

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
