package record

import (
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

// TestNoIdentifierInDatesAddressesAndHeaders: digits of a birth date or an IP address, and addresses in the headers of
// a mail, are never taken for a value of the record.
func TestNoIdentifierInDatesAddressesAndHeaders(t *testing.T) {
	for _, c := range []column{colBirthDate, colIP, colHeader} {
		for _, kind := range []identifier.Kind{
			identifier.Email, identifier.CPF, identifier.CNPJ, identifier.Phone,
			identifier.Card, identifier.PixKey,
		} {
			if got := columnFits(c, kind); got != never {
				t.Errorf("column %d fits %s: %d", c, kind, got)
			}
		}
	}
}

// TestDoubtIsMutual: two readings of the same digits make each other unsure, unless the other one stands aside from the
// record: such a reading is doubted and casts no doubt.
func TestDoubtIsMutual(t *testing.T) {
	for _, c := range []struct {
		a, b         uint16
		aSure, bSure bool
	}{
		{0, 0, false, false},
		{aside, 0, false, true},
		{0, aside, true, false},
		{aside, aside, true, true},
		{weak, 0, true, true},
		{0, gone, true, true},
	} {
		a, b := hit{from: 0, to: 11, length: c.a}, hit{from: 0, to: 11, length: c.b}
		markDoubt(&a, &b)
		if (a.length&unsure == 0) != c.aSure || (b.length&unsure == 0) != c.bSure {
			t.Errorf("%+v: %b and %b", c, a.length, b.length)
		}
	}
	a, b := hit{from: 20, to: 31}, hit{from: 0, to: 11}
	if markDoubt(&a, &b); (a.length|b.length)&unsure != 0 {
		t.Error("digits in different places doubt each other")
	}
}
