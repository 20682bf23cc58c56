package segment

import (
	"context"
	"path/filepath"
	"testing"
)

// The same keys give the same file, whatever becomes of the writer: these digests are of files that its first version
// wrote.
var goldenDigests = map[Width]map[string]string{
	Bits40: {
		"clustered": "3f8a0c73d92271313ac109d3d12e36c22619827309dc1bd66fc25531afdd96ba",
		"dense":     "9504636daecc610dcda106e4501ec9c2c0fdd067c31067b611b81077167f39f6",
		"empty":     "3e2ff45ed8c561cff3c17c5d21afcef8a4436d57b6539b7c17ff9b36a09efda7",
		"many":      "d39e75ad2fdc2aab6ac76289110831d4d2b2b8934657312103a2acdfffad1b34",
		"powers":    "a17cc1446de17f1135b53e3051b39fe9c28babc4008c4b284c31a6fd7f738eb5",
		"uniform":   "3481c23b747e0b6324246c6d6a04b649da4f60376480fd9450610b92c06ef8e5",
	},
	Bits64: {
		"clustered": "bd92ec20da0dc16d3719ba14310cdb05840b43d9863bc18b7507758d328cff8b",
		"dense":     "cf71eeadf730ccef457c9ab95e74a9118549808f2f4f8d298ae45d97b69cb50a",
		"empty":     "d15dc0e40046e211ac8d87a147dabdc652a5fbcb703a1f1700d6125b0a0eeddb",
		"many":      "9ee90bb0bae1695ac025cf00001dbdac04e154785f37d38f0f91bfd7e34dc096",
		"powers":    "5321b632cd58c72790512edb0d485e70291e198f7b0ff0e7e557bd8467a5e7c1",
		"uniform":   "d1d559fee6801f13c2ee19a412cedcbb4df19d7915f2ce6ec651dc7fbe057c7d",
	},
}

// TestGoldenDigests: files of the first writer, byte for byte, with any memory.
func TestGoldenDigests(t *testing.T) {
	for width, golden := range goldenDigests {
		keys := sets(width)
		keys["many"] = uniform(5, 1_500_000, width)
		for name, want := range golden {
			for _, memory := range []int{leastMemory, 8 << 20, 0} {
				w, err := CreateSegment(filepath.Join(t.TempDir(), "x.seg"), Options{Width: width, Memory: memory})
				if err != nil {
					t.Fatal(err)
				}
				if err := w.AddKeys(keys[name]); err != nil {
					t.Fatal(err)
				}
				sum, err := w.Commit(context.Background())
				if err != nil || sum.Digest.String() != want {
					t.Errorf("%d/%s with memory %d: %s, %v", width, name, memory, sum.Digest, err)
				}
			}
		}
	}
}
