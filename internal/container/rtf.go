package container

import "encoding/binary"

// rtfStart is what the window of Outlook's compressed RTF begins with.
const rtfStart = `{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` +
	"\r\n" + `\par \pard\plain\f0\fs20\b\i\u\tab\tx`

// rtfPlain unpacks the RTF that Outlook keeps texts of messages as, or returns nil where it is none.
func rtfPlain(b []byte) []byte {
	const head, window, most = 16, 4096, 64 << 20
	if len(b) < head {
		return nil
	}
	switch string(b[8:12]) {
	case "MELA": // as it is
		return b[head:]
	case "LZFu":
	default:
		return nil
	}
	size := binary.LittleEndian.Uint32(b[4:])
	var ring [window]byte
	at := copy(ring[:], rtfStart)
	plain := make([]byte, 0, min(int(size), 16*len(b), most))
	put := func(c byte) {
		ring[at] = c
		at = (at + 1) % window
		plain = append(plain, c)
	}
	for b = b[head:]; len(b) > 0; {
		flags := b[0]
		b = b[1:]
		for bit := 0; bit < 8; bit++ {
			if flags>>bit&1 == 0 {
				if len(b) == 0 {
					return plain
				}
				put(b[0])
				b = b[1:]
				continue
			}
			if len(b) < 2 {
				return plain
			}
			from, length := int(b[0])<<4|int(b[1])>>4, int(b[1]&15)+2
			if b = b[2:]; from == at {
				return plain // its end
			}
			for k := range length {
				put(ring[(from+k)%window])
			}
		}
	}
	return plain
}
