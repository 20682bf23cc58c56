package reader

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	llsyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confineProcess gives up all rights but to what is open. The order matters: the filter refuses the calls that the
// steps before it need.
func confineProcess(omit omitted) (c Confinement) {
	// Without any rule nothing is allowed: no path, no port, no signal to others. It sets no_new_privs for all threads.
	if !omit.landlock {
		if err := landlock.V11.BestEffort().Restrict(); err == nil {
			c.Landlock, _ = llsyscall.LandlockGetABIVersion() // 0 where there is none
		}
	}
	limitResources(&c)
	limitThreads()
	if !omit.seccomp {
		c.Seccomp = loadFilters() == nil && isFiltered()
	}
	status, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	c.NoNewPrivileges = c.Seccomp || err == nil && status == 1
	return c
}

// HasConfinement reports whether the kernel has Landlock or seccomp filters. A reader that starts says whether it could
// use them.
func HasConfinement() bool {
	version, err := llsyscall.LandlockGetABIVersion()
	return err == nil && version > 0 || seccomp.Supported()
}

// allowedCalls are the system calls that Go's runtime and the C library's threads need, and those that read open files.
// Each of filteredCalls is restricted further.
var allowedCalls = []string{
	"read", "pread64", "write", "close", "fstat", "lseek", "fcntl",
	"mmap", "munmap", "mprotect", "madvise", "brk",
	"clone", "futex", "sched_yield", "sched_getaffinity", "set_robust_list", "rseq", "prlimit64",
	"nanosleep", "clock_nanosleep", "clock_gettime", "restart_syscall",
	"getpid", "gettid", "tgkill", "sigaltstack", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
	"epoll_ctl", "epoll_pwait", "getrandom", "exit", "exit_group",
}

// threadFlags are the flags with which Go and the C library start threads.
const threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD |
	unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID

// filteredCalls says with which arguments an allowed call is refused: those where one of the conditions holds.
func filteredCalls() map[string][]seccomp.Condition {
	const second, third, fourth = 1, 2, 3 // arguments count from 0
	return map[string][]seccomp.Condition{
		// No process but threads of this one, in no namespace of its own.
		"clone": {
			{Operation: seccomp.BitsNotSet, Value: unix.CLONE_THREAD},
			{Operation: seccomp.BitsSet, Value: ^uint64(threadFlags)},
		},
		// No memory that outlives the process or that its parent does not see, and none that is code. MAP_SHARED is a
		// bit of MAP_SHARED_VALIDATE too.
		"mmap": {
			{Argument: fourth, Operation: seccomp.BitsSet, Value: unix.MAP_SHARED | unix.MAP_HUGETLB | unix.MAP_LOCKED},
			{Argument: third, Operation: seccomp.BitsSet, Value: unix.PROT_EXEC},
		},
		"mprotect": {{Argument: third, Operation: seccomp.BitsSet, Value: unix.PROT_EXEC}},
		// Signals go to its own threads only.
		"tgkill": {{Operation: seccomp.NotEqual, Value: uint64(os.Getpid())}},
		// Its own limits can be read.
		"prlimit64": {
			{Operation: seccomp.NotEqual, Value: 0},
			{Argument: third, Operation: seccomp.NotEqual, Value: 0},
		},
		// A pipe's owner is sent signals: see F_SETOWN.
		"fcntl": {{Argument: second, Operation: seccomp.NotEqual, Value: unix.F_GETFL}},
	}
}

// loadFilters has the kernel refuse all calls but the allowed ones, for every thread.
//
// A call with conditions has a filter of its own: go-seccomp-bpf 1.6.0 compares the argument that did not meet a
// condition, and not the number of the call, with the calls behind it in the same filter. clone with the flags 9 was
// mmap to it, and so allowed. A call has to pass all filters.
func loadFilters() error {
	runtime.LockOSThread() // no_new_privs is the thread's, until the filter brings it to all of them
	defer runtime.UnlockOSThread()
	policies := make([]seccomp.Policy, 0, 1+len(filteredCalls()))
	for name, refused := range filteredCalls() {
		group := seccomp.SyscallGroup{Action: seccomp.ActionErrno}
		for _, condition := range refused {
			group.NamesWithCondtions = append(group.NamesWithCondtions, seccomp.NameWithConditions{
				Name:       name,
				Conditions: seccomp.ArgumentConditions{condition},
			})
		}
		policies = append(policies, seccomp.Policy{
			DefaultAction: seccomp.ActionAllow,
			Syscalls:      []seccomp.SyscallGroup{group},
		})
	}
	policies = append(policies, seccomp.Policy{ // the last one, as it refuses to load another
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: allowedCalls},
			// The C library starts threads by clone only where it is told that there is no clone3, whose flags no
			// filter sees.
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
		},
	})
	for _, policy := range policies {
		filter := seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: policy}
		if err := seccomp.LoadFilter(filter); err != nil {
			return err
		}
	}
	return nil
}

// isFiltered reports whether a harmless call that is not allowed is refused. Loading alone does not say so: the library
// takes the number of a thread that could not be synchronised for success.
func isFiltered() bool {
	_, err := unix.Getpgid(0)
	return errors.Is(err, unix.EPERM)
}

// measureUsage returns what a process holds and has used. Pages of files that it mapped do not count: they are the
// system's to take back.
func measureUsage(pid int) (u usage, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return usage{}, false
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) == 2 && string(fields[0]) == "Threads:" {
			u.threads, _ = strconv.ParseInt(string(fields[1]), 10, 64)
		}
		if len(fields) != 3 {
			continue
		}
		kib, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		switch string(fields[0]) {
		case "RssAnon:", "HugetlbPages:":
			u.own += kib << 10
		case "VmPTE:":
			u.tables = kib << 10
		case "VmSize:":
			u.addresses = kib << 10
		case "RssShmem:":
			u.shared += kib << 10
		}
	}
	text, err = os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < 13 {
		return usage{}, false
	}
	const tick = time.Second / 100 // USER_HZ is the same on all platforms that Go has
	user, _ := strconv.ParseInt(string(fields[11]), 10, 64)
	system, _ := strconv.ParseInt(string(fields[12]), 10, 64)
	u.cpu = time.Duration(user+system) * tick
	return u, true
}

// limitAddresses bounds the address space of a process that was started, before it is given anything to read.
func limitAddresses(pid int, most int64) {
	limit := unix.Rlimit{Cur: uint64(most), Max: uint64(most)}
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &limit, nil) // where it is refused, page tables are watched all the same
}

// limitThreads bounds the threads of this process by those of its user, which are no more than all there are now. The
// parent watches how many there are; this holds while it does not look.
func limitThreads() {
	var now unix.Sysinfo_t
	if unix.Sysinfo(&now) == nil {
		most := uint64(now.Procs) + 4*mostThreads
		_ = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most})
	}
}

// awaitExit waits until a child has ended and leaves it as it is, so that its number stays its own. It reports false
// when it cannot say: the child was waited for before.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// executable returns a path to the running program.
func executable() (string, error) { return "/proc/self/exe", nil } // also when an upgrade has replaced the file

// widenPipe lets a pipe hold several batches, so that neither side waits for the other at each.
func widenPipe(pipe any) {
	if f, ok := pipe.(*os.File); ok {
		if raw, err := f.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) }) // as it is will do
		}
	}
}

// populatePages has the system map pages of a file at once, which takes less time than a page fault for each few of
// them. Those that it cannot map are faulted in when they are read.
func populatePages(text []byte) { _ = unix.Madvise(text, unix.MADV_POPULATE_READ) }
