package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorder stands between the package and the system. It writes down what is asked for, in order, with the bytes that a
// file had when it was synced, and lets one step fail.
type recorder struct {
	folder string
	steps  []string
	fails  string
}

var errDisk = errors.New("the disk says no")

func record(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{folder: t.TempDir()}
	real := calls
	t.Cleanup(func() { calls = real })
	calls = system{
		sync: func(f *os.File) error {
			content, err := os.ReadFile(f.Name())
			if err != nil {
				return err
			}
			return r.step(
				fmt.Sprintf("sync %s=%s", filepath.Base(f.Name()), content),
				func() error { return real.sync(f) },
			)
		},
		rename: func(from, to string) error {
			return r.step(
				"rename "+filepath.Base(from)+" "+filepath.Base(to),
				func() error { return real.rename(from, to) },
			)
		},
		link: func(from, to string) error {
			return r.step(
				"link "+filepath.Base(from)+" "+filepath.Base(to),
				func() error { return real.link(from, to) },
			)
		},
		syncFolder: func(folder string) error {
			name, err := filepath.Rel(r.folder, folder)
			if err != nil {
				return err
			}
			return r.step("folder "+filepath.ToSlash(name), func() error { return real.syncFolder(folder) })
		},
	}
	return r
}

func (r *recorder) step(what string, do func() error) error {
	r.steps = append(r.steps, what)
	if r.fails != "" && strings.HasPrefix(what, r.fails) {
		return errDisk
	}
	return do()
}

func (r *recorder) path(name string) string { return filepath.Join(r.folder, name) }

// want compares the steps since the last call.
func (r *recorder) want(t *testing.T, steps ...string) {
	t.Helper()
	if !slices.Equal(r.steps, steps) {
		t.Errorf("steps\n%q\nwant\n%q", r.steps, steps)
	}
	r.steps = nil
}

// holds compares all that is in the folder, as name=content.
func (r *recorder) holds(t *testing.T, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		content, err := os.ReadFile(r.path(e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Name()+"="+string(content))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSteady: a large file is synced on the way, and an error of that is the writer's.
func TestSteady(t *testing.T) {
	r := record(t)
	synced := []int64{}
	sync := calls.sync
	calls.sync = func(f *os.File) error {
		info, err := f.Stat()
		must(t, err)
		synced = append(synced, info.Size())
		if r.fails != "" {
			return errDisk
		}
		return nil
	}
	f, err := CreateFile(r.path("a"))
	must(t, err)
	defer f.DiscardFile()
	out, half := f.SteadyWriter(), make([]byte, steadyBytes/2)
	for range 5 {
		n, err := out.Write(half)
		if must(t, err); n != len(half) {
			t.Fatal(n)
		}
	}
	if !slices.Equal(synced, []int64{steadyBytes, 2 * steadyBytes}) {
		t.Error("synced at", synced)
	}
	r.fails = "sync"
	if _, err := out.Write(half); !errors.Is(err, errDisk) {
		t.Error("an error of a sync was lost:", err)
	}
	calls.sync = sync
}

// What is promised is promised after a power cut too, which no test can bring about: so the order of the calls is what
// is tested.
func TestOrder(t *testing.T) {
	r := record(t)
	for _, c := range []struct {
		name string
		do   func() error
		want []string
	}{
		{
			"replace", func() error { return WriteFile(r.path("a"), []byte("one")) },
			[]string{"sync a.tmp=one", "rename a.tmp a", "folder ."},
		},
		{
			"new", func() error { return WriteNewFile(r.path("b"), []byte("two")) },
			[]string{"sync b.tmp=two", "link b.tmp b", "folder ."},
		},
		{"append", func() error {
			return AppendToFile(r.path("b"), func(w io.Writer) error { _, err := w.Write([]byte("+")); return err })
		}, []string{"sync b=two+", "folder ."}},
		{"rename", func() error { return RenameSynced(r.path("b"), r.path("c")) }, []string{"rename b c", "folder ."}},
		{"link", func() error { return LinkSynced(r.path("c"), r.path("d")) }, []string{"link c d", "folder ."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, c.do())
			r.want(t, c.want...)
		})
	}
	r.holds(t, "a=one", "c=two+", "d=two+")
	must(t, os.Mkdir(r.path("x"), 0o700))
	must(t, os.Mkdir(r.path("x/y"), 0o700))
	must(t, RenameSynced(r.path("d"), r.path("x/y/d")))
	r.want(t, "rename d d", "folder .", "folder x/y")
	must(t, SyncFolder(r.path("x")))
	must(t, SyncFolders(r.folder))
	r.want(t, "folder x", "folder .", "folder x", "folder x/y")
	f, err := os.Create(r.path("x/y/e"))
	must(t, err)
	must(t, SyncAndClose(f))
	r.want(t, "sync e=")
}

// A step that fails is told, what was there stays, and nothing is left beside it.
func TestFailedStep(t *testing.T) {
	for _, step := range []string{"sync", "rename"} {
		t.Run(step, func(t *testing.T) {
			r := record(t)
			must(t, WriteFile(r.path("a"), []byte("old")))
			r.fails = step
			if err := WriteFile(r.path("a"), []byte("new")); !errors.Is(err, errDisk) {
				t.Errorf("Write: %v", err)
			}
			r.holds(t, "a=old")
		})
	}
	for _, c := range []struct {
		name string
		do   func(r *recorder) error
	}{
		{"Write", func(r *recorder) error { return WriteFile(r.path("b"), nil) }},
		{"WriteNew", func(r *recorder) error { return WriteNewFile(r.path("b"), nil) }},
		{"Append", func(r *recorder) error { return AppendToFile(r.path("a"), func(io.Writer) error { return nil }) }},
		{"Rename", func(r *recorder) error { return RenameSynced(r.path("a"), r.path("b")) }},
		{"Link", func(r *recorder) error { return LinkSynced(r.path("a"), r.path("b")) }},
		{"SyncFolders", func(r *recorder) error { return SyncFolders(r.folder) }},
	} {
		t.Run("folder of "+c.name, func(t *testing.T) {
			r := record(t)
			must(t, WriteFile(r.path("a"), []byte("old")))
			r.fails = "folder"
			if err := c.do(r); !errors.Is(err, errDisk) {
				t.Errorf("%s: %v", c.name, err)
			}
			if _, err := os.Lstat(r.path("b.tmp")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("left beside it: %v", err)
			}
		})
	}
	t.Run("sync of Append and Close", func(t *testing.T) {
		r := record(t)
		r.fails = "sync"
		if err := AppendToFile(r.path("a"), func(io.Writer) error { return nil }); !errors.Is(err, errDisk) {
			t.Errorf("Append: %v", err)
		}
		wrong := errors.New("cannot be written")
		if err := AppendToFile(r.path("a"), func(io.Writer) error { return wrong }); !errors.Is(err, wrong) {
			t.Errorf("Append: %v", err)
		}
	})
}

// A name that must be free and is not: what is there stays, with links and without.
func TestPublishNewReplacesNothing(t *testing.T) {
	for _, link := range []bool{true, false} {
		t.Run(fmt.Sprint("links ", link), func(t *testing.T) {
			r := record(t)
			if !link {
				r.fails = "link"
			}
			must(t, WriteNewFile(r.path("a"), []byte("first")))
			if err := WriteNewFile(r.path("a"), []byte("second")); !errors.Is(err, fs.ErrExist) {
				t.Errorf("a second one: %v", err)
			}
			r.holds(t, "a=first")
		})
	}
}

func TestTakenLinkIsOnDisk(t *testing.T) {
	r := record(t)
	must(t, WriteFile(r.path("a"), []byte("1")))
	must(t, WriteFile(r.path("b"), []byte("2")))
	r.steps = nil
	if err := LinkSynced(r.path("a"), r.path("b")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Link: %v", err)
	}
	r.want(t, "link a b", "folder .")
	if err := LinkSynced(r.path("nothing"), r.path("c")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Link: %v", err)
	}
}

// One writer at a time; whoever gives up, publishes or dies lets the next one in, and touches nothing of it afterwards.
func TestOneWriter(t *testing.T) {
	r := record(t)
	first, err := CreateFile(r.path("a"))
	must(t, err)
	if _, err := CreateFile(r.path("a")); !errors.Is(err, ErrBusy) {
		t.Fatalf("a second writer: %v", err)
	}
	_, err = first.WriteString("first")
	must(t, err)
	must(t, first.PublishFile())
	second, err := CreateFile(r.path("a"))
	must(t, err)
	first.DiscardFile() // deferred by its owner: the temporary name is another's by now
	if _, err := CreateFile(r.path("a")); !errors.Is(err, ErrBusy) {
		t.Fatalf("a third writer: %v", err)
	}
	second.DiscardFile()
	third, err := CreateFile(r.path("a"))
	must(t, err)
	scratch, err := third.RemoveName()
	must(t, err)
	fourth, err := CreateFile(r.path("a"))
	must(t, err)
	third.DiscardFile()
	_, err = scratch.WriteString("still open")
	must(t, errors.Join(err, scratch.Close()))
	_, err = fourth.WriteString("fourth")
	must(t, err)
	must(t, os.Remove(r.path("a")))
	must(t, fourth.PublishNew())
	r.holds(t, "a=fourth")
}

// What a killed writer left is in nobody's way, whatever it is, and is not written to: somebody may have it open.
func TestLeftover(t *testing.T) {
	r := record(t)
	must(t, os.WriteFile(r.path("a.tmp"), []byte("half"), 0o644))
	must(t, os.Link(r.path("a.tmp"), r.path("spy")))
	must(t, WriteFile(r.path("a"), []byte("whole")))
	r.holds(t, "a=whole", "spy=half")
	must(t, os.Symlink(r.path("spy"), r.path("a.tmp")))
	must(t, WriteFile(r.path("a"), []byte("again")))
	r.holds(t, "a=again", "spy=half")
	info, err := os.Lstat(r.path("a"))
	must(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	must(t, os.MkdirAll(r.path("a.tmp/full"), 0o700))
	if err := WriteFile(r.path("a"), nil); err == nil {
		t.Error("a folder in the way was written over")
	}
	must(t, os.RemoveAll(r.path("a.tmp")))
	r.holds(t, "a=again", "spy=half")
}

// TestMakeFolder: each folder that is made is synced in the one above it, and nothing is done where all is there.
func TestMakeFolder(t *testing.T) {
	r := record(t)
	if err := MakeFolder(r.path("a/b/c"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.want(t, "folder .", "folder a", "folder a/b")
	if err := MakeFolder(r.path("a/b/c"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.want(t)
	if err := os.WriteFile(r.path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MakeFolder(r.path("file"), 0o700); err == nil {
		t.Error("a file passes for a folder")
	}
	r.fails = "folder a"
	if err := MakeFolder(r.path("a/d"), 0o700); !errors.Is(err, errDisk) {
		t.Error("a folder whose name is not on disk:", err)
	}
}

// TestProveFolder: a folder that takes no writes, or syncs none, is found out, and nothing is left behind.
func TestProveFolder(t *testing.T) {
	r := record(t)
	if err := ProveFolder(r.folder); err != nil {
		t.Error(err)
	}
	r.fails = "sync"
	if err := ProveFolder(r.folder); !errors.Is(err, errDisk) {
		t.Error("a sync that fails:", err)
	}
	r.holds(t)
	if err := ProveFolder(r.path("missing")); err == nil {
		t.Error("a folder that is not there takes writes")
	}
}
