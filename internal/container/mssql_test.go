package container

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/vigiahq/vigia/internal/scan/scantest"
)

// mssqlPageOf is a page of rows as SQL Server keeps them: a number of eight bytes, then columns of changing length.
func mssqlPageOf(kind byte, rows ...[]any) []byte {
	u := binary.LittleEndian
	p := make([]byte, mssqlPage)
	p[0], p[1] = 1, kind
	u.PutUint16(p[22:], uint16(len(rows)))
	u.PutUint32(p[32:], 77)
	at := mssqlPageHead
	for i, row := range rows {
		b := []byte{0x30, 0, 12, 0}
		b = u.AppendUint64(b, row[0].(uint64))
		b = append(u.AppendUint16(b, uint16(len(row))), 0)
		b = u.AppendUint16(b, uint16(len(row)-1))
		end := len(b) + 2*(len(row)-1)
		var data []byte
		for _, c := range row[1:] {
			data = append(data, c.([]byte)...)
			b = u.AppendUint16(b, uint16(end+len(data)))
		}
		b = append(b, data...)
		u.PutUint16(p[mssqlPage-2-2*i:], uint16(at))
		at += copy(p[at:], b)
	}
	u.PutUint16(p[30:], uint16(at))
	return p
}

// twoBytes is a text of two bytes a character.
func twoBytes(s string) (b []byte) {
	for _, c := range s {
		b = binary.LittleEndian.AppendUint16(b, uint16(c))
	}
	return b
}

func mssqlFormats(*testing.T) []subformat {
	r := rand.New(rand.NewPCG(1, 18))
	var narrow, wide, numbers [][]any
	var wantTexts, wantNumbers []string
	for i := range 12 {
		cpf, mail := scantest.CPFWithZeros(r, i%2), fmt.Sprintf("pessoa%d@exemplo.com.br", i)
		wantTexts = append(wantTexts, "cpf "+cpf, "email "+mail)
		narrow = append(narrow, []any{uint64(i), []byte("Ana"), []byte(mail), []byte(cpf), []byte("SP")})
		wide = append(wide, []any{uint64(i), twoBytes("Conceição"), twoBytes(mail), twoBytes(cpf), twoBytes("SP")})
		n, _ := strconv.ParseUint(cpf, 10, 64)
		wantNumbers = append(wantNumbers, "cpf "+cpf)
		numbers = append(numbers, []any{n, []byte("Ana")})
	}
	first := make([]byte, mssqlPage)
	first[0], first[1], first[36] = 1, 15, 1
	tape := append([]byte("TAPE\x00\x00\x03\x00\x8c\x00\x0e\x01"), make([]byte, 1500)...)
	backup := func(p []byte) []byte { return append(append(append([]byte{}, tape...), p...), "SFMB"...) }
	compressed := mssqlPageOf(1, narrow...)
	for i := range 12 {
		compressed[mssqlSlot(compressed, i)] |= 1
	}
	return grouped("Dumps of databases", []subformat{
		{name: "SQL Server backup, texts", file: backup(mssqlPageOf(1, narrow...)), want: wantTexts},
		{name: "SQL Server backup, wide texts", file: backup(mssqlPageOf(1, wide...)), want: wantTexts},
		{name: "SQL Server backup, numbers", file: backup(mssqlPageOf(1, numbers...)), want: wantNumbers},
		{name: "SQL Server data file", file: append(first, mssqlPageOf(1, narrow...)...), want: wantTexts},
		{name: "SQL Server backup, compressed rows", file: backup(compressed), want: wantTexts, lost: "compressed rows"},
		{name: "SQL Server backup, compressed", file: append([]byte("MSSQLBAK\x02\x00\x00\x00"), gzippedNoise()...), want: wantTexts, lost: "compressed"},
	})
}

// gzippedNoise is bytes that say nothing.
func gzippedNoise() []byte {
	b, r := make([]byte, 2000), rand.New(rand.NewPCG(2, 2))
	for i := range b {
		b[i] = byte(r.IntN(32))
	}
	return b
}
