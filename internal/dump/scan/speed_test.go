package scan

import (
	"bytes"
	"context"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// BenchmarkRecorder is the part of an import that reads, of each kind of dump.
func BenchmarkRecorder(b *testing.B) {
	const size = 8 << 20
	format := func(name string) func() []byte {
		return func() (text []byte) {
			for _, f := range Formats {
				for seed := uint64(0); f.Name == name && len(text) < size; seed++ {
					text = append(text, f.Write(seed, 4000).Text...)
				}
			}
			return text
		}
	}
	nobody := func(identifier.Kind, []byte, bool) {}
	for _, dump := range []struct {
		name string
		make func() []byte
	}{
		{"combo", format("combo list")},
		{"csv", format("comma")},
		{"sql", format("mysqldump")},
		{"json", format("json lines")},
		{"sparse", func() []byte { return NewSparse(7, nobody).Append(nil, size) }},
		{"mixed", func() []byte { return NewDense(7, nobody).Append(nil, size) }},
	} {
		b.Run(dump.name, func(b *testing.B) {
			text, count := dump.make(), 0
			r := NewRecorder(func(*record.Sighting) { count++ })
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := r.Scan(context.Background(), bytes.NewReader(text), "dump"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
