package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/bucket"
	"github.com/vigiahq/vigia/internal/platform/bucket/buckettest"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

func file(t *testing.T, content []byte) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "content"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	return f
}

func open(t *testing.T, address string) bucket.Bucket {
	t.Helper()
	b, err := bucket.Open(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func content(t *testing.T, b bucket.Bucket, key string, from int64) []byte {
	t.Helper()
	r, err := b.Read(context.Background(), key, from)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBothKinds: a folder and S3 do the same things in the same way, whatever characters a name has.
func TestBothKinds(t *testing.T) {
	for name, address := range map[string]string{"s3": buckettest.NewFakeS3(t).Address, "folder": "file://" + t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			ctx, b := context.Background(), open(t, address)
			keys := []string{"a.seg", "dumps/2025/um.txt", "dumps/2025/ação (2) +&=%.txt", "outro"}
			for i, key := range keys {
				for _, text := range []string{"before", strings.Repeat("x", i) + key} { // the second replaces the first
					if err := b.Write(ctx, key, file(t, []byte(text))); err != nil {
						t.Fatal(key, err)
					}
				}
			}
			for i, key := range keys {
				want := strings.Repeat("x", i) + key
				if got := string(content(t, b, key, 0)); got != want {
					t.Errorf("%s holds %q", key, got)
				}
				if got := string(content(t, b, key, 3)); got != want[3:] {
					t.Errorf("%s from 3: %q", key, got)
				}
			}
			list, err := b.List(ctx, "dumps/20")
			if err != nil || len(list) != 2 || list[1].Modified.IsZero() {
				t.Fatalf("list: %+v, %v", list, err)
			}
			want := slices.Clone(list)
			want[0].Key, want[1].Key, want[1].Size = keys[2], keys[1], 18
			difftest.Check(t, "the list", list, want)
			if all, err := b.List(ctx, ""); err != nil || len(all) != len(keys) {
				t.Errorf("list of all: %+v, %v", all, err)
			}
			for range 2 { // deleting what is not there is no error
				if err := b.Delete(ctx, keys[1]); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := b.Read(ctx, keys[1], 0); !errors.Is(err, bucket.ErrMissing) {
				t.Errorf("deleted: %v", err)
			}
			if _, err := bucket.ReadAll(ctx, b, keys[0], 4); err == nil {
				t.Error("more was read than allowed")
			}
			if err := b.Write(ctx, "empty", file(t, nil)); err != nil || len(content(t, b, "empty", 0)) != 0 {
				t.Errorf("empty: %v", err)
			}
		})
	}
}

// TestLargeObject: what does not fit into one request arrives in parts, whole and in order.
func TestLargeObject(t *testing.T) {
	s3 := buckettest.NewFakeS3(t)
	large := bytes.Repeat([]byte("0123456789abcde\n"), 65<<16) // 65 MiB
	copy(large[64<<20:], "second part")
	b := open(t, s3.Address)
	if err := b.Write(context.Background(), "large", file(t, large)); err != nil {
		t.Fatal(err)
	}
	if asked := s3.Requests(); !slices.Equal(asked, []string{"POST", "PUT", "PUT", "POST"}) || s3.CountUploads() != 0 {
		t.Errorf("%v, want one to begin, two parts, one to join", asked)
	}
	if !bytes.Equal(content(t, b, "large", 0), large) {
		t.Error("what was read is not what was written")
	}
	if got := content(t, b, "large", 64<<20); !bytes.HasPrefix(got, []byte("second part")) || len(got) != 1<<20 {
		t.Errorf("the second part has %d bytes", len(got))
	}
}

// TestTriesAgain: what a server cannot do just now is tried again, and given up after some tries; a refusal is not
// repeated.
func TestTriesAgain(t *testing.T) {
	ctx, s3 := context.Background(), buckettest.NewFakeS3(t)
	b := open(t, s3.Address)
	s3.RefuseRequests(2)
	if err := b.Write(ctx, "a", file(t, []byte("text"))); err != nil || len(s3.Requests()) != 3 {
		t.Errorf("after %v: %v", s3.Requests(), err)
	}
	if got := string(content(t, b, "a", 0)); got != "text" {
		t.Errorf("the body of a later try was %q", got)
	}
	s3.RefuseRequests(100)
	if _, err := b.List(ctx, ""); err == nil || len(s3.Requests()) != 4 {
		t.Errorf("after %v: %v", s3.Requests(), err)
	}
	for _, change := range [][2]string{{"//vigia", "//nada"}, {"sa-east-1", "us-east-1"}} {
		s3.RefuseRequests(0)
		_, err := open(t, strings.Replace(s3.Address, change[0], change[1], 1)).List(ctx, "")
		if err == nil || errors.Is(err, bucket.ErrMissing) || len(s3.Requests()) != 1 {
			t.Errorf("%v: %v, %v", change, s3.Requests(), err)
		}
	}
}

// TestGivesPartsUp: an upload that fails leaves neither an object nor parts that somebody pays for.
func TestGivesPartsUp(t *testing.T) {
	s3 := buckettest.NewFakeS3(t)
	b := open(t, s3.Address)
	ctx, cancel := context.WithCancel(context.Background())
	s3.Before = func(r *http.Request) {
		if r.URL.Query().Get("partNumber") == "2" {
			cancel()
		}
	}
	if err := b.Write(ctx, "large", file(t, make([]byte, 65<<20))); err == nil {
		t.Fatal("an upload that was cancelled came to an end")
	}
	if list, err := b.List(context.Background(), ""); err != nil || len(list) != 0 || s3.CountUploads() != 0 {
		t.Error(list, s3.CountUploads(), err)
	}
}

// TestFolderKeepsInside: no name leads out of a folder.
func TestFolderKeepsInside(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, "inside")
	if err := errors.Join(os.Mkdir(inside, 0o700), os.Symlink("../secret", filepath.Join(inside, "link"))); err != nil {
		t.Fatal(err)
	}
	b, err := bucket.NewFolderBucket(inside)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"../secret", "link", "/etc/passwd", "a/../../secret"} {
		if _, err := b.Read(ctx, key, 0); err == nil {
			t.Errorf("read %s", key)
		}
		if err := b.Write(
			ctx,
			key,
			file(t, []byte("y")),
		); err == nil &&
			key != "link" { // a link is replaced, not followed
			t.Errorf("wrote %s", key)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "secret")); err != nil || string(text) != "x" {
		t.Errorf("outside: %q, %v", text, err)
	}
	if _, err := bucket.NewFolderBucket(filepath.Join(dir, "nada")); err == nil {
		t.Error("a folder that is not there was opened")
	}
}

// TestAddresses: what is not understood is refused, and no error repeats what an address holds.
func TestAddresses(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	for _, address := range []string{
		"ftp://x", "s3://", "s3://b", "s3://b/prefix?region=r", "s3://b?region=r&segredo=1", "s3://b?region=r&use_path_style=perhaps",
		"s3://b?region=r&endpoint=ftp://segredo", "s3://b?%zzsegredo", "s3://segredo:x y", "file://host/folder", "file:///?a=b", "gs://b", "nada",
	} {
		if _, err := bucket.Open(address, nil); err == nil {
			t.Errorf("%s was taken", address)
		} else if text := err.Error(); strings.Contains(text, "x y") || strings.Contains(text, "ftp://segredo") {
			t.Errorf("%s: %v", address, err)
		}
	}
	t.Setenv("AWS_REGION", "sa-east-1")
	if _, err := bucket.Open("s3://b.c?anonymous=true", nil); err != nil {
		t.Error(err)
	}
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	if _, err := open(t, "s3://b?endpoint=http://127.0.0.1:1").List(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Errorf("without credentials: %v", err)
	}
}

// TestMetadataOnlyWhenAsked: credentials are not looked for in the metadata of the machine unless the address says so.
// The stand-in is where a container's metadata would be.
func TestMetadataOnlyWhenAsked(t *testing.T) {
	s3 := buckettest.NewFakeS3(t)
	asked := 0
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(metadata.Close)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "", "HOME": t.TempDir(),
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": metadata.URL,
	} {
		t.Setenv(name, value)
	}
	if _, err := open(t, s3.Address).List(context.Background(), ""); err == nil || asked != 0 {
		t.Errorf("%v; the metadata was asked %d times", err, asked)
	}
	if _, err := open(t, s3.Address+"&metadata=true").List(context.Background(), ""); err == nil || asked == 0 {
		t.Errorf("%v; the metadata was asked %d times", err, asked)
	}
	for _, more := range []string{"&credentials=x", "&awssdk=v2", "&role_arn=x"} {
		if _, err := bucket.Open(s3.Address+more, nil); err == nil {
			t.Errorf("%s is taken", more)
		}
	}
}

// TestBucketsStay: a signed request does not follow a redirect.
func TestBucketsStay(t *testing.T) {
	followed := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(first.Close)
	buckettest.NewFakeS3(t) // for its credentials
	for _, client := range []*http.Client{nil, {}} {
		b, err := bucket.Open("s3://vigia?region=x&use_path_style=true&endpoint="+first.URL, client)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.List(context.Background(), ""); err == nil || followed {
			t.Errorf("%v; followed: %t", err, followed)
		}
	}
}
