package container

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestStringsInBinary: texts of one and two bytes a character come out of a binary, each as a line, however it is cut.
func TestStringsInBinary(t *testing.T) {
	wide := func(text string) (b []byte) {
		for _, c := range []byte(text) {
			b = append(b, c, 0)
		}
		return b
	}
	binary := bytes.Join([][]byte{
		[]byte("\x01\x02maria@exemplo.com\x00\x05curto\x00"),
		wide("joao@exemplo.com.br"),
		[]byte("\x01\x01"),
		wide("curto"),
		[]byte("\xffnarrow again\x00\x00"),
		[]byte("the end"),
	}, []byte{3})
	want := "maria@exemplo.com\njoao@exemplo.com.br\n\xffnarrow again\nthe end\n"
	for name, in := range map[string]io.Reader{
		"whole":        bytes.NewReader(binary),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(binary)),
	} {
		got, err := io.ReadAll(&textReader{next: (&binaryStrings{in: in}).nextStrings})
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	long := strings.Repeat("x", longestString+10)
	if got, err := io.ReadAll(
		&textReader{next: (&binaryStrings{in: strings.NewReader(long)}).nextStrings},
	); err != nil ||
		len(got) != len(long)+2 {
		t.Errorf("%d bytes of %d: %v", len(got), len(long), err)
	}
}
