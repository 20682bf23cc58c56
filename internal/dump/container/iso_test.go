package container

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// isoRecordOf lists a file or folder of an image.
func isoRecordOf(name string, sector, size int, folder bool) []byte {
	r := make([]byte, 33, 64)
	r = append(r, name...)
	if len(r)%2 == 1 {
		r = append(r, 0)
	}
	r[0], r[32] = byte(len(r)), byte(len(name))
	binary.LittleEndian.PutUint32(r[2:], uint32(sector))
	binary.LittleEndian.PutUint32(r[10:], uint32(size))
	if folder {
		r[25] = 2
	}
	return r
}

// isoOf is an image with a folder, which lists itself too, and a file in it.
func isoOf(joliet bool, text []byte) []byte {
	image := make([]byte, 22*isoSector, 24*isoSector)
	put := func(sector int, parts ...[]byte) { copy(image[sector*isoSector:], bytes.Join(parts, nil)) }
	wide := func(s string) (b string) {
		if !joliet {
			return s + ";1"
		}
		for _, c := range s {
			b += "\x00" + string(c)
		}
		return b
	}
	put(16, []byte("\x01CD001\x01"))
	copy(image[16*isoSector+156:], isoRecordOf("\x00", 19, isoSector, true))
	put(17, []byte("\xffCD001\x01"))
	if joliet {
		put(16, []byte("\x02CD001\x01"))
		copy(image[16*isoSector+88:], "%/E")
	}
	put(
		19,
		isoRecordOf("\x00", 19, isoSector, true),
		isoRecordOf("\x01", 19, isoSector, true),
		isoRecordOf(wide("DADOS"), 20, isoSector, true),
	)
	put(20, isoRecordOf(wide("OUTRA"), 20, isoSector, true), isoRecordOf(wide("LISTA.ZIP"), 21, len(text), false))
	put(21, text)
	return image
}

// overwritten is a file with zeros in place of some of its bytes.
func overwritten(file []byte, at, size int) []byte {
	clear(file[at : at+size])
	return file
}

func isoFormats(t *testing.T) []subformat {
	packed := zipped(t, "a.txt", secret)
	return grouped("Archives", []subformat{
		{name: "ISO 9660", file: isoOf(false, packed)},
		{name: "ISO 9660, Joliet", file: isoOf(true, packed)},
		{
			name: "ISO 9660, folder overwritten",
			file: overwritten(isoOf(false, packed), 19*isoSector, isoSector),
			lost: "damaged",
		},
		{name: "ISO 9660, cut short", file: isoOf(false, packed)[:21*isoSector+20], lost: "cut short"},
		{name: "32 KiB of nothing, then text", file: append(make([]byte, 40<<10), secret...), lost: "unknown kind"},
	})
}
