package leak

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/scan/record"
	"github.com/vigiahq/vigia/internal/segment"
)

// AsTrace returns the label in the words of the rules.
func (l Label) AsTrace() cyber.Trace {
	return cyber.Trace{Told: l.IsOfRecord(), Classes: cyber.Classes(l.Classes), Sites: l.Sites, Day: l.Day, Spellings: l.Spellings}
}

// AppendTrace writes down what the store keeps of a trace besides its classes: spellings, sites, day and which passwords.
func AppendTrace(dst []byte, t cyber.Trace) []byte {
	label := Label{Classes: record.Classes(t.Classes), Sites: t.Sites, Day: t.Day, Spellings: t.Spellings}.AppendEncoded(nil)
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
	t := label.AsTrace()
	for tags := text[n+int(size):]; len(tags) > 0; tags = tags[3:] {
		t.Passwords = append(t.Passwords, uint32(tags[0])<<16|uint32(tags[1])<<8|uint32(tags[2]))
	}
	return t, nil
}

// volume is what is read of one breach: its identifiers and, if it has any, its pairs.
type volume struct {
	reader, pairs *segment.Reader
	keys          Pairs
}

// closeFiles lets go of both.
func (v volume) closeFiles() error {
	err := v.reader.Close()
	if v.pairs != nil {
		err = errors.Join(err, v.pairs.Close())
	}
	return err
}

// traceValue returns what the records of the breach say of a value. A segment of the old kind, without labels, has no
// such facts.
func (v volume) traceValue(fingerprint uint64) (h Held, err error) {
	label, found, err := v.reader.LookUp(fingerprint)
	if err != nil || !found {
		return h, err
	}
	h.Found = true
	h.Trace, err = v.traceOfLabel(fingerprint, label)
	return h, err
}

// traceOfLabel returns what a label says of a value.
func (v volume) traceOfLabel(fingerprint uint64, id segment.LabelID) (cyber.Trace, error) {
	text, err := v.reader.LabelBytes(id)
	if err != nil {
		return cyber.Trace{}, err
	}
	label, err := ParseLabel(text)
	if err != nil {
		return cyber.Trace{}, fmt.Errorf("label of a segment: %w", err)
	}
	t := label.AsTrace()
	if v.pairs != nil && t.Classes&passwordClass != 0 {
		if t.Passwords, err = v.passwords(fingerprint); err != nil {
			return cyber.Trace{}, fmt.Errorf("pairs of a segment: %w", err)
		}
	}
	return t, nil
}

var passwordClass = cyber.NewClasses([]cyber.Exposed{cyber.ExposedPassword})

// mostPasswords bounds the passwords known of one value in one breach: an address with more is not one person's.
const mostPasswords = 256

// passwords tells apart those that stood beside a value; nil when there are none, or too many.
func (v volume) passwords(fingerprint uint64) (tags []uint32, err error) {
	first, last := v.keys.PairRange(fingerprint)
	for key, err := range v.pairs.KeysInRange(first, last) {
		if err != nil {
			return nil, err
		}
		if len(tags) == mostPasswords {
			return nil, nil
		}
		tags = append(tags, uint32(key-first))
	}
	return tags, nil
}
