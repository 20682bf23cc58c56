package container

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestORCNumbers reads the examples that the format's description gives.
func TestORCNumbers(t *testing.T) {
	steps := func(from, to int64) (all []int64) {
		for ; from != to; from-- {
			all = append(all, from)
		}
		return all
	}
	for packed, want := range map[string][]int64{
		"new 0a2710":               slices.Repeat([]int64{10000}, 5),
		"new 5e035ca1ab1edeadbeef": {23713, 43806, 57005, 48879},
		"new c609020222424246":     {2, 3, 5, 7, 11, 13, 17, 19, 23, 29},
		"old 610007":               slices.Repeat([]int64{7}, 100),
		"old 61ff64":               steps(100, 0),
		"old fb020306070b":         {2, 3, 6, 7, 11},
		"new 8e132b2107d01e00147028323c46505a646e78828c96a0aab4befce8": {2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130, 2140, 2150,
			2160, 2170, 2180, 2190},
	} {
		way, text, _ := strings.Cut(packed, " ")
		b, err := hex.DecodeString(text)
		must(t, err)
		var got []int64
		err = orcNumbers(b, way == "new", false, func(v int64) error { got = append(got, v); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", packed, got, err)
		}
	}
}

// protoOf is a message: numbers, texts and messages by the numbers of their fields.
func protoOf(pairs ...any) (b []byte) {
	for i := 0; i < len(pairs); i += 2 {
		field := uint64(pairs[i].(int)) << 3
		switch v := pairs[i+1].(type) {
		case int:
			b = binary.AppendUvarint(binary.AppendUvarint(b, field), uint64(v))
		case string:
			b = append(binary.AppendUvarint(binary.AppendUvarint(b, field|2), uint64(len(v))), v...)
		case []byte:
			b = append(binary.AppendUvarint(binary.AppendUvarint(b, field|2), uint64(len(v))), v...)
		}
	}
	return b
}

// orcFile is a table of an address and a CPF, the address once as it is and once from a dictionary.
func orcFile(packing int, pack func([]byte) []byte) []byte {
	piece := func(b []byte) []byte {
		if packing == 0 {
			return b
		}
		b = pack(b)
		return append([]byte{byte(len(b) << 1), byte(len(b) >> 7), byte(len(b) >> 15)}, b...)
	}
	file := []byte("ORC")
	number := binary.AppendUvarint([]byte{0xff}, 2*52998224725) // one number as it is, in the older way
	parts := [][]byte{piece([]byte("maria@exemplo.com")), piece([]byte{0xff, 17}), piece([]byte("joao@exemplo.com")), piece([]byte{0xff, 16}), piece(number)}
	var streams []byte
	for i, kind := range []int{1, 2, 3, 2, 1} {
		streams = append(streams, protoOf(1, protoOf(1, kind, 2, []int{1, 1, 2, 2, 3}[i], 3, len(parts[i])))...)
		file = append(file, parts[i]...)
	}
	data := len(file) - 3
	foot := piece(append(streams, protoOf(2, protoOf(1, 0), 2, protoOf(1, 0), 2, protoOf(1, 1, 2, 1), 2, protoOf(1, 0))...))
	file = append(file, foot...)
	about := piece(protoOf(1, 3, 3, protoOf(1, 3, 2, 0, 3, data, 4, len(foot), 5, 1),
		4, protoOf(1, 12, 3, "email", 3, "contato", 3, "cpf"), 4, protoOf(1, orcString), 4, protoOf(1, orcVarchar), 4, protoOf(1, orcLong), 6, 1))
	file = append(file, about...)
	end := protoOf(1, len(about), 2, packing, 5, 0, 8000, "ORC")
	return append(append(file, end...), byte(len(end)))
}

func orcFormats(t *testing.T) []subformat {
	same := func(b []byte) []byte { return b }
	want := []string{"email maria@exemplo.com", "email joao@exemplo.com", "cpf 52998224725"}
	short := func(b []byte) []byte { // Snappy of one literal, which is short
		return append(append(binary.AppendUvarint(nil, uint64(len(b))), 60<<2, byte(len(b)-1)), b...)
	}
	bomb := orcFile(0, same)
	made := []subformat{
		{name: "ORC", file: orcFile(0, same), want: want}, {name: "ORC, Deflate", file: orcFile(1, func(b []byte) []byte { return deflated(t, b) }), want: want},
		{name: "ORC, Snappy", file: orcFile(2, short), want: want}, {name: "ORC, Zstandard", file: orcFile(5, func(b []byte) []byte { return zstded(t, b) }), want: want},
		{name: "ORC, LZO", file: orcFile(3, same), want: want, lost: "not read: 3"}, {name: "ORC, cut short", file: bomb[:len(bomb)-30], want: want, lost: "cut short"},
	}
	return grouped("Tables", made)
}

// TestORCBombs: runs that say they are long, and pieces that say they are large, end within the limits.
func TestORCBombs(t *testing.T) {
	for i := range 400 {
		bad := bytes.Clone(orcFile(0, func(b []byte) []byte { return b }))
		bad[3+i%(len(bad)-3)] ^= byte(1 << (i % 8))
		_, _, _, err := walkedWith(bytes.NewReader(bad), Options{Limits: Limits{Memory: 8 << 20, Bytes: 1 << 20}})
		if err != nil && !strings.Contains(fmt.Sprint(err), "bomb") && !strings.Contains(fmt.Sprint(err), "unpack") {
			t.Fatal(err)
		}
	}
}
