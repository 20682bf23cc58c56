package seal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestRotationKeepsOldValuesReadable(t *testing.T) {
	k := fresh(t)
	var sealed [][]byte
	for i := range 5 {
		if i > 0 {
			mustRotate(t, k)
		}
		if len(k.ListKeyIDs()) != i+1 || k.PrimaryID() != k.ListKeyIDs()[i] {
			t.Fatalf("after %d rotations: keys %08x, primary %08x", i, k.ListKeyIDs(), k.PrimaryID())
		}
		s := mustSeal(t, k, home, fmt.Sprint("value ", i))
		if id, _ := SealedWith(s); id != k.PrimaryID() {
			t.Errorf("sealed under %08x, the primary is %08x", id, k.PrimaryID())
		}
		sealed = append(sealed, s)
	}
	again := reopen(t, k.Path())
	for i, s := range sealed {
		mustUnseal(t, k, home, s, fmt.Sprint("value ", i))
		mustUnseal(t, again, home, s, fmt.Sprint("value ", i))
	}
	if !slices.Equal(again.ListKeyIDs(), k.ListKeyIDs()) || again.PrimaryID() != k.PrimaryID() {
		t.Error("the file and the memory differ")
	}
}

func TestDrop(t *testing.T) {
	k := fresh(t)
	first := k.PrimaryID()
	old := mustSeal(t, k, home, "old")
	if err := k.DropRetiredKey(first); !errors.Is(err, ErrPrimaryKey) {
		t.Errorf("the primary: %v", err)
	}
	mustUnseal(t, k, home, old, "old")
	mustRotate(t, k)
	now := mustSeal(t, k, home, "now")
	if err := k.DropRetiredKey(first ^ k.PrimaryID() ^ 1); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("an unknown key: %v", err)
	}
	if err := k.DropRetiredKey(first); err != nil {
		t.Fatal(err)
	}
	for _, same := range []*Keys{k, reopen(t, k.Path())} {
		if slices.Contains(same.ListKeyIDs(), first) {
			t.Error("the key is still there")
		}
		if _, err := same.Unseal(home, old); !errors.Is(err, ErrSealBroken) {
			t.Errorf("a value under the dropped key: %v", err)
		}
		mustUnseal(t, same, home, now, "now")
	}
}

func TestReloadTakesUpARotation(t *testing.T) {
	cli := fresh(t)
	server := reopen(t, cli.Path())
	reload := func(want bool) {
		t.Helper()
		if changed, err := server.ReloadFile(); err != nil || changed != want {
			t.Fatalf("Reload: %v, %v, want %v", changed, err, want)
		}
	}
	reload(false)
	mustRotate(t, cli)
	if server.PrimaryID() == cli.PrimaryID() {
		t.Fatal("the server cannot know yet")
	}
	reload(true)
	reload(false)
	if server.PrimaryID() != cli.PrimaryID() {
		t.Error("the server seals under the old key")
	}
	if err := cli.DropRetiredKey(cli.ListKeyIDs()[0]); err != nil {
		t.Fatal(err)
	}
	reload(true)
	if len(server.ListKeyIDs()) != 1 {
		t.Errorf("the server holds %08x", server.ListKeyIDs())
	}
}

func TestUnsealFindsAKeyItHasNotSeen(t *testing.T) {
	cli := fresh(t)
	server := reopen(t, cli.Path())
	mustRotate(t, cli)
	mustUnseal(t, server, home, mustSeal(t, cli, home, "new"), "new")
}

// Whatever happens to the file, a running server keeps the keys it has.
func TestReloadKeepsGoodKeys(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(path string) error
		want error
	}{
		"removed":       {os.Remove, ErrNoKeyFile},
		"opened wide":   {func(p string) error { return os.Chmod(p, 0o644) }, ErrKeyFileUnsafe},
		"emptied":       {func(p string) error { return os.Truncate(p, 0) }, ErrKeyFileMalformed},
		"another's":     {func(p string) error { return os.WriteFile(p, []byte(golden), 0o600) }, ErrWrongKeys},
		"made a folder": {func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) }, ErrKeyFileUnsafe},
	} {
		t.Run(name, func(t *testing.T) {
			k := fresh(t)
			sealed := mustSeal(t, k, home, "x")
			if err := c.harm(k.Path()); err != nil {
				t.Fatal(err)
			}
			if changed, err := k.ReloadFile(); changed || !errors.Is(err, c.want) {
				t.Errorf("Reload: %v, %v", changed, err)
			}
			if err := k.RotateKey(); !errors.Is(err, c.want) {
				t.Errorf("Rotate: %v", err)
			}
			mustUnseal(t, k, home, sealed, "x")
			if len(k.ListKeyIDs()) != 1 {
				t.Errorf("keys %08x", k.ListKeyIDs())
			}
		})
	}
}

func TestFailedRotationChangesNothing(t *testing.T) {
	k := fresh(t)
	was, err := os.ReadFile(k.Path())
	if err != nil {
		t.Fatal(err)
	}
	blocker := filepath.Join(k.Path()+".tmp", "in the way")
	if err := os.MkdirAll(blocker, 0o700); err != nil {
		t.Fatal(err)
	}
	id := k.PrimaryID()
	if err := k.RotateKey(); !errors.Is(err, ErrKeyFileIO) {
		t.Errorf("Rotate: %v", err)
	}
	now, err := os.ReadFile(k.Path())
	if err != nil || !bytes.Equal(was, now) || k.PrimaryID() != id {
		t.Error("a failed rotation left a trace")
	}
	if err := os.RemoveAll(k.Path() + ".tmp"); err != nil {
		t.Fatal(err)
	}
	// A temporary file left by a crash is not in the way.
	if err := os.WriteFile(k.Path()+".tmp", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRotate(t, k)
}

func rotator(t *testing.T, path string, times int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), rotateEnv+"="+path, rotateEnv+"_TIMES="+strconv.Itoa(times))
	cmd.Stderr = os.Stderr
	return cmd
}

func readIDs(t *testing.T, out []byte) (ids []uint32) {
	t.Helper()
	for line := range bytes.Lines(out) {
		id, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, uint32(id))
	}
	return ids
}

func TestProcessesThatRotateAtOnceLoseNothing(t *testing.T) {
	const processes, times = 3, 15
	k := fresh(t)
	out := make([]bytes.Buffer, processes)
	var all []*exec.Cmd
	for i := range processes {
		cmd := rotator(t, k.Path(), times)
		cmd.Stdout = &out[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for range times { // and this process too
		mustRotate(t, k)
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
	held := reopen(t, k.Path()).ListKeyIDs()
	if want := 1 + (processes+1)*times; len(held) != want {
		t.Errorf("%d keys, want %d", len(held), want)
	}
	for i := range out {
		for _, id := range readIDs(t, out[i].Bytes()) {
			if !slices.Contains(held, id) {
				t.Errorf("process %d made key %08x, which is lost", i, id)
			}
		}
	}
}

// A process killed at any moment leaves a file that opens and holds every key it had promised.
func TestKilledRotationLosesNothing(t *testing.T) {
	k := fresh(t)
	var promised []uint32
	for round := range 8 {
		// So many that it is at it when the kill comes, and so few that the file keeps its bounds if that comes late.
		cmd := rotator(t, k.Path(), 300)
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		lines := bufio.NewReader(pipe)
		for range 3 {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			out.Write(line)
		}
		time.Sleep(time.Duration(round) * 300 * time.Microsecond) // spreads the kill over the steps of a rotation
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break // a line cut by the kill is no promise
			}
			out.Write(line)
		}
		_ = cmd.Wait() // "killed"
		promised = append(promised, readIDs(t, out.Bytes())...)
		held := reopen(t, k.Path()).ListKeyIDs()
		for _, id := range promised {
			if !slices.Contains(held, id) {
				t.Fatalf("round %d: key %08x is lost", round, id)
			}
		}
	}
	mustRotate(t, k)
}

func TestManyProcessesCreateOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	var wg sync.WaitGroup
	ids := make([]uint32, 16)
	for i := range ids {
		wg.Go(func() {
			k, err := OpenOrCreate(path)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = k.PrimaryID()
		})
	}
	wg.Wait()
	if len(slices.Compact(ids)) != 1 {
		t.Errorf("they hold different keys: %08x", ids)
	}
}

// Everything at once, on two views of one file; the race detector watches.
func TestConcurrentUse(t *testing.T) {
	cli := fresh(t)
	server := reopen(t, cli.Path())
	index := server.BlindIndex("cpf", "p1", []byte("52998224725"))
	mark := server.Fingerprint('e', []byte("maria@exemplo.com.br"))
	stop := make(chan struct{})
	var users, rotators sync.WaitGroup
	for g := range 4 {
		users.Go(func() {
			at := Place{"asset", "value", "p", strconv.Itoa(g)}
			for {
				select {
				case <-stop:
					return
				default:
				}
				from, to := cli, server
				if g%2 == 0 {
					from, to = server, cli
				}
				sealed, err := from.Seal(at, []byte("x"))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := to.Unseal(at, sealed); err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(to.BlindIndex("cpf", "p1", []byte("52998224725")), index) ||
					to.Fingerprint('e', []byte("maria@exemplo.com.br")) != mark {
					t.Error("a keyed value changed")
					return
				}
				to.BlindIndex("field "+strconv.Itoa(g), "p1", nil)
				to.MAC("purpose "+strconv.Itoa(g), at.encodePlace())
				to.ListKeyIDs()
			}
		})
	}
	for range 20 {
		rotators.Go(func() {
			if err := cli.RotateKey(); err != nil {
				t.Error(err)
			}
		})
		rotators.Go(func() {
			if _, err := server.ReloadFile(); err != nil {
				t.Error(err)
			}
		})
	}
	rotators.Wait()
	close(stop)
	users.Wait()
	if n := len(cli.ListKeyIDs()); n != 21 {
		t.Errorf("%d keys after 20 rotations", n)
	}
}
