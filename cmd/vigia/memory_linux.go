package main

import "golang.org/x/sys/unix"

// hideMemory keeps the memory of this process, which holds the keys, out of cores and from other processes of its user.
// Where the system refuses, the server works all the same.
func hideMemory() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
