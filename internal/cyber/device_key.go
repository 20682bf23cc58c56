package cyber

import (
	"fmt"
	"io"
	"strings"
)

// An activation key that the service makes itself has 25 characters in five groups of five:
//
//	K7M2Q-9RTXW-4HNPC-VD3FJ-6YGA8
//
// Its characters are those below, none of which is easily taken for another: 0 and O, 1, I and L, 2 and Z, 5 and S, 8
// and B, U and V are there at most once. 24 of them are drawn, the last one is the check character: with v the place of
// a character in the alphabet and i its place in the key, 1 to 25, the sum of i*v over the whole key is a multiple of
// 29. As 29 is a prime larger than every i and every v, one wrong character and any two exchanged ones always break the
// sum. A draw whose check would fall outside the alphabet (4 in 29) is drawn again.
const (
	keyAlphabet = "2346789ACDFGHJKMNPQRTVWXY"
	keyLength   = 25
	keyGroup    = 5
	keyModulus  = 29
)

// KeyLength is how many characters a generated key has, its hyphens not counted.
const KeyLength = keyLength

// generateKey draws a key.
func generateKey(random io.Reader) (string, error) {
	var drawn [keyLength - 1]byte
	for {
		if err := drawCharacters(random, drawn[:]); err != nil {
			return "", err
		}
		if check, ok := checkCharacter(drawn[:]); ok {
			return groupCharacters(append(drawn[:], check)), nil
		}
	}
}

// drawCharacters fills text with characters of the alphabet, each as likely as any other.
func drawCharacters(random io.Reader, text []byte) error {
	const fair = 256 - 256%len(keyAlphabet) // bytes from here on would favour the first characters
	var one [1]byte
	for i := 0; i < len(text); {
		if _, err := io.ReadFull(random, one[:]); err != nil {
			return fmt.Errorf("draw a key: %w", err)
		}
		if int(one[0]) < fair {
			text[i] = keyAlphabet[int(one[0])%len(keyAlphabet)]
			i++
		}
	}
	return nil
}

// checkCharacter completes 24 characters; false when no character of the alphabet does.
func checkCharacter(text []byte) (byte, bool) {
	sum, ok := keyChecksum(text)
	if !ok {
		return 0, false
	}
	// 25*v + sum must be a multiple of 29, and 25 is its own kind of number there: its inverse is 7 (25*7 = 175 = 6*29
	// + 1).
	v := (keyModulus - sum) * 7 % keyModulus
	if v >= len(keyAlphabet) {
		return 0, false
	}
	return keyAlphabet[v], true
}

// keyChecksum returns the weighted sum of the characters, modulo 29; false when one is not of the alphabet.
func keyChecksum(text []byte) (int, bool) {
	sum := 0
	for i, c := range text {
		v := strings.IndexByte(keyAlphabet, c)
		if v < 0 {
			return 0, false
		}
		sum += (i + 1) * v
	}
	return sum % keyModulus, true
}

// groupCharacters writes a key in groups of five.
func groupCharacters(text []byte) string {
	var b strings.Builder
	for i, c := range text {
		if i > 0 && i%keyGroup == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(c)
	}
	return b.String()
}
