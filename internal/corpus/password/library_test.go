package password

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

var ctx = context.Background()

func someday() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func newLibrary(t testing.TB) *Library {
	t.Helper()
	l, err := OpenLibrary(t.TempDir(), someday)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func newChecker(t testing.TB, l *Library) *Checker {
	t.Helper()
	c, err := NewChecker(l, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func text(name, content string) Input {
	return Input{Name: name, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func sha1Hex(password string) string {
	sum := sha1.Sum([]byte(password))
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

func mustImport(t testing.TB, l *Library, a Algorithm, inputs ...Input) Corpus {
	t.Helper()
	c, err := l.ImportCorpus(ctx, Import{Algorithm: a, Inputs: inputs, Source: "test", Force: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// expect fails unless the checker says want about the prefix of hash.
func expect(t testing.TB, c *Checker, hash string, want Exposure) {
	t.Helper()
	got, err := c.CheckPrefix(hash[:PrefixDigits], true)
	if err != nil || got.Exposure != want {
		t.Errorf("%s: %v, %v; want %v", hash, got, err, want)
	}
}

func TestImportAndCheck(t *testing.T) {
	l := newLibrary(t)
	c := newChecker(t, l)
	if _, err := c.CheckPrefix(
		"5BAA61E4C9",
		true,
	); !errors.Is(err, ErrNoCorpus) ||
		fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a corpus: %v", err)
	}
	got := mustImport(
		t,
		l,
		SHA1,
		text("a.txt", sha1Hex("often")+":1000\r\n"+sha1Hex("seldom")+":999\n"+sha1Hex("plain")),
	)
	if got.Entries != 3 || got.Widely != 1 || got.Source != "test" || !got.Imported.Equal(someday()) || got.Bytes == 0 {
		t.Errorf("corpus %+v", got)
	}
	if err := c.ReloadCorpora(); err != nil {
		t.Fatal(err)
	}
	expect(t, c, sha1Hex("often"), WidelyExposed)
	expect(t, c, strings.ToLower(sha1Hex("seldom")), Exposed)
	expect(t, c, sha1Hex("plain"), Exposed)
	expect(t, c, sha1Hex("nobody has this"), NotKnown)
	mustImport(t, l, NTLM, text("n.txt", "8846F7EAEE8FB117AD06BDD830B7586C:5000\n"))
	if err := c.ReloadCorpora(); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "8846F7EAEE", WidelyExposed)
	expect(t, c, sha1Hex("plain"), Exposed)
	if err := errors.Join(c.CheckHealth(), l.VerifyFiles(ctx)); err != nil {
		t.Error(err)
	}
}

func TestCheckRefusesWhatIsNoPrefix(t *testing.T) {
	c := newChecker(t, newLibrary(t))
	for _, prefix := range []string{
		"", "5BAA61E4C", "5BAA61E4C99", "5BAA61E4CG", "5BAA 1E4C9", "５BAA61E4",
		"5BAA61E4C\x00",
	} {
		_, err := c.CheckPrefix(prefix, true)
		if !errors.Is(err, ErrPrefix) || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", prefix, err)
		}
		if prefix != "" && err != nil && strings.Contains(err.Error(), prefix) {
			t.Errorf("the error repeats the prefix: %v", err)
		}
	}
}

func TestImportUnpacks(t *testing.T) {
	content := sha1Hex("a") + ":1\n" + sha1Hex("b") + ":2\n"
	var gz, zst, xzed bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, errZ := zstd.NewWriter(&zst)
	x, errX := xz.NewWriter(&xzed)
	if err := errors.Join(errZ, errX); err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z, x} {
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l := newLibrary(t)
	for name, packed := range map[string]string{
		"h.txt.gz": gz.String(), "h.zst": zst.String(), "H.XZ": xzed.String(),
		"h": content, "bom.txt": "\xef\xbb\xbf" + content,
	} {
		if got := mustImport(t, l, SHA1, text(name, packed)); got.Entries != 2 {
			t.Errorf("%s: %d entries", name, got.Entries)
		}
		if name == "h" || name == "bom.txt" {
			continue
		}
		_, err := l.ImportCorpus(ctx, Import{Algorithm: SHA1, Inputs: []Input{text(name, packed[:len(packed)-6])}})
		if err == nil {
			t.Errorf("%s: a cut file was imported", name)
		}
	}
}

func TestImportFolderOfRanges(t *testing.T) {
	for _, a := range Algorithms {
		dir := t.TempDir()
		rest := strings.Repeat("0", a.hexDigits()-10)
		for name, lines := range map[string]string{
			"00000": "00000" + rest + ":3\r\n00001" + rest + ":1000",
			"5BAA6": "1E4C9" + rest + ":9\n",
			"FFFFF": "FFFFF" + rest + "\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(lines), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		inputs, err := ListInputs(dir)
		if err != nil {
			t.Fatal(err)
		}
		l := newLibrary(t)
		mustImport(t, l, a, inputs...)
		c := newChecker(t, l)
		expect(t, c, "0000000000", Exposed)
		expect(t, c, "0000000001", WidelyExposed)
		expect(t, c, "5baa61e4c9", Exposed)
		expect(t, c, "FFFFFFFFFF", Exposed)
		expect(t, c, "5baa61e4ca", NotKnown)
	}
}

func TestBadLineRefusesImportAndOldCorpusStays(t *testing.T) {
	l := newLibrary(t)
	mustImport(t, l, SHA1, text("good.txt", sha1Hex("old")+"\n"))
	many := strings.Repeat(sha1Hex("x")+":1\n", 60_000) // the bad line comes after several buffers
	_, err := l.ImportCorpus(
		ctx,
		Import{
			Algorithm: SHA1,
			Inputs:    []Input{text("first.txt", sha1Hex("new")), text("dir/second.txt", many+"oops\n")},
		},
	)
	if !errors.Is(err, ErrLine) || !strings.Contains(err.Error(), "dir/second.txt: line 60001:") {
		t.Errorf("error %v", err)
	}
	c := newChecker(t, l)
	expect(t, c, sha1Hex("old"), Exposed)
	expect(t, c, sha1Hex("new"), NotKnown)
	for name, in := range map[string]Input{
		"nothing":       text("empty.txt", ""),
		"only padding":  text("pad.txt", sha1Hex("x")+":0\n"),
		"endless line":  text("long.txt", strings.Repeat("A", readSize+1)),
		"range unnamed": text("not-a-range.txt", sha1Hex("x")[5:]+":1\n"),
		"ntlm":          text("ntlm.txt", sha1Hex("x")[:32]+":1\n"),
	} {
		if _, err := l.ImportCorpus(ctx, Import{
			Algorithm: SHA1,
			Inputs:    []Input{in},
		}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	files, err := os.ReadDir(l.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if got := strings.Join(names, " "); got != "lock manifest.json sha1-1-widely.seg sha1-1.seg" {
		t.Errorf("files %s", got)
	}
}

func TestImportStopsWithContext(t *testing.T) {
	l := newLibrary(t)
	stop, cancel := context.WithCancel(ctx)
	in := text("x.txt", strings.Repeat(sha1Hex("x")+"\n", 200_000))
	_, err := l.ImportCorpus(stop, Import{Algorithm: SHA1, Inputs: []Input{in}, Progress: func(Progress) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestOneImportAtATime(t *testing.T) {
	l := newLibrary(t)
	var inner error
	_, err := l.ImportCorpus(
		ctx,
		Import{Algorithm: SHA1, Inputs: []Input{text("x", sha1Hex("x"))}, Progress: func(Progress) {
			_, inner = l.ImportCorpus(ctx, Import{Algorithm: NTLM, Inputs: []Input{text("x", "")}})
		}},
	)
	if err != nil || !errors.Is(inner, ErrBusy) {
		t.Errorf("outer %v, inner %v", err, inner)
	}
}

func TestDefaultCorpus(t *testing.T) {
	l := newLibrary(t)
	mustImport(t, l, NTLM, text("n.txt", "00000000000000000000000000000000:1\n"))
	for range 2 {
		if err := l.EnsureDefault(ctx); err != nil {
			t.Fatal(err)
		}
	}
	status, err := l.ReadStatus()
	if err != nil || len(status) != 2 || status[0].Source != SourceDefault || status[1].Source != "test" {
		t.Fatalf("status %+v, %v", status, err)
	}
	if status[0].Entries < 7000 {
		t.Errorf("only %d entries", status[0].Entries)
	}
	c := newChecker(t, l)
	for _, p := range []string{"password", "123456", "senha123"} {
		expect(t, c, sha1Hex(p), WidelyExposed)
	}
	mustImport(t, l, SHA1, text("real.txt", sha1Hex("real")))
	if err := c.ReloadCorpora(); err != nil {
		t.Fatal(err)
	}
	expect(t, c, sha1Hex("senha123"), NotKnown)
}

// The vectors of the contract.
func TestDefaultCorpusKeys(t *testing.T) {
	for _, v := range []struct {
		a        Algorithm
		password string
		want     uint64
	}{
		{SHA1, "password", 0x5BAA61E4C9},
		{NTLM, "password", 0x8846F7EAEE},
		{SHA1, "123456", 0x7C4A8D09CA},
		{SHA1, "senha123", 0x3DECD49A6C},
	} {
		if got := keyOfPassword(v.a, v.password); got != v.want {
			t.Errorf("%v %s: %010X, want %010X", v.a, v.password, got, v.want)
		}
	}
}

func TestForeignManifestIsRefused(t *testing.T) {
	for _, content := range []string{
		"",
		"null",
		"[]",
		`{"version":2}`,
		`{"version":1,"corpora":{"md5":{"file":"sha1-1.seg","widely_exposed_file":"sha1-1-widely.seg"}}}`,
		`{"version":1,"corpora":{"sha1":{"file":"../../etc/passwd","widely_exposed_file":"sha1-1-widely.seg"}}}`,
		`{"version":1,"corpora":{"sha1":{}}}`, strings.Repeat(" ", maxManifest+1),
	} {
		if _, err := parseManifest([]byte(content)); !errors.Is(err, ErrManifest) {
			t.Errorf("%.60q: %v", content, err)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"version":1,"corpora":{"sha1":{"file":"sha1-1.seg","widely_exposed_file":"sha1-1-widely.seg"}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := parseManifest(content)
		for name, e := range m.Corpora {
			if err == nil && (strings.Contains(e.File+e.WideFile+e.TagFile, "/") || e.File == "") {
				t.Fatalf("%s leads to %q", name, e.File)
			}
		}
	})
}

// TestSmallerCorpusNeedsForce: the wrong file does not take the place of a corpus that is in force.
func TestSmallerCorpusNeedsForce(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	bring := func(force bool, lines ...string) error {
		_, err := l.ImportCorpus(ctx, Import{
			Algorithm: SHA1,
			Inputs:    []Input{text("x", strings.Join(lines, ""))},
			Source:    "test",
			Force:     force,
		})
		return err
	}
	entries := func() uint64 {
		t.Helper()
		found, err := l.ReadStatus()
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0].Entries
	}
	first, second := strings.Repeat("0", 40)+":1\n", strings.Repeat("F", 40)+":1\n"
	if err := bring(false, first, second); err != nil || entries() != 2 {
		t.Fatal(err)
	}
	if err := bring(false, first); !errors.Is(err, ErrSmaller) || entries() != 2 {
		t.Error("a smaller corpus replaced a larger one:", err)
	}
	if err := bring(false, first, second); err != nil {
		t.Error("one of the same size is refused:", err)
	}
	if err := bring(true, first); err != nil || entries() != 1 {
		t.Error(err)
	}
}

func TestAlgorithmNames(t *testing.T) {
	for _, a := range Algorithms {
		if got, err := ParseAlgorithm(a.String()); got != a || err != nil {
			t.Errorf("%v: %v, %v", a, got, err)
		}
	}
	if _, err := ParseAlgorithm("md5"); !errors.Is(err, ErrAlgorithm) {
		t.Error(err)
	}
	if s := fmt.Sprint(NotKnown, Exposed, WidelyExposed); s != "not_known exposed widely_exposed" {
		t.Error(s)
	}
}
