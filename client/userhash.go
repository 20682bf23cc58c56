package client

import (
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// UserHash returns the userHash of a person: BLAKE2b-512 of the eleven digits of the CPF followed by the salt that the
// partner got from the service, in lower-case hex. Dots, dash and spaces in cpf are skipped; its check digits are not
// looked at. Keep the salt secret: with it, a hash can be turned back into its CPF by trying them all.
func UserHash(cpf, salt string) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, cpf)
	sum := blake2b.Sum512([]byte(digits + salt))
	return hex.EncodeToString(sum[:])
}
