package scan

// leftFree reports whether a number that begins at b[i] is not the tail of something longer: of a decimal, of a
// hyphened number, of a hash. Only what may stand in a domain name, letters, digits, dots and hyphens, needs a closer
// look.
func leftFree(b []byte, i int) bool { return i == 0 || class[b[i-1]]&inDomain == 0 || freeAfter(b, i) }

// freeAfter is leftFree behind such a character.
func freeAfter(b []byte, i int) bool {
	c := b[i-1]
	switch {
	case c == '.' || c == '-':
		return i < 2 || !isDigit(b[i-2]) && !(i > 2 && class[b[i-2]]&hexOnly != 0 && isDigit(b[i-3]))
	case class[c]&digit != 0:
		return i >= 3 && b[i-3] == '%' // %20, which was stepped over
	}
	// Behind letters: a word such as CPF, an escape such as \n or %3D, and no part of a hash.
	if i >= 3 && b[i-3] == '%' && isHexDigit(b[i-2]) {
		return true
	}
	k, plain := i, false
	for ; k > 0 && i-k < 16 && class[b[k-1]]&letter != 0; k-- {
		plain = plain || class[b[k-1]]&hexOnly == 0
	}
	return k == 0 && plain || k > 0 && !isDigit(b[k-1]) && (plain || b[k-1] == '\\')
}

// rightFree reports whether a number that ends before b[j] does not go on: a sentence or a range may end so.
func rightFree(b []byte, j int) bool {
	return j >= len(b) || class[b[j]]&inDomain == 0 ||
		class[b[j]]&(letter|digit) == 0 && (j+1 >= len(b) || !isDigit(b[j+1]))
}

// decimalZero reports whether a whole number that ends before b[j] goes on as 52998224725.0: a spreadsheet's or a data
// frame's way to write it.
func decimalZero(b []byte, j int) bool {
	if j+1 >= len(b) || b[j] != '.' || b[j+1] != '0' {
		return false
	}
	end := j + 2
	if end < len(b) && b[end] == '0' {
		end++
	}
	return end >= len(b) || class[b[end]]&(letter|digit|dot) == 0
}

// wordRight reports whether letters that no hash has come right after b[:j]: a state, a name.
func wordRight(b []byte, j int) bool {
	for k := j; k < len(b) && k < j+4 && class[b[k]]&letter != 0; k++ {
		if class[b[k]]&hexOnly == 0 {
			return true
		}
	}
	return false
}

// trackLeft reports whether b[i] begins the number of a first track: %B4111...
func trackLeft(b []byte, i int) bool { return i >= 2 && b[i-1]|0x20 == 'b' && b[i-2] == '%' }

// afterCard reports whether what follows a card's number at b[j] is its expiry date: of a second track, where '=' was
// written as D, or of a list.
func afterCard(b []byte, j int) bool {
	if j+4 < len(b) && b[j]|0x20 == 'd' && isDigit(b[j+1]) && isDigit(b[j+2]) && month(b[j+3], b[j+4]) {
		return true
	}
	if j+5 >= len(b) || b[j] != '-' && b[j] != '.' || b[j+3] != b[j] || !month(b[j+1], b[j+2]) || !isDigit(b[j+4]) ||
		!isDigit(b[j+5]) {
		return false
	}
	end := j + 6
	if end+1 < len(b) && isDigit(b[end]) && isDigit(b[end+1]) {
		end += 2
	}
	return end >= len(b) || !isDigit(b[end])
}

// month reports whether two digits are a month, 01 to 12.
func month(tens, ones byte) bool {
	return tens == '0' && ones >= '1' && ones <= '9' || tens == '1' && ones >= '0' && ones <= '2'
}

// digitsOnly reports whether b holds nothing but digits; true for an empty b.
func digitsOnly(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// quote reports whether c is a single or a double quote.
func quote(c byte) bool { return c == '"' || c == '\'' }
