package scan

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Addresses are judged by masks where the processor can, else byte by byte: both ways must find the same.
func TestBothWaysToReadAnAddress(t *testing.T) {
	fast := fastAddress // not on every processor
	defer func() { fastAddress = fast }()
	rnd := rand.New(rand.NewPCG(1, 2))
	bits := []string{
		"a",
		"Z",
		"maria",
		"SILVA",
		"0",
		"9",
		"..",
		".",
		".",
		"-",
		"--",
		"_",
		"+",
		"%",
		"%40",
		"%3D",
		"'",
		"\\n",
		"\\",
		"é",
		"@",
		"@",
		" ",
		"\n",
		":",
		"com",
		"br",
		"png",
		"xn--p1ai",
		"exemplo.com",
		"um.nome.muito.comprido.que.nao.acaba.nunca.mais.e.segue",
		"[",
		"`",
		"{",
		"/",
		"\x00",
		"\xff",
	}
	found := 0
	texts := sized(3_000, 10_000)
	for range texts {
		var text []byte
		for n := rnd.IntN(60); n > 0; n-- {
			if rnd.IntN(4) == 0 {
				text = append(text, " joao.lima7@exemplo.com.br"[rnd.IntN(3):]...)
			}
			text = append(text, bits[rnd.IntN(len(bits))]...)
		}
		var ways [2][]string
		for i := range ways {
			fastAddress = fast && i == 0
			_, _ = NewScanner(func(kind identifier.Kind, normal []byte) { ways[i] = append(ways[i], kind.String()+" "+string(normal)) }).Scan(context.Background(), bytes.NewReader(text))
		}
		if !slices.Equal(ways[0], ways[1]) {
			t.Fatalf("%q\n  by masks: %q\nbyte by byte: %q", text, ways[0], ways[1])
		}
		found += len(ways[0])
	}
	if found < texts {
		t.Errorf("only %d addresses were met", found)
	}
}
