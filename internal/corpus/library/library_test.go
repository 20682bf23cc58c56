package library_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/platform/bucket/buckettest"
)

// buckets are the addresses of an empty bucket of each kind.
func buckets(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"s3":   buckettest.NewFakeS3(t).Address,
		"file": "file://" + t.TempDir(),
	}
}

// sample writes a small segment and returns its path and digest.
func sample(t *testing.T) (path, digest string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sample.seg")
	w, err := segment.CreateSegment(path, segment.Options{Width: segment.Bits64})
	if err != nil {
		t.Fatal(err)
	}
	for k := range uint64(10_000) {
		if err := w.AddKeys([]uint64{k * k * 1e9}); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := w.Commit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return path, sum.Digest.String()
}

func open(t *testing.T, dir, address string) *library.Files {
	t.Helper()
	d, err := library.OpenFiles(dir, address)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestReplicas: what one machine puts, another fetches, checks and keeps; what one removes is gone for all who have no
// copy.
func TestReplicas(t *testing.T) {
	ctx := context.Background()
	for name, address := range buckets(t) {
		t.Run(name, func(t *testing.T) {
			path, digest := sample(t)
			here, thereDir := open(t, t.TempDir(), address), t.TempDir()
			there := open(t, thereDir, address)
			if _, err := there.Open(ctx, "loja.seg", digest); !errors.Is(err, library.ErrMissing) {
				t.Errorf("before: %v", err)
			}
			for range 2 { // putting again changes nothing
				if err := here.PublishFile(ctx, "loja.seg", path); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				r, err := there.Open(ctx, "loja.seg", digest)
				if err != nil {
					t.Fatal(err)
				}
				if found, err := r.Contains(9e9); !found || err != nil {
					t.Error(found, err)
				}
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Truncate(
				filepath.Join(thereDir, "loja.seg"),
				5000,
			); err != nil { // a local copy that went bad is replaced
				t.Fatal(err)
			}
			if r, err := there.Open(ctx, "loja.seg", digest); err != nil {
				t.Error("damaged copy:", err)
			} else if err := errors.Join(r.VerifyAll(ctx), r.Close()); err != nil {
				t.Error(err)
			}
			for range 2 {
				if err := here.RemoveFile(ctx, "loja.seg"); err != nil {
					t.Fatal(err)
				}
			}
			if err := there.ForgetLocal("loja.seg"); err != nil {
				t.Fatal(err)
			}
			if _, err := there.Open(ctx, "loja.seg", digest); !errors.Is(err, library.ErrMissing) {
				t.Errorf("after: %v", err)
			}
		})
	}
}

// TestForeignObject: what is in the bucket under the name but is not what was published never becomes an answer.
func TestForeignObject(t *testing.T) {
	ctx := context.Background()
	for name, address := range buckets(t) {
		t.Run(name, func(t *testing.T) {
			path, digest := sample(t)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			other := filepath.Join(t.TempDir(), "other.seg")
			for i, change := range []func([]byte) []byte{
				func(b []byte) []byte { b[9000] ^= 1; return b },
				func(b []byte) []byte { return b[:len(b)-1] },
				func([]byte) []byte { return nil },
			} {
				if err := os.WriteFile(other, change(append([]byte{}, whole...)), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := open(t, t.TempDir(), address).PublishFile(ctx, "loja.seg", other); err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				if _, err := open(t, dir, address).Open(ctx, "loja.seg", digest); !errors.Is(err, library.ErrDamaged) {
					t.Errorf("change %d: %v", i, err)
				}
				if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
					t.Errorf("change %d left %v, %v", i, left, err)
				}
			}
		})
	}
}

func TestNamesStayInside(t *testing.T) {
	d := open(t, t.TempDir(), "")
	path, digest := sample(t)
	for _, name := range []string{"", "../x.seg", "a/b.seg", ".seg", "x.txt", "a..seg", "A.seg", "/etc/passwd"} {
		if err := d.PublishFile(context.Background(), name, path); !errors.Is(err, library.ErrName) {
			t.Errorf("put %q: %v", name, err)
		}
		if _, err := d.Open(context.Background(), name, digest); !errors.Is(err, library.ErrName) {
			t.Errorf("open %q: %v", name, err)
		}
	}
	if _, err := library.OpenFiles(t.TempDir(), "ftp://x"); !errors.Is(err, library.ErrAddress) {
		t.Errorf("ftp: %v", err)
	}
}

// TestMissingBucket: a bucket that does not exist is named, with what makes it; one that is there passes.
func TestMissingBucket(t *testing.T) {
	there := buckettest.NewFakeS3(t).Address
	if err := library.CheckBucket(t.Context(), there); err != nil {
		t.Error(err)
	}
	if err := library.CheckBucket(t.Context(), ""); err != nil {
		t.Error("no bucket:", err)
	}
	missing := strings.Replace(there, "//vigia", "//vigia-corpora", 1)
	err := library.CheckBucket(t.Context(), missing)
	if !errors.Is(err, library.ErrAddress) || !strings.Contains(err.Error(), "aws s3 mb s3://vigia-corpora --region") {
		t.Error("a bucket that is not there:", err)
	}
	folder := filepath.Join(t.TempDir(), "corpora")
	err = library.CheckBucket(t.Context(), "file://"+folder)
	if !errors.Is(err, library.ErrAddress) || !strings.Contains(err.Error(), folder) {
		t.Error("a folder that is not there:", err)
	}
}
