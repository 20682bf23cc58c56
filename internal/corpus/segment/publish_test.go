package segment

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

func digestOf(b []byte) Digest { return sha256.Sum256(b) }

// publisherPath, when set in the environment, makes the test binary a process that publishes segments until it is
// killed.
const publisherPath = "SEGMENT_TEST_PUBLISH"

// publisherRests names a number of publications after which the publisher waits to be killed.
const publisherRests = "SEGMENT_TEST_REST"

func TestMain(m *testing.M) {
	if path := os.Getenv(publisherPath); path != "" {
		publishForever(path)
	}
	os.Exit(m.Run())
}

// versions are the two contents that the publisher alternates; the second one needs several runs and a merge.
func versions() [2][]uint64 { return [2][]uint64{distinct(1, 1000), uniform(2, 200_000, Bits40)} }

func publishForever(path string) {
	v := versions()
	for i := 0; ; i++ {
		w, err := CreateSegment(path, Options{Width: Bits40, Memory: leastMemory})
		if err == nil {
			err = w.AddKeys(v[i%2])
		}
		if err == nil {
			_, err = w.Commit(context.Background())
		}
		if err != nil {
			println(err.Error())
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("!") // whoever waits for it sees that it does not come
		if os.Getenv(publisherRests) == strconv.Itoa(i+1) {
			time.Sleep(time.Hour)
		}
	}
}

// A publisher is killed at a hundred moments, thirty in the usual run. Whatever is under the name afterwards is one of
// the two versions, whole, and the next publisher is not held up by what the killed one left.
func TestKilledPublisherLeavesOldOrNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.seg")
	v := versions()
	sorted := [2][]uint64{v[0], slices.Compact(slices.Sorted(slices.Values(v[1])))}
	seen := [2]int{}
	kills := sized(30, 100)
	for i := range kills {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), publisherPath+"="+path)
		if i < 2 { // each version is met once for certain; the other kills come when they come
			c.Env = append(c.Env, publisherRests+"="+strconv.Itoa(1+i))
		}
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// Wait for its first publication or its second, then a moment that differs each time.
		if _, err := io.ReadFull(out, make([]byte, 1+i%2)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i/2*100/kills) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); c.ProcessState.Exited() {
			t.Fatalf("the publisher ended by itself: %v", err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		if err := r.VerifyAll(context.Background()); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		which := slices.IndexFunc(sorted[:], func(k []uint64) bool { return uint64(len(k)) == r.Count() })
		if which < 0 {
			t.Fatalf("kill %d: %d keys", i, r.Count())
		}
		answers(t, r, sorted[which], 100)
		seen[which]++
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if seen[0] == 0 || seen[1] == 0 {
		t.Errorf("versions seen: %v", seen)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) > 2 {
		t.Errorf("files left: %v %v", files, err)
	}
}

func TestSecondWriterIsBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.seg")
	first, err := CreateSegment(path, Options{Width: Bits40})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CreateSegment(path, Options{Width: Bits40}); !errors.Is(err, ErrBusy) {
		t.Errorf("second writer: %v", err)
	}
	first.Abort()
	if err := first.AddKeys([]uint64{1}); err == nil {
		_, err = first.Commit(context.Background())
		if !errors.Is(err, ErrClosed) {
			t.Errorf("commit after abort: %v", err)
		}
	}
	second, err := CreateSegment(path, Options{Width: Bits40})
	if err != nil {
		t.Fatal(err)
	}
	second.Abort()
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v %v", files, err)
	}
}

func TestCancelledCommitPublishesNothing(t *testing.T) {
	path := build(t, Options{Width: Bits40}, []uint64{1})
	w, err := CreateSegment(path, Options{Width: Bits40})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.Commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	answers(t, open(t, path), []uint64{1}, 1)
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v %v", files, err)
	}
}

// The format is a promise: the same keys give the bytes of the file in testdata, which was written once.
func TestGoldenBytes(t *testing.T) {
	keys := []uint64{0, 1, 2, 63, 64, 1 << 20, 1<<20 + 1, 0x5BAA61E4C9, 0x7C4A8D09CA, 1<<40 - 1}
	got, err := os.ReadFile(build(t, Options{Width: Bits40, Note: []byte("golden")}, keys))
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/golden.seg"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("the written bytes differ from the golden ones")
	}
	checkAgainst(t, open(t, golden), keys)
}
