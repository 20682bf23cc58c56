package stored_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// keysOf reads a whole segment.
func (v *env) keysOf(r leak.Record) []uint64 {
	v.T.Helper()
	reader, err := v.Files.Open(context.Background(), r.Segment, r.Digest)
	if err != nil {
		v.T.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	keys := make([]uint64, 0, reader.Count())
	for k, err := range reader.KeysInRange(0, math.MaxUint64) {
		if err != nil {
			v.T.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}

func missing(keys, truth []uint64) int {
	n := 0
	for _, f := range truth {
		if _, ok := slices.BinarySearch(keys, f); !ok {
			n++
		}
	}
	return n
}

// TestImportKeepsEveryIdentifier: spans, parts, small streams and archives lose nothing and agree with each other.
func TestImportKeepsEveryIdentifier(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	text, truth := madeUpDump(1, 6<<20, v.Keys.Fingerprint)
	plain := v.File("a.txt", string(text))
	zipped := v.File("b.gz", string(dumptest.GzipText(t, text)))
	pieces := v.File("c.tar", string(tarOf(t, text, 40_000)))

	whole := v.keysOf(v.Import(dumptest.MakeBreach("inteiro", cyber.SourceBreach, cyber.ExposedEmail), plain).Record)
	if n := missing(whole, truth); n > 0 {
		t.Errorf("%d of %d identifiers are missing", n, len(truth))
	}
	v.Importer.PartBytes, v.Importer.Workers = 1<<20, 3
	v.Importer.SpanBytes = 300_000
	for name, path := range map[string]string{"partes": plain, "zip": zipped, "tar": pieces} {
		out := v.Import(dumptest.MakeBreach(name, cyber.SourceBreach, cyber.ExposedEmail), path)
		keys := v.keysOf(out.Record)
		if n := missing(keys, truth); n > 0 {
			t.Errorf("%s: %d of %d identifiers are missing", name, n, len(truth))
		}
		// A border may cut a number into another one now and then.
		if extra := len(keys) - len(whole); extra > 40 || extra < -40 {
			t.Errorf("%s: %d keys, %d in one piece", name, len(keys), len(whole))
		}
	}
	if left, err := os.ReadDir(v.Importer.Dir); err != nil || len(left) != 0 {
		t.Errorf("work left behind: %v, %v", left, err)
	}
}

// tarOf cuts text at line ends into files of about n bytes.
func tarOf(t *testing.T, text []byte, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; len(text) > 0; i++ {
		cut := len(text)
		if n < len(text) {
			if nl := bytes.IndexByte(text[n:], '\n'); nl >= 0 {
				cut = n + nl + 1
			}
		}
		if err := w.WriteHeader(
			&tar.Header{Name: fmt.Sprintf("../../%d.txt", i), Size: int64(cut), Mode: 0o600},
		); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text[:cut]); err != nil {
			t.Fatal(err)
		}
		text = text[cut:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCancelledImportGoesOn: cancelled again and again when an eighth of it was done, the import ends with the same set
// as one that was left alone, and what it had done is not done again.
func TestCancelledImportGoesOn(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	text, _ := madeUpDump(2, 4<<20, v.Keys.Fingerprint)
	folder := t.TempDir()
	for name, content := range map[string][]byte{"1.txt": text[:3<<20], "2.tar": tarOf(t, text[3<<20:], 30_000)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v.Importer.PartBytes = 250_000
	v.Importer.SpanBytes = 100_000
	v.Importer.Workers = 1 // calls is not shared
	all := 0
	undo := dumptest.OnFingerprint(v.Importer, func() { all++ })
	want := v.Import(dumptest.MakeBreach("sem-parar", cyber.SourceBreach, cyber.ExposedEmail), folder)
	undo()

	inputs, err := intake.ListInputs(context.Background(), nil, []string{folder})
	if err != nil {
		t.Fatal(err)
	}
	b := dumptest.MakeBreach("parando", cyber.SourceBreach, cyber.ExposedEmail)
	work := filepath.Join(v.Importer.Dir, "parando")
	stops := 0
	for {
		ctx, cancel := context.WithCancel(context.Background())
		had, calls := len(partsIn(t, work)), 0
		undo := dumptest.OnFingerprint(v.Importer, func() {
			if calls++; calls == all/8 { // by what was done, not by when it is on disk
				cancel()
			}
		})
		out, err := v.Importer.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: inputs})
		undo()
		cancel()
		if err == nil {
			if got := v.keysOf(out.Record); !slices.Equal(got, v.keysOf(want.Record)) {
				t.Errorf("%d keys after %d stops, %d without", len(got), stops, len(v.keysOf(want.Record)))
			}
			if g, w := fmt.Sprint(out.Tally.Found, out.Tally.Streams), fmt.Sprint(want.Tally.Found,
				want.Tally.Streams); g != w {
				t.Errorf("counted %s after stops, %s without", g, w)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if got := len(partsIn(t, work)); got <= had {
			t.Fatalf("stopped with %d parts, began with %d: nothing was kept", got, had)
		}
		stops++
	}
	if stops < 4 {
		t.Errorf("only %d stops", stops)
	}
}

// TestStoppedImportKeepsWhatItDid: an import that is asked to stop keeps all that it scanned, however little, and
// counts the same in the end as one that was left alone.
func TestStoppedImportKeepsWhatItDid(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	text, _ := madeUpDump(4, 3<<20, v.Keys.Fingerprint)
	first, second := v.File("1.txt", "ana@exemplo.com.br\n"), v.File("2.txt", string(text))
	v.Importer.SpanBytes = 100_000
	want := v.Import(dumptest.MakeBreach("sem-parar", cyber.SourceBreach, cyber.ExposedEmail), first, second)
	inputs, err := intake.ListInputs(context.Background(), nil, []string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	b := dumptest.MakeBreach("parado", cyber.SourceBreach, cyber.ExposedEmail)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	v.Importer.Workers = 1 // calls is not shared
	undo := dumptest.OnFingerprint(v.Importer, func() {
		if calls++; calls == 20_000 {
			cancel()
		}
	})
	_, err = v.Importer.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: inputs})
	undo()
	if !errors.Is(err, context.Canceled) || len(partsIn(t, filepath.Join(v.Importer.Dir, "parado"))) != 1 {
		t.Fatalf("%v, parts %v", err, partsIn(t, filepath.Join(v.Importer.Dir, "parado")))
	}
	var resumed int64
	out, err := v.Importer.ImportBreach(
		context.Background(),
		intake.Spec{Breach: b, Inputs: inputs, Progress: func(p intake.Progress) { resumed = p.Resumed }},
	)
	if err != nil || resumed < 200_000 {
		t.Fatalf("%d bytes were not scanned again, %v", resumed, err)
	}
	if g, w := fmt.Sprintf("%+v", out.Tally), fmt.Sprintf("%+v", want.Tally); g != w {
		t.Errorf("counted %s after the stop, %s without", g, w)
	}
}

// TestProgressTellsWhatWasFound: the last word on a small dump is what its breach has; its few identifiers fill no
// batch.
func TestProgressTellsWhatWasFound(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	inputs, err := intake.ListInputs(
		context.Background(),
		nil,
		[]string{v.File("a.txt", "ana@exemplo.com.br\nbia@exemplo.com.br\n")},
	)
	if err != nil {
		t.Fatal(err)
	}
	var last intake.Progress
	spec := intake.Spec{
		Breach:   dumptest.MakeBreach("pouco", cyber.SourceBreach),
		Inputs:   inputs,
		Progress: func(p intake.Progress) { last = p },
	}
	out, err := v.Importer.ImportBreach(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if last.Read != out.Tally.Bytes || last.Found["email"] != 2 || out.Tally.Found["email"] != 2 {
		t.Errorf("told %+v, counted %+v", last, out.Tally)
	}
	if end := last.Ended(out.Tally); end.Distinct != out.Tally.Distinct || end.Read != end.Total || end.Merging {
		t.Errorf("at the end %+v", end)
	}
}

func partsIn(t *testing.T, dir string) []string {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, "part-*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(
		parts,
		func(p string) bool { return strings.HasSuffix(p, "-pairs.seg") },
	) // beside its part
}

// TestImportRefuses what it cannot do honestly.
func TestImportRefuses(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	ctx := context.Background()
	path := v.File("a.txt", "ana@exemplo.com.br")
	inputs, err := intake.ListInputs(context.Background(), nil, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	try := func(change func(*cyber.Breach), in []intake.Input) error {
		b := dumptest.MakeBreach("nome", cyber.SourceBreach, cyber.ExposedEmail)
		change(&b)
		_, err := v.Importer.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: in})
		return err
	}
	for what, change := range map[string]func(*cyber.Breach){
		"no name":        func(b *cyber.Breach) { b.Name = "" },
		"path in name":   func(b *cyber.Breach) { b.Name = "a/../b" },
		"upper case":     func(b *cyber.Breach) { b.Name = "Nome" },
		"sandbox":        func(b *cyber.Breach) { b.Name = "sandbox" },
		"no title":       func(b *cyber.Breach) { b.Title = " " },
		"future":         func(b *cyber.Breach) { b.Date = storetest.Start.AddDate(0, 0, 2) },
		"unknown class":  func(b *cyber.Breach) { b.Exposes = []cyber.Exposed{"alma"} },
		"unknown source": func(b *cyber.Breach) { b.Kind = "boato" },
	} {
		if err := try(change, inputs); !errors.Is(err, leak.ErrBreachInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := try(func(*cyber.Breach) {}, nil); !errors.Is(err, intake.ErrInput) {
		t.Errorf("no input: %v", err)
	}
	if err := try(func(*cyber.Breach) {}, inputs); err != nil {
		t.Fatal(err)
	}
	if err := try(func(*cyber.Breach) {}, inputs); !errors.Is(err, leak.ErrBreachExists) {
		t.Errorf("published twice: %v", err)
	}
	if _, err := intake.ListInputs(context.Background(), nil,
		[]string{filepath.Join(t.TempDir(), "nada")}); !errors.Is(err, intake.ErrInput) {
		t.Errorf("missing file: %v", err)
	}
}

// TestResumeNeedsTheSameInputs: half of one file and half of another would be a breach that never was.
func TestResumeNeedsTheSameInputs(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	ctx := context.Background()
	b := dumptest.MakeBreach("nome", cyber.SourceBreach, cyber.ExposedEmail)
	gone := errors.New("the disk is gone")
	first := intake.ReaderInput("a.txt", "a", -1, func(context.Context) (io.ReadCloser, error) { return nil, gone })
	if _, err := v.Importer.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: []intake.Input{first}}); !errors.Is(err,
		gone) {
		t.Fatal(err)
	}
	second, err := intake.ListInputs(context.Background(), nil, []string{v.File("b.txt", "bia@exemplo.com.br")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Importer.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: second}); !errors.Is(err,
		intake.ErrInput) {
		t.Errorf("other inputs: %v", err)
	}
	if err := v.Importer.DiscardWork("nome"); err != nil {
		t.Fatal(err)
	}
	out, err := v.Importer.ImportBreach(ctx, intake.Spec{Breach: b, Inputs: second})
	if err != nil || out.Tally.Found["email"] != 1 {
		t.Errorf("after discarding: %v, %v", out.Tally, err)
	}
}

// TestHostileInputs: broken and swelling archives are reported by name, the rest is imported.
func TestHostileInputs(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	text := []byte(strings.Repeat("ana@exemplo.com.br bia@exemplo.com.br\n", 20_000))
	broken := dumptest.GzipText(t, text)
	folder := t.TempDir()
	for name, content := range map[string][]byte{
		"1-quebrado.gz": broken[:len(broken)-20], "2-bomba.gz": dumptest.GzipText(t,
			make([]byte, 64<<20)), "3-bom.txt": []byte("caio@exemplo.com.br"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := v.Import(dumptest.MakeBreach("sujo", cyber.SourceBreach, cyber.ExposedEmail), folder)
	if out.Tally.Problems != 2 || len(out.Skips) != 2 {
		t.Errorf("problems %d: %+v", out.Tally.Problems, out.Skips)
	}
	keys := v.keysOf(out.Record)
	for _, who := range []string{"ana", "bia", "caio"} {
		if missing(keys, []uint64{v.Keys.Fingerprint(byte(identifier.Email), []byte(who+"@exemplo.com.br"))}) > 0 {
			t.Errorf("%s is missing", who)
		}
	}
}

// TestTheSameDumpThreeTimes: a dump that was imported again, in other files and another order, does not raise the
// score: it tells the same of the same values. One more value in it makes it another dump.
func TestTheSameDumpThreeTimes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
		persons := cyber.NewPersons(e.Store.Advice, cyber.NewCatalogue(e.Store.Advice, e.Clock.Now), e.Clock.Now, nil)
		score := func() float64 {
			t.Helper()
			v.RunJobs()
			s, err := persons.ComputeScore(context.Background(), v.Live.Partner, "ana")
			if err != nil {
				t.Fatal(err)
			}
			return s.Breach
		}
		loja := func(name string) cyber.Breach {
			return dumptest.MakeBreach(name, cyber.SourceBreach, cyber.ExposedEmail, cyber.ExposedPassword)
		}
		v.Import(loja("loja"), v.File("a.txt", "ana@exemplo.com.br:Praia2020\nbia@exemplo.com.br:y!9x\n"))
		once := score()
		v.Import(
			loja("loja-de-novo"),
			v.File("b.csv", "senha;email\ny!9x;BIA@exemplo.com.br\nPraia2020;ana@exemplo.com.br\n"),
		)
		v.Import(
			loja("loja-em-partes"),
			v.File("c1.txt", "bia@exemplo.com.br:y!9x\n"),
			v.File("c2.txt", "ana@exemplo.com.br:Praia2020\nana@exemplo.com.br:Praia2020\n"),
		)
		if again := score(); once == 0 || again != once {
			t.Errorf("once %v, three times %v", once, again)
		}
		if found, err := e.Monitoring.FindingsOfUser(
			context.Background(),
			v.Live.Partner,
			"ana",
		); err != nil ||
			len(found) != 3 {
			t.Error("each import is a finding of its own:", len(found), err)
		}
		v.Import(dumptest.MakeBreach("compilado", cyber.SourceCombolist, cyber.ExposedEmail, cyber.ExposedPassword),
			v.File("d.txt", "caio@exemplo.com.br:outra9\nana@exemplo.com.br:Praia2020\n"))
		if again := score(); again != once {
			t.Errorf("once %v, in a compilation too %v", once, again)
		}
		if leaks := strings.Count(strings.Join(v.EventsOf(v.Live), "; "), "leak ana"); leaks != 1 {
			t.Errorf("ana was told %d times", leaks)
		}
		v.Import(loja("loja-maior"), v.File("e.txt", "ana@exemplo.com.br:Verao2021\nbia@exemplo.com.br:y!9x\n"))
		if more := score(); more <= once {
			t.Errorf("once %v, with another password %v", once, more)
		}
		if leaks := strings.Count(strings.Join(v.EventsOf(v.Live), "; "), "leak ana"); leaks != 2 {
			t.Errorf("ana was told %d times, with another password", leaks)
		}
	})
}

// TestDamagedSegmentIsNoAnswer: a value added while a segment is damaged stays pending instead of counting as clean.
func TestDamagedSegmentIsNoAnswer(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	out := v.Import(dumptest.MakeBreach("loja", cyber.SourceBreach, cyber.ExposedEmail),
		v.File("a.txt", "ana@exemplo.com.br"))
	path := filepath.Join(v.Folder, "corpora", out.Segment)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := v.Library.LoadPublished(context.Background()); !errors.Is(err, segment.ErrCorrupt) {
		t.Errorf("load: %v", err)
	}
	v.Watch(v.Live, "ana", "email", "ana@exemplo.com.br")
	v.WantEqual("while damaged", v.FindingsOf(v.Live, "ana"), "")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	v.LoadPublished()
	if n, err := v.Library.SettleDueLooks(context.Background()); n != 1 || err != nil {
		t.Errorf("settled %d, %v", n, err)
	}
	v.WantEqual("mended", v.FindingsOf(v.Live, "ana"), "email:loja:open")
}

// TestImportOfAFileThatShrinks: what is cut off under an import is an error that names the file, not half a breach and
// not the end of the process.
func TestImportOfAFileThatShrinks(t *testing.T) {
	v := newEnv(t, storetest.Open(t, sqldb.SQLite))
	path := v.File("dump.txt", strings.Repeat("ana@exemplo.com.br\n", 400_000)) // more than is read ahead
	inputs, err := intake.ListInputs(context.Background(), nil, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	dumptest.OnFingerprint(v.Importer, func() {
		if err := os.Truncate(path, 0); err != nil {
			t.Error(err)
		}
	})
	_, err = v.Importer.ImportBreach(
		context.Background(),
		intake.Spec{Breach: dumptest.MakeBreach("cortado", cyber.SourceBreach, cyber.ExposedEmail), Inputs: inputs},
	)
	if !errors.Is(err, intake.ErrInput) || !strings.Contains(fmt.Sprint(err), "dump.txt changed") {
		t.Errorf("%v", err)
	}
}
