package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/bench/keyset"
	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/segment"
)

// lookUps compares the set with binary search over a mapped array, on the same probes, in alternating rounds, and takes
// the best of each. It counts the processor time of its thread: what one core does, even when other work shares the
// machine.
func lookUps(r *segment.Reader) {
	flat := keyset.PlainArray(r, filepath.Join(*dir, "keys.flat"))
	defer unix.Munmap(flat)
	keys, width := keyset.Probes(r, 4<<20), int(r.Width())/8
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var inSet, inFlat int
	side := func(found *int, count func() int) func() load.Result {
		return func() load.Result {
			began := keyset.ThreadTime()
			*found = count()
			return load.Result{Requests: len(keys), Elapsed: keyset.ThreadTime() - began}
		}
	}
	set := side(&inSet, func() int { return keyset.CountInSet(r, keys) })
	plain := side(&inFlat, func() int { return keyset.CountInArray(flat, width, keys) })
	load.Turns(1, set, plain) // warms the page cache and checks each page's checksum
	took := load.Turns(5, set, plain)
	if inSet != inFlat {
		load.Fail("the set finds %d keys, the plain array %d", inSet, inFlat)
	}
	ours, theirs := took[0].Best().Rate(), took[1].Best().Rate()
	fmt.Printf("look-up, one core, half present: set %.0f ns, plain array with binary search %.0f ns\n", 1e9/ours, 1e9/theirs)
	if width == 5 {
		floor("million look-ups a second", ours/1e6, 2.5)
	}
	floor("times the plain array's look-ups a second", ours/theirs, 2)
	limit(width == 5 && r.Count() > 99_000_000, "per cent of the plain array's size", 100*float64(r.Size())/float64(len(flat)), 45)
}

// coldPages drops a file from the page cache, makes look-ups and counts the pages that are resident afterwards. Pages
// that are mapped stay in the cache, so this takes a copy that nobody has mapped.
func coldPages(r *segment.Reader) {
	path := filepath.Join(*dir, "keys.cold")
	load.Check(exec.Command("cp", setPath(), path).Run())
	cold := load.Must(segment.Open(path))
	defer cold.Close()
	f := load.Must(os.OpenFile(path, os.O_RDWR, 0))
	defer f.Close()
	load.Check(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	before := resident(path)
	keys := keyset.Probes(r, 500)
	for _, k := range keys {
		load.Must(cold.Contains(k))
	}
	brought := resident(path) - before
	fmt.Printf("cold: %d look-ups brought in %d pages of 4 KiB (%d were left from before)\n", len(keys), brought, before)
	limit(true, "pages read by a cold look-up", float64(brought)/float64(len(keys)), 2)
}

// resident asks the kernel how many pages of a file are in its cache.
func resident(path string) (pages int) {
	data := keyset.Map(path)
	defer unix.Munmap(data)
	in := make([]byte, (len(data)+4095)/4096)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(unsafe.Pointer(&in[0])))
	if errno != 0 {
		load.Check(errno)
	}
	for _, b := range in {
		pages += int(b & 1)
	}
	return pages
}

// sortedProbes times one watched value for every ten keys, in order.
func sortedProbes(r *segment.Reader) {
	keys := keyset.Probes(r, int(r.Count()/10))
	slices.Sort(keys)
	began := time.Now()
	hits := load.Must(r.Intersect(make([]uint64, 0, len(keys)), keys))
	took := time.Since(began).Seconds()
	fmt.Printf("sorted probes: %d against %d keys in %.2f s, %d found\n", len(keys), r.Count(), took, len(hits))
	limit(r.Count() > 99_000_000, "seconds for ten million sorted probes on one core", took, 20)
}

// textImport writes the keys as a sorted text of hashes and counts, and compares importing it with counting its lines.
// The import runs in a process of its own, so that its memory can be told.
func textImport(r *segment.Reader) {
	path := filepath.Join(*dir, "hashes.txt")
	keyset.WriteText(r, path)
	size, memory := int(load.Must(os.Stat(path)).Size()), 0
	count := func() load.Result {
		return load.Time(size, func() { load.Must(exec.Command("wc", "-l", path).Output()) })
	}
	count() // warms the page cache
	took := load.Turns(2, count, func() load.Result {
		return load.Time(size, func() {
			kib := load.Must(strconv.Atoi(strings.TrimSpace(string(load.Must(load.Self("-import", path, "-dir", *dir).Output())))))
			memory = max(memory, kib)
		})
	})
	total := func(r load.Rounds) float64 { return (r[0].Elapsed + r[1].Elapsed).Seconds() }
	rate := func(r load.Rounds) float64 { return 2 * float64(size) / total(r) / 1e6 }
	fmt.Printf("import of %d bytes of sorted text: %.0f MB/s, wc -l %.0f MB/s\n", size, rate(took[1]), rate(took[0]))
	floor("per cent of wc -l", 100*total(took[0])/total(took[1]), 20)
	limit(true, "MiB of memory of the import", float64(memory)/1024, 300)
}
