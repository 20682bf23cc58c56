package seal

import (
	"bytes"
	"errors"
	"testing"
)

func TestTablesAreSealed(t *testing.T) {
	k, other := fresh(t), fresh(t)
	table, context := []byte("senha;cpf;loja.exemplo.com.br"), []byte("segment a")
	sealed, err := k.SealTable(context, table)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("senha")) {
		t.Error("the table can be read")
	}
	mustRotate(t, k)
	again, err := reopen(t, k).SealTable(context, table)
	if err != nil || !bytes.Equal(again, sealed) {
		t.Errorf("the same table is sealed to other bytes (%v): equal segments would differ", err)
	}
	if plain, err := k.OpenTable(context, sealed); err != nil || !bytes.Equal(plain, table) {
		t.Errorf("OpenTable: %q, %v", plain, err)
	}
	altered := bytes.Clone(sealed)
	altered[len(altered)/2] ^= 1
	for what, try := range map[string]func() ([]byte, error){
		"another context":      func() ([]byte, error) { return k.OpenTable([]byte("segment b"), sealed) },
		"another installation": func() ([]byte, error) { return other.OpenTable(context, sealed) },
		"altered":              func() ([]byte, error) { return k.OpenTable(context, altered) },
		"cut":                  func() ([]byte, error) { return k.OpenTable(context, sealed[:8]) },
	} {
		if plain, err := try(); !errors.Is(err, ErrSealBroken) || plain != nil {
			t.Errorf("%s: %q, %v", what, plain, err)
		}
	}
}
