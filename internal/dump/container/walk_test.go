package container

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/vigiahq/vigia/internal/dump/scan"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

const secret = "maria@exemplo.com;529.982.247-25\n"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func compressed(t testing.TB, open func(io.Writer) (io.WriteCloser, error), text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	must(t, err)
	_, err = w.Write(text)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

func gzipped(t testing.TB, text []byte) []byte {
	return compressed(t, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }, text)
}

func zstded(t testing.TB, text []byte) []byte {
	return compressed(t, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }, text)
}

func xzed(t testing.TB, text []byte) []byte {
	return compressed(t, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }, text)
}

// lzipped writes a member as lzip does.
func lzipped(t testing.TB, text []byte) []byte {
	alone := compressed(t, func(w io.Writer) (io.WriteCloser, error) {
		return lzma.WriterConfig{DictCap: 1 << 16, EOSMarker: true}.NewWriter(w)
	}, text)
	file := append([]byte("LZIP\x01\x10"), alone[13:]...)
	file = binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE(text))
	file = binary.LittleEndian.AppendUint64(file, uint64(len(text)))
	return binary.LittleEndian.AppendUint64(file, uint64(6+len(alone)-13+20))
}

func tarred(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		must(t, w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600}))
		_, err := w.Write([]byte(files[i+1]))
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

func zipped(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		must(t, err)
		_, err = f.Write([]byte(files[i+1]))
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// sevenZipped makes a 7z of one stored file; packed says whether the table of contents is compressed, as programs do.
// claim is the number of files that the table claims to have.
func sevenZipped(t testing.TB, name, text string, packed bool, claim byte) []byte {
	t.Helper()
	const (
		szEnd, szHeader, szMainStreams, szFiles, szPackInfo, szUnpackInfo = 0, 1, 4, 5, 6, 7
		szSize, szFolder, szUnpackSize, szEncodedHeader                   = 9, 11, 12, 23
	)
	var toc bytes.Buffer
	toc.Write([]byte{szHeader, szMainStreams, szPackInfo, 0, 1, szSize})
	number := func(b *bytes.Buffer, n int) {
		b.Write(append([]byte{0xf0}, binary.LittleEndian.AppendUint32(nil, uint32(n))...))
	}
	number(&toc, len(text))
	toc.Write([]byte{szEnd, szUnpackInfo, szFolder, 1, 0, 1, 1, 0, szUnpackSize})
	number(&toc, len(text))
	toc.Write([]byte{szEnd, szEnd, szFiles, claim, 0x11})
	var names bytes.Buffer
	for _, u := range append(utf16.Encode([]rune(name)), 0) {
		must(t, binary.Write(&names, binary.LittleEndian, u))
	}
	toc.Write([]byte{byte(names.Len() + 1), 0})
	toc.Write(names.Bytes())
	toc.Write([]byte{szEnd, szEnd})

	body, table := []byte(text), toc.Bytes()
	if packed {
		var b bytes.Buffer
		w, err := lzma.WriterConfig{Size: int64(len(table)), SizeInHeader: true, DictCap: 1 << 16}.NewWriter(&b)
		must(t, err)
		_, err = w.Write(table)
		must(t, err)
		must(t, w.Close())
		var outer bytes.Buffer
		outer.Write([]byte{szEncodedHeader, szPackInfo})
		number(&outer, len(body))
		outer.Write([]byte{1, szSize})
		number(&outer, b.Len()-13)
		outer.Write([]byte{szEnd, szUnpackInfo, szFolder, 1, 0, 1, 0x23, 3, 1, 1, 5})
		outer.Write(b.Bytes()[:5])
		outer.WriteByte(szUnpackSize)
		number(&outer, len(table))
		outer.Write([]byte{szEnd, szEnd})
		body, table = append(body, b.Bytes()[13:]...), outer.Bytes()
	}
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(body)))
	start = binary.LittleEndian.AppendUint64(start, uint64(len(table)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(table))
	out := []byte{'7', 'z', 0xbc, 0xaf, 0x27, 0x1c, 0, 4}
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(start))
	return slices.Concat(out, start, body, table)
}

// streamed hides that a source can be read in place.
type streamed struct{ io.Reader }

// walked scans all entries of a source and returns what was found and the names.
func walked(source io.Reader, limits Limits) (values, names []string, report Report, err error) {
	return walkedWith(source, Options{Limits: limits})
}

func walkedWith(source io.Reader, options Options) (values, names []string, report Report, err error) {
	s := scan.NewScanner(
		func(kind identifier.Kind, normal []byte) { values = append(values, kind.String()+" "+string(normal)) },
	)
	report, err = WalkSource(context.Background(), "dump", source, options, func(e Entry, r io.Reader) error {
		names = append(names, e.Name)
		_, err := s.Scan(context.Background(), r)
		return err
	})
	slices.Sort(values)
	return values, names, report, err
}

// TestMailbox: the encodings of a mailbox are undone, each once.
func TestMailbox(t *testing.T) {
	want := []string{
		"cpf 11144477735",
		"cpf 52998224725",
		"email ana@exemplo.com",
		"email beatriz.araujo@exemplo.com.br",
		"email joao@exemplo.com",
		"email joao@exemplo.com",
		"email maria@exemplo.com",
		"email pedro@exemplo.com",
		"phone +5511987654321",
	}
	got, _, report, err := walked(bytes.NewReader(fixture(t, "mailbox.txt")), Limits{})
	if err != nil || report.Skipped > 0 || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, %+v", got, err, report.Skips)
	}
}

func TestWalkFormats(t *testing.T) {
	bz, err := os.ReadFile("testdata/secret.bz2")
	must(t, err)
	text := []byte(secret)
	deep := gzipped(t, tarred(t, "a/b.zip", string(zipped(t, "c.txt.zst", string(zstded(t, text))))))
	for name, dump := range map[string][]byte{
		"plain": text, "gzip": gzipped(t, text), "zstd": zstded(t, text), "xz": xzed(t, text), "bzip2": bz,
		"tar": tarred(t, "a.txt", secret), "zip": zipped(t, "a.txt", secret), "7z": sevenZipped(t, "a.txt", secret,
			false, 1),
		"7z, packed table": sevenZipped(t, "a.txt", secret, true, 1), "tar.gz": gzipped(t, tarred(t, "a.txt", secret)),
		"7z in zip": zipped(t, "b.7z", string(sevenZipped(t, "a.txt", secret, true,
			1))), "zst in zip in tar in gz": deep,
		"gzip, two members": append(gzipped(t, text[:10]), gzipped(t, text[10:])...),
	} {
		for way, source := range map[string]io.Reader{
			"in place": bytes.NewReader(dump),
			"stream":   streamed{bytes.NewReader(dump)},
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				values, names, report, err := walked(source, Limits{})
				if want := []string{
					"cpf 52998224725",
					"email maria@exemplo.com",
				}; err != nil ||
					!slices.Equal(values, want) {
					t.Fatalf("found %q in %q: %v, %+v", values, names, err, report)
				}
				if report.Entries != 1 || report.Bytes != int64(len(secret)) || report.Skipped != 0 {
					t.Errorf("%+v", report)
				}
			})
		}
	}
}

// zeros is an endless file of blanks that costs no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func bomb(t testing.TB, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(t, err)
	_, err = io.CopyN(w, zeros{}, size)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

// lz4Bomb is a frame of one block after the other, each a long match.
func lz4Bomb() []byte {
	block := append(append([]byte{0x1f, 0, 1, 0}, bytes.Repeat([]byte{255}, 16000)...), 0)
	file := []byte("\x04\x22\x4d\x18\x40\x70\xdf")
	for range 10 {
		file = append(binary.LittleEndian.AppendUint32(file, uint32(len(block))), block...)
	}
	return file
}

func TestBombsAreStopped(t *testing.T) {
	flat := bomb(t, 4*slack)
	nested := gzipped(t, gzipped(t, flat))
	for name, c := range map[string]struct {
		dump   []byte
		limits Limits
	}{
		"ratio": {flat, Limits{}},
		"xz":    {xzed(t, make([]byte, 2*slack)), Limits{}},
		"zstd":  {zstded(t, make([]byte, 2*slack)), Limits{}},
		"lzip":  {lzipped(t, make([]byte, 2*slack)), Limits{}},
		"zlib": {compressed(t, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil },
			make([]byte, 2*slack)), Limits{}},
		"lz4": {lz4Bomb(), Limits{}},
		"attachment": {[]byte("MIME-Version: 1.0\nContent-Type: application/gzip\nContent-Transfer-Encoding: " +
			"base64\n\n" + base64.StdEncoding.EncodeToString(flat)), Limits{}},
		"ratio, nested": {nested, Limits{}},
		"ratio in zip":  {zipped(t, "zeros.gz", string(flat)), Limits{}},
		"zip of blanks": {zipped(t, "blanks", strings.Repeat(" ", 2*slack)), Limits{}},
		"bytes":         {gzipped(t, []byte(strings.Repeat(secret, 1000))), Limits{Bytes: 1000}},
		"files in tar":  {tarred(t, "a", "x", "b", "y", "c", "z"), Limits{Entries: 2}},
		"files in zip":  {zipped(t, "a", "x", "b", "y", "c", "z"), Limits{Entries: 2}},
		"files, two tars": {
			tarred(t, "a", string(tarred(t, "a", "x")), "b", string(tarred(t, "b", "y"))),
			Limits{Entries: 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, source := range []io.Reader{bytes.NewReader(c.dump), streamed{bytes.NewReader(c.dump)}} {
				_, _, report, err := walked(source, c.limits)
				if !errors.Is(err, ErrBomb) {
					t.Fatalf("%v, %+v", err, report)
				}
				if !strings.Contains(err.Error(), "dump") {
					t.Errorf("the error names no file: %v", err)
				}
				if most := max(3*slack, DefaultLimits.Ratio*int64(len(c.dump))+2*slack); report.Bytes > most {
					t.Errorf("%d bytes came through", report.Bytes)
				}
			}
		})
	}
}

func TestWhatIsSkippedIsReported(t *testing.T) {
	text := []byte(strings.Repeat(secret, 2000))
	var noise bytes.Buffer
	for i := range 20000 {
		fmt.Fprintf(&noise, "%d:%x\n", i*i, i*7919)
	}
	hostile := sevenZipped(t, "a.txt", secret, true, 0x7f)
	for name, c := range map[string]struct {
		dump   []byte
		limits Limits
		reason string
	}{
		"depth":               {gzipped(t, gzipped(t, gzipped(t, text))), Limits{Depth: 2}, "nested too deeply"},
		"7z with false claim": {hostile, Limits{}, "damaged"},
		"cut gzip":            {gzipped(t, noise.Bytes())[:2000], Limits{}, "cut short"},
		"cut zip":             {zipped(t, "a", noise.String())[:2000], Limits{}, "cut short"},
		"cut xz":              {xzed(t, noise.Bytes())[:200], Limits{}, "cut short"},
		"cut zstd":            {zstded(t, noise.Bytes())[:2000], Limits{}, "cut short"},
		"cut 7z":              {sevenZipped(t, "a.txt", secret, true, 1)[:60], Limits{}, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, report, err := walked(bytes.NewReader(c.dump), c.limits)
			if err != nil {
				t.Fatal(err)
			}
			want := report
			want.Skipped = 1
			difftest.Check(t, "the report", report, want)
			difftest.Must(t, "how many skips are told", len(report.Skips), 1)
			skip := report.Skips[0]
			if !strings.Contains(skip.Reason, c.reason) || !strings.HasPrefix(skip.Name, "dump") {
				t.Errorf("%+v", skip)
			}
		})
	}
}

// What could be read before a file breaks off is not lost, and neither is what comes after a broken entry.
func TestDamageIsLocal(t *testing.T) {
	var noise bytes.Buffer
	noise.WriteString(secret)
	for i := range 20000 {
		fmt.Fprintf(&noise, "g%xg\n", i*i*7919)
	}
	broken := gzipped(t, noise.Bytes())
	broken = broken[:len(broken)/2]
	values, _, report, err := walked(
		bytes.NewReader(zipped(t, "a.gz", string(broken), "b.txt", "joao@exemplo.com")),
		Limits{},
	)
	want := []string{"cpf 52998224725", "email joao@exemplo.com", "email maria@exemplo.com"}
	if err != nil {
		t.Fatal(err)
	}
	difftest.Check(t, "the values", values, want)
	told := report
	told.Skipped = 1
	difftest.Must(t, "the report", report, told)
	if report.Skips[0].Offset == 0 {
		t.Errorf("%+v", report.Skips[0])
	}
}

// A tar whose file claims more than is there: the file and the tar are both reported, and nothing is made for the
// claim.
func TestCutTar(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	must(t, w.WriteHeader(&tar.Header{Name: "a", Size: 1 << 40, Mode: 0o600, Format: tar.FormatGNU}))
	_, err := w.Write([]byte(secret))
	must(t, err)
	values, _, report, err := walked(&b, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	difftest.Check(t, "how many values", len(values), 2)
	want := report
	want.Skipped = 2
	difftest.Must(t, "the report", report, want)
	difftest.Check(t, "where the file breaks off", report.Skips[0].Offset, int64(len(secret)))
}

func TestNamesFromArchivesAreOnlyShown(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "../../evil", Size: 1},
		{Name: "/etc/evil", Size: 1},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard", Typeflag: tar.TypeLink, Linkname: "../x"},
		{Name: "fifo", Typeflag: tar.TypeFifo},
		{Name: "a\x1b[2Jb\xff", Size: 1, Format: tar.FormatGNU},
		{Name: strings.Repeat("n", 3000), Size: 1},
	} {
		must(t, w.WriteHeader(&h))
		if h.Size > 0 {
			_, err := w.Write([]byte("x"))
			must(t, err)
		}
	}
	must(t, w.Close())
	_, names, report, err := walked(&b, Limits{})
	if err != nil || report.Entries != 4 {
		t.Fatalf("%v, %+v", err, report)
	}
	for _, n := range names {
		if len(n) > 300 || strings.Contains(n, "\x1b") || !utf8.ValidString(n) {
			t.Errorf("unfit to be shown: %q", n)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files were written: %v, %v", left, err)
	}
}

func TestVisitorsOwnErrorStopsTheWalk(t *testing.T) {
	own := errors.New("own")
	calls := 0
	_, err := WalkSource(
		context.Background(),
		"dump",
		bytes.NewReader(tarred(t, "a", "x", "b", "y")),
		Options{},
		func(Entry, io.Reader) error { calls++; return own },
	)
	if !errors.Is(err, own) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = WalkSource(
		ctx,
		"dump",
		bytes.NewReader(tarred(t, "a", "x", "b", "y")),
		Options{},
		func(Entry, io.Reader) error { cancel(); return nil },
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
