package stored_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// folderOf writes files by name.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(content), 0o600),
		); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestVerdictOfEveryInput: each input is counted as read, read in part or not read, with the reasons; links and pipes
// are listed; what is cut short is told at any size.
func TestVerdictOfEveryInput(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	short := dumptest.GzipText(t, []byte("caio@exemplo.com.br "+strings.Repeat("linha ", 30)))
	folder := folderOf(t, map[string]string{
		"1.txt": "ana@exemplo.com.br",
		"2.gz":  string(short[:len(short)-9]),
		"3.gpg": "-----BEGIN PGP MESSAGE-----\n\nx",
		"4.bin": strings.Repeat("\x01\x02\xff\x00", 200),
	})
	if err := errors.Join(
		os.Symlink("/etc/passwd", filepath.Join(folder, "5")),
		syscall.Mkfifo(filepath.Join(folder, "6"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	inputs, err := intake.ListInputs(context.Background(), nil, []string{folder})
	if err != nil {
		t.Fatal(err)
	}
	b := dumptest.MakeBreach("vereditos", cyber.SourceBreach, cyber.ExposedEmail)
	_, err = v.Importer.ImportBreach(context.Background(), intake.Spec{Breach: b, Inputs: inputs})
	if !errors.Is(err, intake.ErrDoubtful) {
		t.Fatal(err)
	}
	out, err := v.Importer.ImportBreach(context.Background(), intake.Spec{Breach: b, Inputs: inputs, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	tally := out.Tally
	tally.Read, tally.Partly, tally.Unread, tally.Problems = 1, 1, 4, 5
	difftest.Check(t, "the tally", out.Tally, tally)
	difftest.Check(t, "the verdict", out.Tally.ReadVerdict(), "partly read")
	difftest.Check(t, "how many reasons", len(out.Tally.Reasons), 5)
	for _, reason := range []string{
		"cut short", "encrypted with OpenPGP", "a symbolic link: not followed",
		"a named pipe: not read",
	} {
		if tally.Reasons[reason] != 1 {
			t.Errorf("%q: %v", reason, tally.Reasons)
		}
	}
	if tally.Found["email"] != 2 {
		t.Errorf("found %v", tally.Found)
	}
	stored, err := v.Breaches.BreachByName(context.Background(), "vereditos")
	if err != nil || fmt.Sprint(stored.Tally) != fmt.Sprint(tally) {
		t.Errorf("kept %+v, %v", stored.Tally, err)
	}
}

// TestDoubtfulImports: what found nothing is not published and its name stays free; with Force it is.
func TestDoubtfulImports(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		b := dumptest.MakeBreach("vazio", cyber.SourceBreach, cyber.ExposedEmail)
		empty, err := intake.ListInputs(context.Background(), nil, []string{v.File("vazio.txt", "nada\n")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Importer.ImportBreach(context.Background(),
			intake.Spec{Breach: b, Inputs: empty}); !errors.Is(err, intake.ErrDoubtful) {
			t.Fatal(err)
		}
		if _, err := v.Breaches.BreachByName(context.Background(), "vazio"); !errors.Is(err, leak.ErrBreachNotFound) {
			t.Errorf("the name is used up: %v", err)
		}
		out := v.Import(b, v.File("outro.txt", "ana@exemplo.com.br")) // other inputs under the same name
		if out.Tally.Found["email"] != 1 || out.State != leak.Published {
			t.Errorf("%+v", out.Record)
		}
		b.Name = "forcado"
		if out, err := v.Importer.ImportBreach(
			context.Background(),
			intake.Spec{Breach: b, Inputs: empty, Force: true},
		); err != nil ||
			out.State != leak.Published {
			t.Errorf("%+v, %v", out.Record, err)
		}
	})
}

// TestSplitSetsAreOneInput: the volumes of a folder are joined, whatever they are called.
func TestSplitSetsAreOneInput(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	text := []byte(strings.Repeat("linha qualquer\n", 50) + "ana@exemplo.com.br\n")
	whole := string(sevenZipOf(text))
	zip := string(zipOf(t, []byte("bia@exemplo.com.br\n")))
	folder := folderOf(t, map[string]string{
		"a/dump.7z.001":  whole[:300],
		"a/dump.7z.002":  whole[300:500],
		"a/dump.7z.003":  whole[500:],
		"b/dump.z01":     "PK\x07\x08" + zip[:40],
		"b/dump.zip":     zip[40:],
		"c/only.txt.001": "caio@exemplo.com.br",
		"c/only.zip":     string(zipOf(t, []byte("davi@exemplo.com.br"))),
	})
	inputs, err := intake.ListInputs(context.Background(), nil, []string{folder})
	if err != nil || len(inputs) != 4 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	out := v.Import(dumptest.MakeBreach("volumes", cyber.SourceBreach, cyber.ExposedEmail), folder)
	if out.Tally.Found["email"] != 4 || out.Tally.Read != 4 {
		t.Errorf("%+v, %v", out.Tally, out.Skips)
	}
}

// TestNamesAndPasswordsBeside: an archive is opened by the password that was given or by a name beside it, and what
// files are called is scanned too.
func TestNamesAndPasswordsBeside(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	locked, err := os.ReadFile("../../container/testdata/7z/encrypted.7z") // under "senha"
	if err != nil {
		t.Fatal(err)
	}
	folder := folderOf(t, map[string]string{"logs/ana@exemplo.com.br/Passwords.txt": "x", "b.7z": string(locked)})
	out := v.Import(dumptest.MakeBreach("nomes", cyber.SourceStealer, cyber.ExposedEmail), folder)
	keys := v.keysOf(out.Record)
	if missing(keys, []uint64{v.Keys.Fingerprint(byte(identifier.Email), []byte("ana@exemplo.com.br"))}) > 0 {
		t.Error("the name of a file was not scanned")
	}
	if out.Tally.Read != 2 || out.Tally.Found["email"] != 91 {
		t.Errorf("%+v", out.Tally)
	}
}
