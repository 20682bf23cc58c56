package backup_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/backup"
)

// TestEveryFlippedBit: an archive that was damaged is refused, unless what comes out of it is, to the byte, what was
// put in. The second happens: some bits of the compression say nothing (where in a run of zeros a copy begins, for
// one).
func TestEveryFlippedBit(t *testing.T) {
	ctx := context.Background()
	folder := t.TempDir()
	content := append(make([]byte, 3000), "some pages of a database, then more of them, some pages again"...)
	content = append(content, make([]byte, 5000)...)
	source := filepath.Join(folder, "source")
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	file := filepath.Join(folder, "b.tar.gz")
	mac := []byte("stands for the keyed hash")
	var list []byte
	about := backup.About{
		Format:  backup.Format,
		MadeAt:  time.Unix(1800000000, 0).UTC(),
		Program: "test",
		Engine:  "sqlite",
		Parts:   []backup.Part{backup.Database},
	}
	if _, err := backup.WriteArchive(
		ctx,
		file,
		about,
		[]backup.Source{{Name: "vigia.db", File: f}},
		func(l []byte) []byte { list = l; return mac },
		nil,
	); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	verify := func(l, m []byte) bool { return bytes.Equal(l, list) && bytes.Equal(m, mac) }
	refused, harmless := 0, 0
	step := 23 // which meets each of the eight bits of a byte as often
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		step = 1
	}
	for bit := 0; bit < len(whole)*8; bit += step {
		damaged := bytes.Clone(whole)
		damaged[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(filepath.Join(folder, "damaged"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(folder, "to")
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.ExtractArchive(ctx, filepath.Join(folder, "damaged"), to, verify, nil); err != nil {
			refused++
		} else {
			harmless++
			if got, err := os.ReadFile(filepath.Join(to, "vigia.db")); err != nil || !bytes.Equal(got, content) {
				t.Errorf("bit %d: something else came out, %v", bit, err)
			}
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d bytes: %d flipped bits refused, %d made no difference", len(whole), refused, harmless)
	if refused < harmless {
		t.Error("most bits must matter")
	}
}

// TestForgedList: in a forged archive list, files and checksums agree with each other. Only the keyed hash tells.
func TestForgedList(t *testing.T) {
	ctx := context.Background()
	folder := t.TempDir()
	source := filepath.Join(folder, "source")
	if err := os.WriteFile(source, []byte("pages that somebody else has made"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	file := filepath.Join(folder, "b.tar.gz")
	about := backup.About{
		Format:  backup.Format,
		MadeAt:  time.Unix(1800000000, 0).UTC(),
		Program: "test",
		Engine:  "sqlite",
	}
	sign := func(key string) func([]byte) []byte {
		return func(list []byte) []byte {
			mac := hmac.New(sha256.New, []byte(key))
			mac.Write(list)
			return mac.Sum(nil)
		}
	}
	sources := []backup.Source{{Name: "vigia.db", File: f}}
	if _, err := backup.WriteArchive(ctx, file, about, sources, sign("theirs"), nil); err != nil {
		t.Fatal(err)
	}
	extract := func(key string) error {
		verify := func(list, mac []byte) bool { return hmac.Equal(mac, sign(key)(list)) }
		_, err := backup.ExtractArchive(ctx, file, t.TempDir(), verify, nil)
		return err
	}
	if err := extract("theirs"); err != nil {
		t.Error("the archive is not whole:", err)
	}
	if err := extract("ours"); !errors.Is(err, backup.ErrDamaged) {
		t.Error("an archive under another key was taken:", err)
	}
}
