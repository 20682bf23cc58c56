package seal

import (
	"fmt"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
)

var benchPlace = Place{
	"subscription",
	"beneficiary",
	"0199b2f0-5f1a-7c3e-8a51-0242ac120002",
	"0199b2f0-5f1a-7c3e-8a51-0242ac120003",
}

func BenchmarkSeal(b *testing.B) {
	k := fresh(b)
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
	k := fresh(b)
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
	k := fresh(b)
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
	k := fresh(b)
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

func BenchmarkMAC(b *testing.B) {
	k := fresh(b)
	data := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		k.MAC("audit", data, data[:32])
	}
}

// BenchmarkAEADChoice compares the AEADs tink offers for very many messages, and AES-GCM as a yardstick. The choice in
// docs/internal/design/0002-keys.md rests on it.
func BenchmarkAEADChoice(b *testing.B) {
	ad := benchPlace.encodePlace()
	for _, c := range []struct {
		name     string
		template *tinkpb.KeyTemplate
	}{
		{"XChaCha20-Poly1305", aead.XChaCha20Poly1305KeyTemplate()},
		{"XAES-256-GCM", aead.XAES256GCM192BitNonceKeyTemplate()},
		{"AES-256-GCM-SIV", aead.AES256GCMSIVKeyTemplate()},
		{"AES-256-GCM", aead.AES256GCMKeyTemplate()},
	} {
		h, err := keyset.NewHandle(c.template)
		if err != nil {
			b.Fatal(err)
		}
		a, err := aead.New(h)
		if err != nil {
			b.Fatal(err)
		}
		for _, size := range []int{50, 600} {
			plain := make([]byte, size)
			sealed, err := a.Encrypt(plain, ad)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/seal %d", c.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = a.Encrypt(plain, ad)
				}
				b.ReportMetric(float64(len(sealed)-size), "overhead-bytes")
			})
			b.Run(fmt.Sprintf("%s/open %d", c.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = a.Decrypt(sealed, ad)
				}
			})
		}
	}
}
