package seal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// refuses checks that the file does not open, for the right reason, with a message that names it and quotes nothing of
// it.
func refuses(t *testing.T, path string, want error) {
	t.Helper()
	k, err := OpenKeyFile(path)
	if k != nil || !errors.Is(err, want) {
		t.Fatalf("Open: %v, want %v", err, want)
	}
	if !strings.Contains(err.Error(), path) {
		t.Errorf("the message does not name the file: %v", err)
	}
	assertNoSecret(t, err.Error())
	if _, err := OpenOrCreate(path); !errors.Is(err, want) && !errors.Is(want, ErrNoKeyFile) {
		t.Errorf("OpenOrCreate: %v, want %v", err, want)
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
			reopen(t, path)
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
			if _, err := CreateKeyFile(path); !errors.Is(err, ErrKeyFileExists) {
				t.Errorf("Create: %v", err)
			}
		})
	}
}

const disabledKey = `{"keyData": {"typeUrl": "type.googleapis.com/google.crypto.tink.XChaCha20Poly1305Key",
	"value": "GiCAgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2enw==", "keyMaterialType": "SYMMETRIC"},
	"status": "DISABLED", "keyId": 7, "outputPrefixType": "TINK"}`

func TestOpenRefusesContent(t *testing.T) {
	replace := func(old, now string) string {
		if !strings.Contains(golden, old) {
			t.Fatalf("the golden file has no %q", old)
		}
		return strings.Replace(golden, old, now, 1)
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
		"text version":       {replace(`"version": 1`, `"version": "1"`), ErrKeyFileMalformed},
		"future version":     {replace(`"version": 1`, `"version": 2`), ErrKeyFileVersion},
		"future, new member": {replace(`"version": 1`, `"version": 9, "new": {}`), ErrKeyFileVersion},
		"version zero":       {replace(`"version": 1`, `"version": 0`), ErrKeyFileVersion},
		"no version":         {replace(`"version": 1,`, ``), ErrKeyFileVersion},
		"unknown member":     {replace(`"note"`, `"extra"`), ErrKeyFileMalformed},
		"member twice":       {replace(`"note": "made up for a test"`, `"version": 1`), ErrKeyFileMalformed},
		"trailing data":      {golden + "{}", ErrKeyFileMalformed},
		"no keys":            {`{"version":1}`, ErrKeyFileMalformed},
		"kms beside keys":    {replace(`"note": "made up for a test"`, `"kms_uri": "memkms://a"`), ErrKeyFileMalformed},
		"wrapped, no kms":    {`{"version":1,"wrapped":"AAAA"}`, ErrKeyFileMalformed},
		"no index secret":    {replace(`"index"`, `"mac2"`), ErrKeyFileMalformed},
		"short secret":       {replace(`AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=`, `AAECAw==`), ErrKeyFileMalformed},
		"secret of zeros":    {replace(`AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=`, strings.Repeat("A", 43)+"="), ErrKeyFileMalformed},
		"bad base64":         {replace(`ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=`, `ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8!`), ErrKeyFileMalformed},
		"secret version 2":   {replace(`"mac": {"version": 1`, `"mac": {"version": 2`), ErrKeyFileMalformed},
		"no primary":         {replace(`"primaryKeyId": 439041101`, `"primaryKeyId": 7`), ErrKeyFileMalformed},
		"raw prefix":         {replace(`TINK"`, `RAW"`), ErrKeyFileMalformed},
		"disabled primary":   {replace(`ENABLED`, `DISABLED`), ErrKeyFileMalformed},
		"disabled old key":   {replace(`"key": [`, `"key": [`+disabledKey+`, `), ErrKeyFileMalformed},
		"key id twice":       {replace(`"key": [`, `"key": [`+strings.NewReplacer(": 7", ": 439041101", "DISABLED", "ENABLED").Replace(disabledKey)+`, `), ErrKeyFileMalformed},
		"secret as a name":   {replace(`"key": "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="`, `"ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=": 1`), ErrKeyFileMalformed},
		"other primitive":    {replace(`XChaCha20Poly1305Key`, `AesGcmKey`), ErrKeyFileMalformed},
		"cut AEAD key":       {replace(`GiBgYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+fw==`, `GgRgYWJj`), ErrKeyFileMalformed},
		"empty keyset": {replace(golden[strings.Index(golden, `{"primary`):strings.Index(golden, `,
    "index"`)], `{}`), ErrKeyFileMalformed},
		"too large": {strings.Repeat(" ", maxFileSize) + golden, ErrKeyFileMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			refuses(t, path, c.want)
		})
	}
}

func TestOpenRefusesEveryTruncation(t *testing.T) {
	whole := strings.TrimSpace(golden)
	for n := range len(whole) {
		if _, _, err := decodeFile("keys.json", []byte(whole[:n])); err == nil {
			t.Fatalf("%d of %d bytes pass for a key file", n, len(whole))
		}
	}
}

func TestOpenMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	refuses(t, path, ErrNoKeyFile) // its OpenOrCreate has made one
	reopen(t, path)
	if _, err := CreateKeyFile(filepath.Join(t.TempDir(), "absent", "keys.json")); !errors.Is(err, ErrKeyFileIO) {
		t.Errorf("Create in a folder that is not there: %v", err)
	}
}

func TestCreateUnderAnyUmask(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077, 0o777} {
		dir := t.TempDir()
		was := syscall.Umask(mask)
		k, err := CreateKeyFile(filepath.Join(dir, "keys.json"))
		syscall.Umask(was)
		if err != nil {
			t.Fatalf("umask %04o: %v", mask, err)
		}
		if info, err := os.Stat(k.Path()); err != nil || info.Mode() != 0o600 {
			t.Errorf("umask %04o: created with mode %v (%v)", mask, info.Mode(), err)
		}
		mustRotate(t, k)
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
	if _, err := CreateKeyFile(path); !errors.Is(err, ErrKeyFileExists) || !strings.Contains(err.Error(), path) {
		t.Errorf("Create over a key file: %v", err)
	}
	now, err := os.ReadFile(path)
	if err != nil || string(now) != golden {
		t.Errorf("the file was touched: %v", err)
	}
}

func TestTwoInstallationsShareNothing(t *testing.T) {
	a, b := fresh(t), fresh(t)
	ma, _, _, err := a.readFile()
	if err != nil {
		t.Fatal(err)
	}
	mb, _, _, err := b.readFile()
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
	if _, err := b.Unseal(home, mustSeal(t, a, home, "x")); !errors.Is(err, ErrSealBroken) {
		t.Errorf("another installation opens it: %v", err)
	}
}
