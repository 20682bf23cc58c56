package seal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// refuses checks that the file does not open, for the right reason, with a message that names it and quotes nothing of
// it.
func refuses(t *testing.T, path string, want error) {
	t.Helper()
	root, err := OpenRoot(path)
	if root != nil || !errors.Is(err, want) {
		t.Fatalf("Open: %v, want %v", err, want)
	}
	if !strings.Contains(err.Error(), path) {
		t.Errorf("the message does not name the file: %v", err)
	}
	assertNoSecret(t, err.Error())
	if _, err := OpenOrCreateRoot(path); !errors.Is(err, want) && !errors.Is(want, ErrNoKeyFile) {
		t.Errorf("OpenOrCreateRoot: %v, want %v", err, want)
	}
}

func TestOpenRefusesModesOpenToOthers(t *testing.T) {
	path := writeGolden(t)
	for mode := range os.FileMode(0o1000) {
		if mode&0o400 == 0 {
			continue // unreadable to its owner unless that is root
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if mode&0o077 == 0 {
			if _, err := OpenRoot(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		refuses(t, path, ErrKeyFileUnsafe)
	}
}

func TestOpenRefusesAnotherOwner(t *testing.T) {
	path := writeGolden(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkFile(path, info, os.Geteuid()); err != nil {
		t.Errorf("our own file: %v", err)
	}
	if err := checkFile(
		path,
		info,
		os.Geteuid()+1,
	); !errors.Is(err, ErrKeyFileUnsafe) ||
		!strings.Contains(err.Error(), "user") {
		t.Errorf("somebody else's file: %v", err)
	}
	if os.Geteuid() == 0 { // only root can give a file away, and it is the one user whom modes do not stop
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		refuses(t, path, ErrKeyFileUnsafe)
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	for name, make := range map[string]func(path, target string) error{
		"symbolic link": func(path, target string) error { return os.Symlink(target, path) },
		"dangling link": func(path, _ string) error { return os.Symlink("nowhere", path) },
		"directory":     func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"named pipe":    func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys.json")
			if err := make(path, writeGolden(t)); err != nil {
				t.Fatal(err)
			}
			refuses(t, path, ErrKeyFileUnsafe)
			if _, err := CreateRootFile(path); !errors.Is(err, ErrKeyFileExists) {
				t.Errorf("Create: %v", err)
			}
		})
	}
}

func TestOpenRefusesContent(t *testing.T) {
	const key = "gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlZaXmJmam5ydnp8="
	replace := func(old, now string) string {
		if !strings.Contains(goldenRoot, old) {
			t.Fatalf("the golden file has no %q", old)
		}
		return strings.Replace(goldenRoot, old, now, 1)
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"empty":              {"", ErrKeyFileMalformed},
		"blank":              {"\n\n", ErrKeyFileMalformed},
		"garbage":            {"\x00\xff\x13garbage", ErrKeyFileMalformed},
		"null":               {"null", ErrKeyFileVersion},
		"array":              {"[1]", ErrKeyFileMalformed},
		"text version":       {replace(`"version": 2`, `"version": "2"`), ErrKeyFileMalformed},
		"future version":     {replace(`"version": 2`, `"version": 3`), ErrKeyFileVersion},
		"future, new member": {replace(`"version": 2`, `"version": 9, "new": {}`), ErrKeyFileVersion},
		"version zero":       {replace(`"version": 2`, `"version": 0`), ErrKeyFileVersion},
		"no version":         {replace(`"version": 2,`, ``), ErrKeyFileVersion},
		"another kind":       {replace(`root key`, `recovery key`), ErrKeyFileMalformed},
		"no kind":            {replace(`"kind": "vigia root key",`, ``), ErrKeyFileMalformed},
		"unknown member":     {replace(`"note"`, `"extra"`), ErrKeyFileMalformed},
		"member twice":       {replace(`"note": "made up for a test"`, `"version": 2`), ErrKeyFileMalformed},
		"trailing data":      {goldenRoot + "{}", ErrKeyFileMalformed},
		"no key":             {`{"version":2,"kind":"vigia root key"}`, ErrKeyFileMalformed},
		"short key":          {replace(key, `AAECAw==`), ErrKeyFileMalformed},
		"key of zeros":       {replace(key, strings.Repeat("A", 43)+"="), ErrKeyFileMalformed},
		"bad base64":         {replace(key, strings.Replace(key, "=", "!", 1)), ErrKeyFileMalformed},
		"key as a name":      {replace(`"key": "`+key+`"`, `"`+key+`": 1`), ErrKeyFileMalformed},
		"a ring":             {golden, ErrKeyFileVersion},
		"too large":          {strings.Repeat(" ", maxFileSize) + goldenRoot, ErrKeyFileMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys.json")
			writeFile(t, path, []byte(c.text))
			refuses(t, path, c.want)
		})
	}
}

// TestRingRefusesContent: secrets that no program of ours can have written are refused, without a word of them.
func TestRingRefusesContent(t *testing.T) {
	const disabled = `{"keyData": {"typeUrl": "type.googleapis.com/google.crypto.tink.XChaCha20Poly1305Key",
	"value": "GiCAgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2enw==", "keyMaterialType": "SYMMETRIC"},
	"status": "DISABLED", "keyId": 7, "outputPrefixType": "TINK"}`
	replace := func(old, now string) string {
		if !strings.Contains(golden, old) {
			t.Fatalf("the golden ring has no %q", old)
		}
		return strings.Replace(golden, old, now, 1)
	}
	for name, text := range map[string]string{
		"no index secret":  replace(`"index"`, `"mac2"`),
		"short secret":     replace(`AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=`, `AAECAw==`),
		"secret of zeros":  replace(`AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=`, strings.Repeat("A", 43)+"="),
		"secret version 2": replace(`"mac": {"version": 1`, `"mac": {"version": 2`),
		"no primary":       replace(`"primaryKeyId": 439041101`, `"primaryKeyId": 7`),
		"raw prefix":       replace(`TINK"`, `RAW"`),
		"disabled primary": replace(`ENABLED`, `DISABLED`),
		"disabled old key": replace(`"key": [`, `"key": [`+disabled+`, `),
		"other primitive":  replace(`XChaCha20Poly1305Key`, `AesGcmKey`),
		"cut AEAD key":     replace(`GiBgYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+fw==`, `GgRgYWJj`),
		"closed primary":   replace(`"index"`, `"closed": [439041101], "index"`),
		"key id twice": replace(`"key": [`, `"key": [`+strings.NewReplacer(
			": 7", ": 439041101", "DISABLED", "ENABLED").Replace(disabled)+`, `),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := decodeMaterial([]byte(text))
			if err == nil {
				_, err = m.buildRing()
			}
			if err == nil {
				t.Fatal("it passes for a ring")
			}
			assertNoSecret(t, err.Error())
		})
	}
}

func TestOpenRefusesEveryTruncation(t *testing.T) {
	whole := strings.TrimSpace(goldenRoot)
	for n := range len(whole) {
		if _, err := decodeFile("keys.json", []byte(whole[:n])); err == nil {
			t.Fatalf("%d of %d bytes pass for a key file", n, len(whole))
		}
	}
}

func TestOpenMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	refuses(t, path, ErrNoKeyFile) // its OpenOrCreate has made one
	if _, err := OpenRoot(path); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateRootFile(filepath.Join(t.TempDir(), "absent", "keys.json")); !errors.Is(err, ErrKeyFileIO) {
		t.Errorf("Create in a folder that is not there: %v", err)
	}
}

func TestCreateUnderAnyUmask(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077, 0o777} {
		dir := t.TempDir()
		was := syscall.Umask(mask)
		root, err := CreateRootFile(filepath.Join(dir, "keys.json"))
		syscall.Umask(was)
		if err != nil {
			t.Fatalf("umask %04o: %v", mask, err)
		}
		if info, err := os.Stat(root.Place()); err != nil || info.Mode() != 0o600 {
			t.Errorf("umask %04o: created with mode %v (%v)", mask, info.Mode(), err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != 0o600 {
				t.Errorf("umask %04o: %s has mode %v", mask, e.Name(), info.Mode())
			}
		}
		if len(entries) != 2 { // the file and its lock: no temporary file stays
			t.Errorf("umask %04o: %v", mask, entries)
		}
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	path := writeGolden(t)
	if _, err := CreateRootFile(path); !errors.Is(err, ErrKeyFileExists) || !strings.Contains(err.Error(), path) {
		t.Errorf("Create over a key file: %v", err)
	}
	now, err := os.ReadFile(path)
	if err != nil || string(now) != goldenRoot {
		t.Errorf("the file was touched: %v", err)
	}
}

func TestTwoInstallationsShareNothing(t *testing.T) {
	a, b := fresh(t), fresh(t)
	ma, _, err := a.openMaterial(storeOf(a).ring)
	if err != nil {
		t.Fatal(err)
	}
	mb, _, err := b.openMaterial(storeOf(b).ring)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, s := range []secret{ma.Index, ma.Match, ma.MAC, mb.Index, mb.Match, mb.MAC} {
		seen[string(s.Key)] = true
	}
	if len(seen) != 6 {
		t.Errorf("only %d of 6 secrets differ", len(seen))
	}
	if a.Installation() == b.Installation() || a.root.ID() == b.root.ID() {
		t.Error("two installations have one name")
	}
	if _, err := b.Unseal(home, mustSeal(t, a, home, "x")); !errors.Is(err, ErrSealBroken) {
		t.Errorf("another installation opens it: %v", err)
	}
}

func TestManyProcessesCreateOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	var wg sync.WaitGroup
	ids := make([]string, 16)
	for i := range ids {
		wg.Go(func() {
			root, err := OpenOrCreateRoot(path)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = root.ID()
		})
	}
	wg.Wait()
	if len(slices.Compact(ids)) != 1 {
		t.Errorf("they hold different roots: %s", ids)
	}
}
