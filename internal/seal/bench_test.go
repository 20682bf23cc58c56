package seal

import (
	"fmt"
	"path/filepath"
	"testing"
)

func benchKeys(b *testing.B) *Keys {
	b.Helper()
	k, err := Create(filepath.Join(b.TempDir(), "keys.json"))
	if err != nil {
		b.Fatal(err)
	}
	return k
}

var benchPlace = Place{"subscription", "beneficiary", "0199b2f0-5f1a-7c3e-8a51-0242ac120002", "0199b2f0-5f1a-7c3e-8a51-0242ac120003"}

func BenchmarkSeal(b *testing.B) {
	k := benchKeys(b)
	for _, size := range []int{50, 600, 4096} {
		plain := make([]byte, size)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := k.Seal(benchPlace, plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnseal(b *testing.B) {
	k := benchKeys(b)
	for _, size := range []int{50, 600, 4096} {
		sealed, err := k.Seal(benchPlace, make([]byte, size))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := k.Unseal(benchPlace, sealed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBlindIndex(b *testing.B) {
	k := benchKeys(b)
	value := []byte("52998224725")
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.BlindIndex("cpf", benchPlace.Partner, value)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				k.BlindIndex("cpf", benchPlace.Partner, value)
			}
		})
	})
}

func BenchmarkFingerprint(b *testing.B) {
	k := benchKeys(b)
	for _, value := range []string{"52998224725", "maria.silva@exemplo.com.br", "um.endereco.bem.comprido.de.teste@servidor.exemplo.com.br"} {
		v := []byte(value)
		b.Run(fmt.Sprint(len(v)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				k.Fingerprint('e', v)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		v := []byte("maria.silva@exemplo.com.br")
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				k.Fingerprint('e', v)
			}
		})
	})
}

func BenchmarkReloadUnchanged(b *testing.B) {
	k := benchKeys(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Reload(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMAC(b *testing.B) {
	k := benchKeys(b)
	data := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		k.MAC("audit", data, data[:32])
	}
}
