package record

import "github.com/vigiahq/vigia/internal/identifier"

// IsCardNumber reports whether a payment network could have issued a card of that number. All digits equal after the
// first six are a filler, except those of everybody's test card.
func IsCardNumber(n []byte) bool {
	if !network(n) || !identifier.IsLuhnValid(n) {
		return false
	}
	for _, c := range n[7:] {
		if c != n[6] {
			return true
		}
	}
	return n[0] == '4' && n[1] == '1'
}

// network reports whether a payment network numbers its cards this way. The check digit alone lets every tenth number
// pass.
func network(n []byte) bool {
	if len(n) < 12 || len(n) > 19 {
		return false
	}
	switch two := int(n[0]-'0')*10 + int(n[1]-'0'); {
	case n[0] == '4':
		return len(n) == 13 || len(n) == 16 || len(n) == 19
	case two >= 51 && two <= 55, two >= 22 && two <= 27:
		return len(n) == 16
	case two == 34 || two == 37:
		return len(n) == 15
	case two == 35:
		return len(n) >= 16
	case two == 30 || two == 36 || two == 38 || two == 39:
		return len(n) == 14 || len(n) == 16 || len(n) == 19
	default:
		return n[0] == '6' || two == 50 || two >= 56 && two <= 58
	}
}
