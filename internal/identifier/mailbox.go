package identifier

import "bytes"

// Spellings is a set of the ways in which the address of a Gmail mailbox is written; empty for any other address. Gmail
// does not look at dots and at what follows a plus sign, and googlemail.com is gmail.com.
type Spellings uint8

// How an address is written: each of the eight ways is a bit of Spellings, by the number that these make.
const (
	withDots = 1 << iota
	withTag
	googlemail
)

// gmailDomains name one service: mail to either reaches the same mailbox.
var gmailDomains = [...][]byte{[]byte("@gmail.com"), []byte("@googlemail.com")}

// gmailEnd is what both end with.
const gmailEnd = "mail.com"

// AppendMailbox appends to dst what stands for every spelling of the Gmail mailbox of an address in its normal form,
// and tells how this one is spelled. An address that is not Gmail's, or that is quoted, stands for itself: it is
// returned as it is.
func AppendMailbox(dst, normal []byte) ([]byte, Spellings) {
	if len(normal) < len(gmailEnd) || string(normal[len(normal)-len(gmailEnd):]) != gmailEnd {
		return normal, 0 // as most are
	}
	for i, domain := range gmailDomains {
		local, ok := bytes.CutSuffix(normal, domain)
		if !ok || len(local) == 0 || local[0] == '"' {
			continue
		}
		way, from := i*googlemail, len(dst)
		if plus := bytes.IndexByte(local, '+'); plus >= 0 {
			way, local = way|withTag, local[:plus]
		}
		for _, c := range local {
			if c == '.' {
				way |= withDots
				continue
			}
			dst = append(dst, c)
		}
		if len(dst) == from { // nothing is left: no mailbox of theirs
			break
		}
		return append(dst, gmailDomains[0]...), 1 << way
	}
	return normal, 0
}

// MatchForm returns what a value is looked for by: its normal form, or what stands for its mailbox.
func MatchForm(k Kind, normal string) []byte {
	if k != Email {
		return []byte(normal)
	}
	form, _ := AppendMailbox(nil, []byte(normal))
	return form
}

// SpellingOf tells how an address in its normal form is spelled.
func SpellingOf(normal string) Spellings {
	_, s := AppendMailbox(nil, []byte(normal))
	return s
}

// MaskedSpellings shows the spellings without the letters: "***.***+***@gmail.com".
func (s Spellings) MaskedSpellings() []string {
	var list []string
	for way := range 8 {
		if s&(1<<way) == 0 {
			continue
		}
		mask := hidden
		if way&withDots != 0 {
			mask += "." + hidden
		}
		if way&withTag != 0 {
			mask += "+" + hidden
		}
		list = append(list, mask+string(gmailDomains[way/googlemail]))
	}
	return list
}
