package record

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/identifier"
)

// fit is how sure it is that an identifier is the value of a column.
type fit uint8

const (
	never fit = iota
	perhaps
	sure
)

// columnFits reports whether an identifier may be the value of a column.
func columnFits(c column, kind identifier.Kind) fit {
	switch c {
	case colUsername:
		if kind == identifier.Card || kind == identifier.PixKey {
			return perhaps
		}
		return sure
	case colDocument:
		if kind == identifier.CPF || kind == identifier.CNPJ {
			return sure
		}
		return perhaps
	case colArea:
		if kind == identifier.Phone {
			return sure
		}
		return perhaps
	case colPix:
		if kind == identifier.PixKey {
			return sure
		}
		return perhaps
	case colEmail, colCPF, colCNPJ, colPhone, colCard:
		if kind == identifier.CNPJ && (c == colCPF || c == colCNPJ) || kind == identifier.CPF && c == colCNPJ {
			return sure // people and companies in one column
		}
		if classOf[c] == ofKind[kind] {
			return sure
		}
		return never
	case colBirthDate, colIP, colHeader:
		return never
	default: // of nothing that is known, or inside of a text
		return perhaps
	}
}

// cellMeans reports whether cell n is named after what its digits can be read as. A phone without its area code needs
// that in the cell before it.
func (r *Reader) cellMeans(h *hit, n int) bool {
	c := r.cells[n].column
	if h.kind == identifier.Phone && int(h.to-h.from) < 10 {
		return n > 0 && r.cells[n-1].column == colArea && (c == colPhone || c == unknown)
	}
	switch {
	case h.kind == identifier.PixKey:
		return c == colPix
	case h.kind == identifier.CNPJ: // which a CPF with zeros before it may look like
		return c == colCNPJ || c == colCPF && !bytes.HasPrefix(r.b[h.from:h.to], []byte("000"))
	}
	return c.identity() && classOf[c] == ofKind[h.kind]
}
