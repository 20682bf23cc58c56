package scan

// leftFree says whether a number that begins at b[i] is not the tail of something longer: of a decimal, of a hyphened
// number, of a hash. Only what may stand in a domain name, letters, digits, dots and hyphens, needs a closer look.
func leftFree(b []byte, i int) bool { return i == 0 || class[b[i-1]]&inDomain == 0 || freeAfter(b, i) }

// freeAfter is leftFree behind such a character.
func freeAfter(b []byte, i int) bool {
	c := b[i-1]
	switch {
	case c == '.' || c == '-':
		return i < 2 || !isHexDigitOrWord(b, i-2)
	case class[c]&digit != 0:
		// Only after %XX, which the caller has stepped over.
		return i >= 3 && b[i-3] == '%'
	case class[c]&letter != 0:
		return afterWord(b, i)
	}
	return true
}

// isHexDigitOrWord says whether b[k] continues a number: a digit does, and so does a hexadecimal letter that itself
// follows a digit.
func isHexDigitOrWord(b []byte, k int) bool {
	return isDigit(b[k]) || k > 0 && class[b[k]]&hexOnly != 0 && isDigit(b[k-1])
}

// afterWord says whether the letters before b[i] are a word such as CPF, an escape such as \n or %3D, and not part of a
// hash.
func afterWord(b []byte, i int) bool {
	if i >= 3 && b[i-3] == '%' && isHex(b[i-2]) {
		return true
	}
	k, plain := i, false
	for ; k > 0 && i-k < 16 && class[b[k-1]]&letter != 0; k-- {
		plain = plain || class[b[k-1]]&hexOnly == 0
	}
	if k > 0 && isDigit(b[k-1]) {
		return false
	}
	return plain || k > 0 && b[k-1] == '\\'
}

// rightFree says whether a number that ends before b[j] does not go on.
func rightFree(b []byte, j int) bool {
	return j >= len(b) || class[b[j]]&inDomain == 0 || freeBefore(b, j)
}

// freeBefore is rightFree before a character that may stand in a domain name: a sentence or a range may end so.
func freeBefore(b []byte, j int) bool {
	return class[b[j]]&(letter|digit) == 0 && (j+1 >= len(b) || !isDigit(b[j+1]))
}
