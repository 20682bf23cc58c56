package password

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// While corpora are replaced again and again, no look-up fails and none misses a password that every version has.
func TestReloadWithoutAFailedLookUp(t *testing.T) {
	l := newLibrary(t)
	always := sha1Hex("always")
	mustImport(t, l, SHA1, text("0", always))
	c := newChecker(t, l)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got, err := c.CheckPrefix(always[:10], true); err != nil || got.Exposure != Exposed {
					t.Errorf("during reload: %v, %v", got, err)
					return
				}
			}
		})
	}
	for i := range 25 {
		name := strings.Repeat("x", i+1)
		mustImport(t, l, SHA1, text("n", sha1Hex(name)+"\n"+always))
		if err := c.ReloadCorpora(); err != nil {
			t.Fatal(err)
		}
		expect(t, c, sha1Hex(name), Exposed)
	}
	close(stop)
	readers.Wait()
}

func TestRunTakesUpNewCorpusWithinFiveSeconds(t *testing.T) {
	l := newLibrary(t)
	synctest.Test(t, func(t *testing.T) {
		c := newChecker(t, l)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		mustImport(t, l, SHA1, text("n", sha1Hex("fresh")))
		time.Sleep(5 * time.Second)
		expect(t, c, sha1Hex("fresh"), Exposed)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// breakCorpus cuts the file of an algorithm's corpus.
func breakCorpus(t *testing.T, l *Library, a Algorithm) {
	t.Helper()
	m, err := l.readManifest()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(l.filePath(m.Corpora[a.String()].File), 4096+100); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedCorpusNeverSaysNotExposed(t *testing.T) {
	for _, when := range []string{"open", "before opening"} {
		l := newLibrary(t)
		ntlm := "8846F7EAEE8FB117AD06BDD830B7586C"
		mustImport(t, l, SHA1, text("s", sha1Hex("secret")))
		mustImport(t, l, NTLM, text("n", ntlm))
		if when == "before opening" {
			breakCorpus(t, l, SHA1)
		}
		c := newChecker(t, l)
		if when == "open" {
			expect(t, c, sha1Hex("secret"), Exposed)
			breakCorpus(t, l, SHA1)
			c.inspectFiles()
		}
		expect(t, c, ntlm, Exposed) // the other corpus goes on serving
		for _, hash := range []string{sha1Hex("secret"), sha1Hex("another")} {
			if _, err := c.CheckPrefix(
				hash[:10],
				true,
			); !errors.Is(err, ErrUnreadable) ||
				fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%s: %v", when, err)
			}
		}
		if err := c.CheckHealth(); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%s: health %v", when, err)
		}
		if err := l.VerifyFiles(ctx); err == nil || !strings.Contains(err.Error(), "sha1-1.seg") {
			t.Errorf("%s: verify %v", when, err)
		}
		mustImport(t, l, SHA1, text("s", sha1Hex("secret")))
		if err := errors.Join(c.ReloadCorpora(), c.CheckHealth(), l.VerifyFiles(ctx)); err != nil {
			t.Errorf("%s: after a new import: %v", when, err)
		}
		expect(t, c, sha1Hex("secret"), Exposed)
		expect(t, c, sha1Hex("another"), NotKnown)
	}
}

// A manifest whose files are gone, as between two imports of another process, must not disturb what is being served.
func TestOldCorpusServesWhileNewOneCannotBeOpened(t *testing.T) {
	l := newLibrary(t)
	mustImport(t, l, SHA1, text("s", sha1Hex("old")))
	c := newChecker(t, l)
	mustImport(t, l, SHA1, text("s", sha1Hex("new")))
	hidden := l.filePath("sha1-2.seg")
	if err := os.Rename(hidden, hidden+".away"); err != nil {
		t.Fatal(err)
	}
	if err := c.ReloadCorpora(); err != nil {
		t.Fatal(err)
	}
	expect(t, c, sha1Hex("old"), Exposed)
	expect(t, c, sha1Hex("other"), NotKnown)
	if err := c.CheckHealth(); !errors.Is(err, ErrUnreadable) {
		t.Errorf("health %v", err)
	}
	if err := os.Rename(hidden+".away", hidden); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.ReloadCorpora(), c.CheckHealth()); err != nil {
		t.Error(err)
	}
	expect(t, c, sha1Hex("new"), Exposed)
}

// A file whose time changed may have other content: nothing is believed until its pages are checked anew.
func TestTouchedCorpusIsCheckedAnew(t *testing.T) {
	l := newLibrary(t)
	mustImport(t, l, SHA1, text("s", sha1Hex("x")))
	c := newChecker(t, l)
	file := l.filePath("sha1-1.seg")
	if err := os.Chtimes(file, time.Time{}, someday()); err != nil {
		t.Fatal(err)
	}
	c.inspectFiles()
	if _, err := c.CheckPrefix("0000000000", true); !errors.Is(err, ErrUnreadable) {
		t.Errorf("before the reload: %v", err)
	}
	if err := errors.Join(c.ReloadCorpora(), c.CheckHealth()); err != nil {
		t.Error(err)
	}
	expect(t, c, sha1Hex("x"), Exposed)
	expect(t, c, sha1Hex("y"), NotKnown)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[4096+200] ^= 1 // in the page that was checked a moment ago
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	c.inspectFiles()
	if err := c.ReloadCorpora(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CheckPrefix(sha1Hex("x")[:10], true); !errors.Is(err, ErrUnreadable) {
		t.Errorf("after the change: %v", err)
	}
}

func TestClosedCheckerHasNoCorpus(t *testing.T) {
	l := newLibrary(t)
	mustImport(t, l, SHA1, text("s", sha1Hex("x")))
	c := newChecker(t, l)
	c.Close()
	if _, err := c.CheckPrefix("0000000000", true); !errors.Is(err, ErrNoCorpus) {
		t.Error(err)
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	l := newLibrary(t)
	if err := l.EnsureDefault(ctx); err != nil {
		t.Fatal(err)
	}
	c := newChecker(t, l)
	if n := testing.AllocsPerRun(1000, func() {
		_, _ = c.CheckPrefix("5baa61e4c9", true)
		_, _ = c.CheckPrefix("0000000000", true)
	}); n != 0 {
		t.Errorf("%v allocations a look-up", n)
	}
}
