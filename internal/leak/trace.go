package leak

import (
	"encoding/binary"

	"github.com/vigiahq/vigia/internal/cyber"
)

// TraceOfLabel returns the label in the words of the rules.
func (l Label) TraceOfLabel() cyber.Trace {
	return cyber.Trace{Told: l.IsOfRecord(), Classes: l.Classes, Sites: l.Sites, Day: l.Day, Spellings: l.Spellings}
}

// AppendTrace writes down what the store keeps of a trace besides its classes: spellings, sites, day and which
// passwords.
func AppendTrace(dst []byte, t cyber.Trace) []byte {
	label := Label{Classes: t.Classes, Sites: t.Sites, Day: t.Day, Spellings: t.Spellings}.AppendEncoded(nil)
	dst = append(binary.AppendUvarint(dst, uint64(len(label))), label...)
	for _, p := range t.Passwords {
		dst = append(dst, byte(p>>16), byte(p>>8), byte(p))
	}
	return dst
}

// ParseTrace reads what AppendTrace wrote.
func ParseTrace(text []byte) (cyber.Trace, error) {
	size, n := binary.Uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) || (uint64(len(text)-n)-size)%3 != 0 {
		return cyber.Trace{}, ErrLabel.Note("no trace")
	}
	label, err := ParseLabel(text[n : n+int(size)])
	if err != nil {
		return cyber.Trace{}, err
	}
	t := label.TraceOfLabel()
	for tags := text[n+int(size):]; len(tags) > 0; tags = tags[3:] {
		t.Passwords = append(t.Passwords, uint32(tags[0])<<16|uint32(tags[1])<<8|uint32(tags[2]))
	}
	return t, nil
}
