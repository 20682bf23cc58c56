package reader

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestFileThatShrankIsTold: a file that ends with a page is read to its last byte, and one that becomes shorter while
// it is read is no crash of its reader.
func TestFileThatShrankIsTold(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are served, not handed over")
	}
	row := []byte("maria.da.silva@exemplo.com:segr\n") // 32 bytes
	content := bytes.Repeat(row, 40<<20/len(row))
	for _, shrinks := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "dump.txt")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := StartProcess(context.Background(), Job{Workers: 1, Span: 1 << 30, Piece: 1 << 18}, []*os.File{file})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.Read(Input{Name: "dump.txt", File: 1}, nil, nil), p.FinishInputs()); err != nil {
			t.Fatal(err)
		}
		found := 0
		var counters Counters
		for err == nil {
			var f Fact
			if f, err = p.Next(); f.Batch != nil {
				if found == 0 && shrinks { // the reader waits long before its end, as the pipe is full
					err = os.Truncate(path, 1<<20)
				}
				err = errors.Join(err, DecodeBatch(f.Batch, func(*Sighting) { found++ }))
			} else if f.Checkpoint != nil {
				counters = f.Checkpoint.Counters
			}
		}
		var ended *Ended
		switch {
		case shrinks && (!errors.As(err, &ended) || ended.Why != EndChanged):
			t.Errorf("a file that shrank: %v", err)
		case !shrinks && (!errors.Is(err, io.EOF) || found != len(content)/len(row) ||
			counters.Read != int64(len(content)) || counters.Scanned != counters.Read):
			t.Errorf("%v: %d found, %+v of %d bytes", err, found, counters, len(content))
		}
		if err := errors.Join(p.Close(), file.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestDigestOfPasswords: passwords of every length, with and without room for the padding in their block, have their
// SHA-1.
func TestDigestOfPasswords(t *testing.T) {
	d := digester{hash: sha1.New()}
	for n := range 3 * sha1.BlockSize {
		password := bytes.Repeat([]byte{'x'}, n)
		sum := sha1.Sum(password)
		if got, want := d.digestPassword(password), binary.BigEndian.Uint64(sum[:])>>24; got != want {
			t.Errorf("%d bytes: %010x, not %010x", n, got, want)
		}
	}
}
