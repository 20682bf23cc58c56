package seal

import (
	"crypto/hmac"
	"crypto/sha512"
	"fmt"

	daead "github.com/tink-crypto/tink-go/v2/daead/subtle"
)

// SealTable encrypts the table of labels of a segment, bound to the context. Its key follows from the match secret, as
// the fingerprints beside it do, and for the same reason does not rotate: a segment is never written again. AES-SIV
// gives the same bytes for the same table and context, so that a dump that is imported twice is known by its digest; it
// shows no more than that two tables are equal.
func (k *Keys) SealTable(context, table []byte) ([]byte, error) {
	sealed, err := k.match.tables.EncryptDeterministically(table, context)
	if err != nil {
		return nil, fmt.Errorf("seal: table: %w", err)
	}
	return sealed, nil
}

// OpenTable opens what SealTable made for the same context.
func (k *Keys) OpenTable(context, sealed []byte) ([]byte, error) {
	table, err := k.match.tables.DecryptDeterministically(sealed, context)
	if err != nil {
		return nil, ErrSealBroken.Because(
			fmt.Errorf("table of labels: altered, moved, or of another installation: %w", err),
		)
	}
	return table, nil
}

// newTables derives the key of tables, which is twice as long as others, from the match secret.
func newTables(secret []byte) *daead.AESSIV {
	h := hmac.New(sha512.New, secret)
	h.Write([]byte(labelTable))
	siv, err := daead.NewAESSIV(h.Sum(nil))
	if err != nil {
		panic(err) // the length of the key is wrong, which is a constant
	}
	return siv
}
