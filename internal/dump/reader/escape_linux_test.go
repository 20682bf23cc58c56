package reader

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// The test program is also the reader that was taken over, and its parent as another user.
func init() {
	if len(os.Args) < 2 {
		return
	}
	switch command, rest, _ := strings.Cut(os.Args[1], ":"); command {
	case "share":
		runShare()
	case "busy":
		runBusy()
		os.Exit(0)
	case "taken-over":
		runTakenOver(strings.Split(rest, ":"))
		os.Exit(0)
	case "parent-of-taken-over":
		if err := runParent(rest); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// confinements are the ways in which the stand-in is confined, by name.
var confinements = map[string]omitted{
	"whole":            {},
	"without Landlock": {landlock: true},
	"without seccomp":  {seccomp: true},
	"free":             {landlock: true, seccomp: true},
}

// attempt is one way out: it returns nil when it worked.
type attempt func() error

// escapes are what a taken-over reader tries, several ways each. Where they work they must do no harm but to the
// stand-in and its parent, which are there for this test alone: in the control they do work, and as root.
func escapes() map[string][]attempt {
	parent := os.Getppid()
	return map[string][]attempt{
		"prlimit": {
			func() error {
				var limit unix.Rlimit
				return unix.Prlimit(parent, unix.RLIMIT_CORE, nil, &limit)
			},
			func() error {
				var limit unix.Rlimit
				if err := unix.Prlimit(parent, unix.RLIMIT_CORE, nil, &limit); err != nil {
					return err
				}
				return unix.Prlimit(parent, unix.RLIMIT_CORE, &limit, nil)
			},
		},
		"nice": {
			func() error { return unix.Setpriority(unix.PRIO_PROCESS, parent, 1) },
			func() error { return unix.SchedSetaffinity(parent, &unix.CPUSet{1}) },
			func() error { return call(unix.SYS_IOPRIO_SET, 1, uintptr(parent), 3<<13) },
		},
		"shared memory": {
			func() error { return mapShared(unix.MAP_SHARED | unix.MAP_ANONYMOUS) },
			func() error { return mapShared(unix.MAP_SHARED_VALIDATE | unix.MAP_ANONYMOUS) },
			shareSegment,
			func() error { return closed(unix.MemfdCreate("x", 0)) },
			func() error { return call(unix.SYS_ADD_KEY, 0, 0, 0) },
		},
		"fork": {
			func() error { return forkChild(uintptr(unix.SIGCHLD), 0, false) },
			// Flags that are the number of an allowed call: see loadFilters. These send SIGKILL to the parent of a
			// child that ends, so it stays.
			func() error { return forkChild(unix.SYS_MMAP, unix.MAP_PRIVATE, true) },
			func() error { return forkChild(unix.SYS_READ, 0, true) },
			func() error { return call(unix.SYS_CLONE3, 0, 0, 0) },
			func() error { return call(unix.SYS_EXECVE, 0, 0, 0) },
		},
		"orphan": {
			func() error { return forkChild(uintptr(unix.SIGCHLD), 0, true) },
		},
		"signals": {
			func() error { return unix.Kill(parent, unix.SIGURG) },
			func() error { return unix.Tgkill(parent, parent, unix.SIGURG) },
			func() error { return call(unix.SYS_TKILL, uintptr(parent), uintptr(unix.SIGURG), 0) },
			func() error { return call(unix.SYS_RT_SIGQUEUEINFO, uintptr(parent), uintptr(unix.SIGURG), 0) },
			func() error { _, err := unix.PidfdOpen(parent, 0); return err },
			func() error { return fileControl(unix.F_SETOWN, parent) },
			func() error { return fileControl(unix.F_SETSIG, int(unix.SIGKILL)) },
		},
		"ptrace": {
			func() error { return seizeProcess(parent) },
			func() error { return peekMemory(parent) },
			func() error { return call(unix.SYS_PROCESS_MADVISE, 0, 0, 0) },
		},
		"files": {
			func() error { return closed(unix.Open("/etc/passwd", unix.O_RDONLY, 0)) },
			func() error { return closed(unix.Openat2(unix.AT_FDCWD, "/etc", &unix.OpenHow{})) },
			func() error { return unix.Access("/etc/passwd", unix.F_OK) },
			func() error { return unix.Chdir("/") },
			func() error { return unix.Fchmod(0, 0o600) },
			func() error { return unix.Ftruncate(0, 0) },
			func() error { return unix.Flock(firstFile, unix.LOCK_SH|unix.LOCK_NB) },
		},
		"sockets": {
			func() error { return closed(unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)) },
			func() error { return closed(unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)) },
			func() error { return closed(unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)) },
			func() error { return closed(unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0)) },
			func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
			func() error { return call(unix.SYS_IO_URING_SETUP, 1, 0, 0) },
		},
		"mounts": {
			mountNowhere,
			func() error { return unix.Unshare(unix.CLONE_NEWNS) },
			func() error {
				return forkChild(unix.CLONE_NEWUSER|unix.CLONE_NEWNS|uintptr(unix.SIGCHLD), 0, false)
			},
			func() error { return unix.Chroot("/") },
		},
	}
}

// call makes a system call that fails with EFAULT or EINVAL when it is let through: its arguments are none.
func call(number, first, second, third uintptr) error {
	_, _, errno := unix.RawSyscall(number, first, second, third)
	if errno == 0 || errno == unix.EFAULT || errno == unix.EINVAL {
		return nil
	}
	return errno
}

// closed closes what was opened.
func closed(fd int, err error) error {
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func fileControl(command, value int) error {
	_, err := unix.FcntlInt(0, command, value)
	return err
}

// mapShared writes to shared memory.
func mapShared(flags int) error {
	text, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return err
	}
	text[0] = 1
	return unix.Munmap(text)
}

// shareSegment makes a segment of shared memory and removes it.
func shareSegment() error {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 1<<20, 0o600|unix.IPC_CREAT)
	if err != nil {
		return err
	}
	_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	return err
}

// mountNowhere mounts on a folder that there is not. It is told so where it may mount.
func mountNowhere() error {
	err := unix.Mount("none", "/proc/self/no-such-folder", "tmpfs", 0, "")
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// seizeProcess traces a process from a thread that ends at once: a tracer that stays has the process stop at its next
// signal, and Go sends itself one for every collection.
func seizeProcess(pid int) error {
	seized := make(chan error)
	go func() {
		runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
		seized <- call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0)
	}()
	return <-seized
}

// peekMemory reads from the parent's memory. Where that is let through, no address of it is known.
func peekMemory(pid int) error {
	var room [8]byte
	local := []unix.Iovec{{Base: &room[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 1 << 12, Len: 8}}, 0)
	if errors.Is(err, unix.EFAULT) {
		return nil
	}
	return err
}

// forkChild starts a process with the flags of clone and ends it. One that stays holds the pipes of the reader until it
// is killed.
func forkChild(flags, fourth uintptr, stays bool) error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, fourth, 0, 0)
	if errno != 0 {
		return errno
	}
	for pid == 0 { // the child, which may make raw calls only
		if stays {
			_, _, _ = unix.RawSyscall(unix.SYS_PPOLL, 0, 0, 0)
		} else {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	return nil
}

// forkStray starts a process that leaves the group of the reader and holds its pipes. It returns its number.
func forkStray() (int, error) {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
		for {
			_, _, _ = unix.RawSyscall(unix.SYS_PPOLL, 0, 0, 0)
		}
	}
	for { // until it has left
		session, err := unix.Getsid(int(pid))
		if err != nil || session == int(pid) {
			return int(pid), err
		}
	}
}

// runTakenOver is a reader that hostile data has taken over after it was confined as a reader is. It tries to escape by
// one name and tells in a report how often that worked, then goes on to work.
func runTakenOver(args []string) {
	defer time.NewTicker(time.Hour).Stop() // as runChild does
	out, orders := &frameWriter{w: os.Stdout}, bufio.NewReader(os.Stdin)
	_, _, err := readFrame(orders, nil)
	exitOnError(err)
	runtime.LockOSThread()
	exitOnError(out.writeJSON(factReady, confineProcess(confinements[args[0]])))
	if args[1] == "stray" {
		pid, err := forkStray()
		exitOnError(err)
		exitOnError(out.writeJSON(factEnded, Report{Failed: fmt.Sprint(pid)}))
		return
	}
	var worked []string
	for i, try := range escapes()[args[1]] {
		if try() == nil {
			worked = append(worked, fmt.Sprint(i))
		}
	}
	exitOnError(out.writeJSON(factEnded, Report{Failed: strings.Join(worked, " ")}))
	_, _, _ = readFrame(orders, nil) // until the parent has enough
}

// runParent starts stand-ins and prints which escapes worked, as JSON: by confinement and name, with the numbers of
// ways.
func runParent(which string) error {
	told := map[string]map[string]string{}
	for _, how := range strings.Split(which, ",") {
		told[how] = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(escapes())) {
			worked, err := tryEscape(how, name)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", how, name, err)
			}
			if worked != "" {
				told[how][name] = worked
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}

// tryEscape starts a stand-in and ends it again. An orphan that it leaves must be gone by then.
func tryEscape(how, name string) (worked string, err error) {
	command = "taken-over:" + how + ":" + name
	input, err := os.Open(os.DevNull)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, input.Close()) }()
	p, err := StartProcess(context.Background(), Job{Unconfined: true}, []*os.File{input})
	if err != nil {
		return "", err
	}
	pid := p.cmd.Process.Pid
	fact, err := p.Next()
	if err != nil || fact.Ended == nil {
		return "", errors.Join(err, p.Close())
	}
	if err := p.Close(); err != nil {
		return "", err
	}
	if err := awaitEmptyGroup(pid); err != nil {
		return "", err
	}
	return fact.Ended.Failed, nil
}

// awaitEmptyGroup waits until the kernel has buried all of a process group.
func awaitEmptyGroup(group int) error {
	for begin := time.Now(); time.Since(begin) < 10*time.Second; runtime.Gosched() {
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			return err
		}
		lives := slices.ContainsFunc(stats, func(path string) bool {
			text, err := os.ReadFile(path)
			if err != nil {
				return false
			}
			fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
			return string(fields[2]) == fmt.Sprint(group) && string(fields[0]) != "Z"
		})
		if !lives {
			return nil
		}
	}
	return errors.New("what the reader started is still there")
}

// TestOrphanDoesNotHoldItsParent: a process that an unconfined reader left behind, outside of its group and with its
// pipes, keeps its parent neither from learning the end nor from closing.
func TestOrphanDoesNotHoldItsParent(t *testing.T) {
	defer func(before string) { command = before }(command)
	command = "taken-over:free:stray"
	p, err := StartProcess(context.Background(), Job{Unconfined: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fact, err := p.Next()
	if err != nil || fact.Ended == nil {
		t.Fatal(fact, err)
	}
	stray, err := strconv.Atoi(fact.Ended.Failed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Kill(stray, unix.SIGKILL) }()
	go p.killReader(endTime) // as its watch does when nothing comes any more
	var ended *Ended
	if _, err := p.Next(); !errors.As(err, &ended) || ended.Why != endTime {
		t.Errorf("%v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := unix.Kill(stray, 0); err != nil {
		t.Errorf("the orphan did not stay, nothing was tested: %v", err)
	}
}

// runShare is a reader that fills memory of one kind for ever.
func runShare() {
	exitOnError((&frameWriter{w: os.Stdout}).writeJSON(factReady, Confinement{Seccomp: true}))
	for {
		_, err := unix.Mmap(
			-1,
			0,
			8<<20,
			unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_SHARED|unix.MAP_ANONYMOUS|unix.MAP_POPULATE,
		)
		exitOnError(err)
	}
}

// TestSharedMemoryCounts: a reader that holds its memory as shared memory ends like one that holds it as its own.
func TestSharedMemoryCounts(t *testing.T) {
	gatetest.Needs(t, gatetest.Processes)
	defer func(before string) { command = before }(command)
	command = "share"
	p, err := StartProcess(context.Background(), Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ended *Ended
	if _, err := p.Next(); !errors.As(err, &ended) || ended.Why != endMemory {
		t.Errorf("%v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestMappedFilesDoNotCount: a file that is larger than a reader's memory is read by one reader, also from a file
// system in memory, whose pages the kernel counts as shared.
func TestMappedFilesDoNotCount(t *testing.T) {
	gatetest.Needs(t, gatetest.Processes)
	row := []byte("maria.da.silva@exemplo.com:segr\n") // 32 bytes
	for _, folder := range []string{t.TempDir(), "/dev/shm"} {
		path := filepath.Join(folder, "mapped.txt")
		defer func() { _ = os.Remove(path) }()
		if err := os.WriteFile(path, bytes.Repeat(row, (Memory+64<<20)/len(row)), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := StartProcess(context.Background(), Job{Workers: 1, Span: 1 << 30, Piece: 1 << 20}, []*os.File{file})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.Read(Input{Name: "mapped.txt", File: 1}, nil, nil), p.FinishInputs()); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = p.Next()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", folder, err)
		}
		if err := errors.Join(p.Close(), file.Close()); err != nil {
			t.Error(err)
		}
	}
}

// nobody is the user that is not root in this test.
const nobody = 65534

// TestTakenOverReaderCannotEscape: code that runs in a reader behind its confinement reaches nothing beside it, as root
// and as another user, with and without Landlock. Without the filter some of it works, and without both all of it.
func TestTakenOverReaderCannotEscape(t *testing.T) {
	gatetest.Needs(t, gatetest.Processes)
	all := slices.Sorted(maps.Keys(escapes()))
	if len(all) != 10 {
		t.Fatalf("%d kinds of escapes", len(all))
	}
	users := []*syscall.Credential{nil}
	if os.Geteuid() == 0 {
		users = append(users, &syscall.Credential{Uid: nobody, Gid: nobody})
	}
	for _, user := range users {
		who := "as the user of the tests"
		if user != nil {
			who = "as another user"
		}
		cmd := exec.Command("/proc/self/exe", "parent-of-taken-over:whole,without Landlock,without seccomp,free")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
		var stderr bytes.Buffer
		cmd.Stderr, cmd.Dir = &stderr, "/"
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", who, err, stderr.String())
		}
		var worked map[string]map[string]string
		if err := json.Unmarshal(out, &worked); err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{"whole", "without Landlock"} {
			if len(worked[how]) > 0 {
				t.Errorf(
					"%s, confinement %s: %d of %d escapes worked, with the ways %v",
					who,
					how,
					len(worked[how]),
					len(all),
					worked[how],
				)
			}
		}
		// The control: what is tried does work where nothing keeps it from working.
		if len(worked["free"]) != len(all) {
			t.Errorf("%s, free: only %v of %v worked", who, worked["free"], all)
		}
		if len(worked["without seccomp"]) == 0 {
			t.Errorf("%s: without the filter nothing worked: the filter is not tested", who)
		}
		t.Logf("%s: %v", who, worked)
	}
}

// TestReaderWorksBehindTheFilter: threads, the collector, timers and all workers go on behind the filter.
func TestReaderWorksBehindTheFilter(t *testing.T) {
	for _, workers := range []int{1, 2, 6} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		row := "ana%07d@exemplo.com.br:senha%d\n"
		const rows = 50_000
		for i := range rows {
			_, _ = fmt.Fprintf(w, row, i, i) // to memory
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		p, err := StartProcess(context.Background(), Job{Workers: workers, Span: 1 << 20, Piece: 1 << 18}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Confinement.Seccomp {
			t.Errorf("%+v", p.Confinement)
		}
		input := Input{Name: "a.gz", Size: int64(packed.Len())}
		if err := errors.Join(p.Read(input, nil, bytes.NewReader(packed.Bytes())), p.FinishInputs()); err != nil {
			t.Fatal(err)
		}
		found := 0
		for err == nil {
			var f Fact
			if f, err = p.Next(); f.Batch != nil {
				err = errors.Join(err, DecodeBatch(f.Batch, func(*Sighting) { found++ }))
			}
		}
		if !errors.Is(err, io.EOF) || found != rows {
			t.Errorf("%d workers: %v, %d found", workers, err, found)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// runBusy is a reader whose runtime does what it may have to do at any time: many locked threads, collection while they
// run, faults that become panics, timers.
func runBusy() {
	defer time.NewTicker(time.Hour).Stop() // as runChild does
	if err := loadFilters(); err != nil ||
		!isFiltered() { // without limits of memory: threads of the C library take much
		fmt.Println("not filtered:", err)
		return
	}
	var all sync.WaitGroup
	var recovered atomic.Int64
	for range busyThreads {
		all.Go(func() {
			runtime.LockOSThread()
			defer func() {
				if recover() != nil {
					recovered.Add(1)
				}
			}()
			held := make([][]byte, 0, 64)
			for range cap(held) {
				held = append(held, make([]byte, 64<<10))
			}
			runtime.GC()
			<-time.After(time.Millisecond)
			var none *[1]byte
			none[0] = byte(len(held))
		})
	}
	all.Wait()
	fmt.Println(recovered.Load())
}

// busyThreads is more threads than the runtime has begun before the filter.
const busyThreads = 64

// TestRuntimeWorksBehindTheFilter: new threads, the collector, timers and signals to own threads work in a reader.
func TestRuntimeWorksBehindTheFilter(t *testing.T) {
	out, err := exec.Command("/proc/self/exe", "busy").CombinedOutput()
	if err != nil || string(out) != fmt.Sprintln(busyThreads) {
		t.Errorf("%v: %s", err, out)
	}
}
