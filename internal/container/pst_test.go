package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// pstHidden hides a block as Outlook does.
func pstHidden(b []byte, method byte, number uint64) []byte {
	b = append([]byte(nil), b...)
	if method == 1 {
		for i, c := range b {
			b[i] = pstForward[c]
		}
		return b
	}
	pstPlain(b, method, number) // the rotors undo what they did
	return b
}

// pstOf is a folder of the given blocks: their numbers are 4, 8, 12, ..., those of lists have the bit that says so.
func pstOf(wide bool, hiding byte, lists map[int]bool, blocks ...[]byte) []byte {
	u := binary.LittleEndian
	word, foot, tree, hidden, version := 4, 496, 0xc4, 0x1cd, uint16(14)
	if wide {
		word, foot, tree, hidden, version = 8, 488, 0xf0, 0x201, 23
	}
	number := func(b []byte, n uint64) []byte {
		if wide {
			return u.AppendUint64(b, n)
		}
		return u.AppendUint32(b, uint32(n))
	}
	file := make([]byte, 1024)
	copy(file, "!BDN\x00\x00\x00\x00SM")
	u.PutUint16(file[10:], version)
	file[hidden] = hiding
	var entries []byte
	for i, b := range blocks {
		id := uint64(4 * (i + 1))
		if lists[i] {
			id |= pstInternal
		} else {
			b = pstHidden(b, hiding, id)
		}
		entry := u.AppendUint16(number(number(nil, id), uint64(len(file))), uint16(len(b)))
		entries = append(append(entries, entry...), make([]byte, 2*word+8-len(entry))...)
		file = append(file, b...)
	}
	page := make([]byte, pstPage)
	copy(page, entries)
	page[foot], page[foot+2] = byte(len(blocks)), byte(2*word+8)
	copy(file[tree:], number(nil, uint64(len(file))))
	return append(file, page...)
}

// heapOf keeps values one behind the other, as messages are.
func heapOf(values ...[]byte) []byte {
	u := binary.LittleEndian
	b := []byte{0, 0, 0xec, 0xbc, 0, 0, 0, 0, 0, 0, 0, 0}
	places := u.AppendUint16(nil, uint16(len(b)))
	for _, v := range values {
		b = append(b, v...)
		places = u.AppendUint16(places, uint16(len(b)))
	}
	u.PutUint16(b, uint16(len(b)))
	return append(u.AppendUint16(u.AppendUint16(b, uint16(len(values))), 0), places...)
}

func pstFormats(t *testing.T) []subformat {
	message := heapOf(twoBytes("Conceição Silva"), twoBytes("maria@exemplo.com"), twoBytes("SMTP"), []byte("529.982.247-25"), []byte("SP"))
	list := func(word int, numbers ...uint64) []byte {
		b := []byte{1, 1, byte(len(numbers)), 0, 0, 0, 0, 0}
		for _, n := range numbers {
			b = append(b, binary.LittleEndian.AppendUint64(nil, n)[:word]...)
		}
		return b
	}
	body := twoBytes(strings.Repeat("linha de texto\r\n", 200) + "maria@exemplo.com\r\nCPF 529.982.247-25\r\n")
	cut := len(body) - 60 // inside of the address
	rtf := []byte("\x00\x00\x00\x00\x00\x00\x00\x00LZFu\x00\x00\x00\x00")
	for text := `maria@exemplo.com 529.982.247-25 `; len(text) > 0; text = text[min(8, len(text)):] {
		rtf = append(append(rtf, 0), text[:min(8, len(text))]...)
	}
	large := pstOf(true, 0, nil, message)
	large[10] = 36
	return grouped("Mail", []subformat{
		{name: "Outlook folder", file: pstOf(true, 1, nil, message)}, {name: "Outlook folder, rotated", file: pstOf(true, 2, nil, message)},
		{name: "Outlook folder of 97", file: pstOf(false, 1, nil, message)}, {name: "Outlook folder, long text", file: pstOf(true, 1, map[int]bool{2: true}, body[:cut], body[cut:], list(8, 4, 8))},
		{name: "Outlook folder, RTF", file: pstOf(true, 1, nil, heapOf(rtf))},
		{name: "Outlook folder, attached zip", file: pstOf(true, 1, map[int]bool{2: true}, zipped(t, "a.txt", secret)[:70], zipped(t, "a.txt", secret)[70:], list(8, 4, 8))},
		{name: "Outlook folder, a block cut off", file: append(pstOf(true, 1, nil, message, message)[:1024], make([]byte, 10)...), lost: "cut short"},
		{name: "Outlook folder, pages of 4 KiB", file: large, lost: "not read"},
	})
}

// TestPSTBomb: blocks that many lists name, each many times, end at the limit.
func TestPSTBomb(t *testing.T) {
	const lists = 18
	blocks, internal := [][]byte{[]byte(strings.Repeat("linha de texto\n", 500))}, map[int]bool{}
	list := []byte{1, 1, lists, 0, 0, 0, 0, 0}
	for range lists {
		list = binary.LittleEndian.AppendUint64(list, 4)
	}
	for i := range lists {
		blocks, internal[i+1] = append(blocks, list), true
	}
	_, _, _, err := walkedWith(bytes.NewReader(pstOf(true, 1, internal, blocks...)), Options{Limits: Limits{Bytes: 1 << 20}})
	if !errors.Is(err, ErrBomb) {
		t.Error(err)
	}
}
