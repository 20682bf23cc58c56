package alert

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// cursorPlace is a place behind an event. The mark tells events apart that have the same number, one of them in a
// database that was later replaced by an older backup; zero where it is not known.
type cursorPlace struct {
	seq  int64
	mark uint64
}

// eventMark returns the mark of an event, never zero unless there is none.
func eventMark(id EventID) uint64 {
	if id == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:8]) | 1
}

// String writes the cursor; parseCursor takes exactly this spelling.
func (p cursorPlace) String() string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(p.seq))
	if p.mark != 0 {
		raw = binary.BigEndian.AppendUint64(raw, p.mark)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseCursor accepts exactly what String writes: 8 bytes of number, or 16 with a mark. Other spellings are refused, so
// that a cursor can be compared as text.
func parseCursor(text string) (p cursorPlace, err error) {
	if text == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && (len(raw) == 8 || len(raw) == 16) {
		p.seq = int64(binary.BigEndian.Uint64(raw))
		if len(raw) == 16 {
			p.mark = binary.BigEndian.Uint64(raw[8:])
		}
	}
	if p.seq < 1 || p.String() != text {
		return cursorPlace{}, ErrCursor.With("after", fault.CursorFormat)
	}
	return p, nil
}

// Pulls are how far a partner has read its events, by area.
type Pulls struct{ Cyber, Subscriptions int64 }

// HasRead reports whether the partner has read an event.
func (p Pulls) HasRead(t Type, seq int64) bool {
	if t.ofSubscriptions() {
		return seq <= p.Subscriptions
	}
	return seq <= p.Cyber
}

// WithRead returns how far the partner has read once it has everything of some areas up to a number; it never goes
// back.
func (p Pulls) WithRead(of Areas, seq int64) Pulls {
	if of.Cyber {
		p.Cyber = max(p.Cyber, seq)
	}
	if of.Subscriptions {
		p.Subscriptions = max(p.Subscriptions, seq)
	}
	return p
}
