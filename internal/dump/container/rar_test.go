package container

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// rar5Block puts the length and the sum before a head.
func rar5Block(head []byte) []byte {
	sized := append(binary.AppendUvarint(nil, uint64(len(head))), head...)
	return append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(sized)), sized...)
}

// rar5Part is a volume of a RAR 5 of one stored file. before and after say that the file goes on there. A power makes
// the text encrypted under the password "infected".
func rar5Part(t testing.TB, number int, data, whole []byte, before, after bool, power int) []byte {
	t.Helper()
	flags := uint64(0)
	if before || after {
		flags = 1
	}
	main := append(binary.AppendUvarint([]byte{1, 0}, flags), []byte{}...)
	if number > 0 {
		main = binary.AppendUvarint(binary.AppendUvarint([]byte{1, 0}, flags|2), uint64(number))
	}
	file := []byte("Rar!\x1a\x07\x01\x00")
	file = append(file, rar5Block(main)...)
	var extra []byte
	sum := crc32.ChecksumIEEE(whole)
	if power > 0 {
		salt, vector := bytes.Repeat([]byte{7}, 16), bytes.Repeat([]byte{9}, 16)
		key, err := pbkdf2.Key(sha256.New, "infected", salt, 1<<power, 32)
		must(t, err)
		check, err := pbkdf2.Key(sha256.New, "infected", salt, 1<<power+32, 32)
		must(t, err)
		var folded [8]byte
		for i, c := range check {
			folded[i&7] ^= c
		}
		total := sha256.Sum256(folded[:])
		record := slices.Concat([]byte{1, 0, 1, byte(power)}, salt, vector, folded[:], total[:4])
		extra = append(binary.AppendUvarint(nil, uint64(len(record))), record...)
		block, err := aes.NewCipher(key)
		must(t, err)
		data = append(bytes.Clone(data), make([]byte, (16-len(data)%16)%16)...)
		cipher.NewCBCEncrypter(block, vector).CryptBlocks(data, data)
	}
	headFlags := uint64(2)
	if len(extra) > 0 {
		headFlags |= 1
	}
	if before {
		headFlags |= 8
	}
	if after {
		headFlags |= 16
	}
	head := binary.AppendUvarint([]byte{2}, headFlags)
	if len(extra) > 0 {
		head = binary.AppendUvarint(head, uint64(len(extra)))
	}
	head = binary.AppendUvarint(head, uint64(len(data)))
	head = append(head, 4) // has a sum
	head = binary.AppendUvarint(head, uint64(len(whole)))
	head = append(head, 0) // attributes
	head = binary.LittleEndian.AppendUint32(head, sum)
	head = append(head, 0, 1, 5) // stored, Unix, length of the name
	head = append(head, "a.txt"...)
	head = append(head, extra...)
	file = append(append(file, rar5Block(head)...), data...)
	end := byte(0)
	if after {
		end = 1
	}
	return append(file, rar5Block([]byte{5, 0, end})...)
}

// rar4 is a RAR of the older version, of one stored file.
func rar4(text string) []byte {
	block := func(kind byte, flags uint16, body []byte) []byte {
		head := append([]byte{kind}, binary.LittleEndian.AppendUint16(nil, flags)...)
		head = binary.LittleEndian.AppendUint16(head, uint16(7+len(body)))
		head = append(head, body...)
		return append(binary.LittleEndian.AppendUint16(nil, uint16(crc32.ChecksumIEEE(head))), head...)
	}
	body := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	body = binary.LittleEndian.AppendUint32(body, uint32(len(text)))
	body = append(body, 3)
	body = binary.LittleEndian.AppendUint32(body, crc32.ChecksumIEEE([]byte(text)))
	body = append(body, 0, 0, 0, 0, 20, '0', 5, 0, 0xa4, 0x81, 0, 0)
	body = append(body, "a.txt"...)
	return slices.Concat(
		[]byte("Rar!\x1a\x07\x00"),
		block(0x73, 0, make([]byte, 6)),
		block(0x74, 0x8000, body),
		[]byte(text),
		block(0x7b, 0x4000, nil),
	)
}

func TestRar(t *testing.T) {
	text := []byte(secret)
	for name, file := range map[string][]byte{
		"4": rar4(secret), "5": rar5Part(t, 0, text, text, false, false, 0), "5 encrypted": rar5Part(t, 0, text, text,
			false, false, 5),
		"5 in a tar": tarred(t, "a.rar", string(rar5Part(t, 0, text, text, false, false, 5))),
	} {
		values, names, report, err := walked(bytes.NewReader(file), Limits{})
		if err != nil || !strings.HasSuffix(names[0], "!a.txt") {
			t.Errorf("%s: %q, %v", name, names, err)
		}
		difftest.Check(t, name+", how many values", len(values), 2)
		want := report
		want.Skipped = 0
		difftest.Check(t, name+", the report", report, want)
	}
}

// TestRarVolumes: a file that goes on in the next volumes is read whole; without the last it is said that one is
// missing.
func TestRarVolumes(t *testing.T) {
	whole := []byte(strings.Repeat(secret, 30))
	var volumes []Volume
	for i := range 3 {
		n := len(whole) / 3
		file := rar5Part(t, i, whole[i*n:][:n], whole, i > 0, i < 2, 0)
		volumes = append(
			volumes,
			Volume{Name: fmt.Sprintf("a.part%d.rar", i+1), At: bytes.NewReader(file), Size: int64(len(file))},
		)
	}
	values, _, report, err := walked(NewSet(volumes), Limits{})
	if err != nil || len(values) != 60 || report.Skipped != 0 {
		t.Errorf("%d values, %+v, %v", len(values), report, err)
	}
	values, _, report, err = walked(NewSet(volumes[:2]), Limits{})
	if err != nil || len(values) < 30 || report.Verdict() != Partly {
		t.Errorf("without the last: %d values, %+v, %v", len(values), report, err)
	}
}

func FuzzRar(f *testing.F) {
	text := []byte(secret)
	f.Add(rar4(secret))
	f.Add(rar5Part(f, 0, text, text, false, false, 0))
	f.Add(rar5Part(f, 0, text, text, false, false, 2))
	f.Fuzz(func(t *testing.T, file []byte) {
		_, _, _, _ = walked(bytes.NewReader(file), Limits{Bytes: 1 << 22})
	})
}
