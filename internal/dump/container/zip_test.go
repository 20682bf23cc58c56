package container

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestZipMethods reads zips that 7-Zip 26.02 and Info-ZIP 3.0 made of two texts, packed in each way that they know,
// some under the password "infected", and finds what is in the texts: by the table of contents, and without it.
func TestZipMethods(t *testing.T) {
	paths, err := filepath.Glob("testdata/zip/*.zip")
	if err != nil || len(paths) < 12 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".zip")
		packed, err := os.ReadFile(path)
		must(t, err)
		end := bytes.LastIndex(packed, []byte("PK\x05\x06"))
		for way, source := range map[string]io.Reader{
			"in place":        bytes.NewReader(packed),
			"in memory":       streamed{bytes.NewReader(packed)},
			"without its end": bytes.NewReader(packed[:end]),
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				values, _, report, err := walked(source, Limits{})
				must(t, err)
				if report.Skipped != 0 || len(values) != 90 {
					t.Errorf("%d values, %+v", len(values), report)
				}
			})
		}
	}
}

func TestZipOfZstandard(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(93, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	f, err := w.CreateHeader(&zip.FileHeader{Name: "a", Method: 93})
	must(t, err)
	_, err = io.WriteString(f, secret)
	must(t, err)
	must(t, w.Close())
	if values, _, report, err := walked(&b, Limits{}); err != nil || len(values) != 2 || report.Skipped != 0 {
		t.Errorf("%q, %+v, %v", values, report, err)
	}
}

// TestEncryptedZipsAreNamed: without the password nothing is read and that is said.
func TestEncryptedZipsAreNamed(t *testing.T) {
	before := usualPasswords
	usualPasswords = []string{"errada"}
	defer func() { usualPasswords = before }()
	for _, name := range []string{"aes256", "zipcrypto", "zipcrypto-stored"} {
		packed, err := os.ReadFile("testdata/zip/" + name + ".zip")
		must(t, err)
		values, _, report, err := walked(bytes.NewReader(packed), Limits{})
		if err != nil {
			t.Fatal(name, err)
		}
		difftest.Check(t, name+", how many values", len(values), 0)
		difftest.Must(t, name+", the verdict", report.Verdict(), Unread)
		if why := report.Skips[0].Reason; !strings.Contains(why, "encrypted") {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestZipTooLargeToHold: a zip inside another stream that does not fit into memory is read as it comes.
func TestZipTooLargeToHold(t *testing.T) {
	text := strings.Repeat(secret, 1000)
	files := make([]string, 0, 400)
	for range 200 {
		files = append(files, "a.txt", text)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: zip.Deflate})
		must(t, err)
		_, err = io.WriteString(f, files[i+1])
		must(t, err)
	}
	must(t, w.Close())
	outer := tarred(t, "a.zip", b.String())
	defer func(most int64) { heldMost = most }(heldMost)
	heldMost = chunk
	values, _, report, err := walked(streamed{bytes.NewReader(outer)}, Limits{})
	if err != nil || len(values) != 200*2000 || report.Skipped != 0 {
		t.Errorf("%d values, %+v, %v", len(values), report, err)
	}
}

// TestSplitZip: volumes of a set are one archive, cut anywhere or with the mark of a spanned one.
func TestSplitZip(t *testing.T) {
	whole := zipped(t, "a.txt", strings.Repeat(secret, 500), "b.txt", secret)
	for name, file := range map[string][]byte{"cut": whole, "spanned": append([]byte(zipSpanned), whole...)} {
		var volumes []Volume
		for i := 0; len(file) > 0; i++ {
			n := min(len(file), 100)
			volumes = append(
				volumes,
				Volume{Name: "a.zip." + string(rune('0'+i)), At: bytes.NewReader(file[:n]), Size: int64(n)},
			)
			file = file[n:]
		}
		values, _, report, err := walked(NewSet(volumes), Limits{})
		if err != nil || len(values) != 1002 || report.Skipped != 0 {
			t.Errorf("%s: %d values, %+v, %v", name, len(values), report, err)
		}
	}
}
