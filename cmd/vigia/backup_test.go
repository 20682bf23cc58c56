package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestBackupSaysWhatItLacks: on PostgreSQL with a bucket the archive holds the passwords and nothing else. The command
// names what is not in it and what copies that, and a restore warns of each part that it did not bring back.
func TestBackupSaysWhatItLacks(t *testing.T) {
	room := t.TempDir()
	bucket := filepath.Join(room, "bucket")
	if err := os.Mkdir(bucket, 0o700); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(room, "keys.json")
	where := []string{
		"--database",
		storetest.NewAddress(t, sqldb.PostgreSQL, ""),
		"--corpora",
		"file://" + bucket,
		"--key-file",
		keys,
		"--json",
	}
	run := func(data string, args ...string) (stdout, stderr string) {
		t.Helper()
		code, out, errs := vigia(t, append(append(args, "--data", filepath.Join(room, data)), where...)...)
		if code != exitOK {
			t.Fatal(args, code, out, errs)
		}
		return out, errs
	}
	says := func(what, stderr string, words ...string) {
		t.Helper()
		for _, word := range words {
			if !strings.Contains(stderr, word) {
				t.Errorf("%s: standard error does not say %q: %s", what, word, stderr)
			}
		}
	}
	hashes := write(t, filepath.Join(room, "hashes.txt"), strings.Repeat("AB", 20)+":3\n")
	run("data", "passwords", "import", "--algorithm", "sha1", hashes)
	archive := filepath.Join(room, "b.tar.gz")
	out, errs := run("data", "backup", archive)
	says("backup", errs, "pg_dump", bucket)
	if made := decode(
		t,
		out,
	); len(made["not_included"].([]any)) != 2 || len(made["parts"].([]any)) != 1 ||
		made["parts"].([]any)[0] != "passwords" {
		t.Error("the parts:", out)
	}

	_, errs = run("restored", "restore", archive)
	says("restore", errs, "--erasures", "pg_restore", "bucket")
	if strings.Contains(errs, "passwords") {
		t.Error("a restore that brought the passwords warns of them:", errs)
	}
	if out, _ := run("restored", "passwords", "status"); !strings.Contains(out, hashes) {
		t.Error("the passwords were not restored:", out)
	}

	bare := filepath.Join(room, "bare.tar.gz")
	_, errs = run("data", "backup", bare, "--without-corpora")
	says("backup without corpora", errs, filepath.Join(room, "data", "corpora", "password"))
	_, errs = run("barely", "restore", bare)
	says("restore without passwords", errs, "vigia passwords import")
}
