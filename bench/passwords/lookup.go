package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"vigia/internal/segment"
)

const probeCount = 4 << 20

// probes returns keys in random order, half of them in the set.
func probes(r *segment.Reader, count int) []uint64 {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]uint64, count)
	for i := range out {
		out[i] = rng.Uint64() & r.Width().MaxKey()
		if i%2 == 0 {
			out[i] = keyAt(rng.Uint64N(r.Count()), r.Width())
		}
	}
	rng.Shuffle(count, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// lookUps compares the set with binary search over a mapped array, on the same probes, in alternating rounds, and takes the
// best of each. It counts the processor time of its thread: what one core does, even when other work shares the machine.
func lookUps(r *segment.Reader, dir string) error {
	flat, err := plainArray(r, filepath.Join(dir, "keys.flat"))
	if err != nil {
		return err
	}
	defer unix.Munmap(flat)
	keys := probes(r, probeCount)
	width := int(r.Width()) / 8
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, plain time.Duration // of the best round
	const rounds = 5
	for round := range rounds + 1 {
		began := threadTime()
		inSet, err := countInSet(r, keys)
		if err != nil {
			return err
		}
		tookSet := threadTime() - began
		began = threadTime()
		inFlat := countInArray(flat, width, keys)
		tookFlat := threadTime() - began
		if inSet != inFlat {
			return fmt.Errorf("the set finds %d keys, the plain array %d", inSet, inFlat)
		}
		if round <= 1 { // the round before the first warms the page cache and checks each page's checksum
			set, plain = tookSet, tookFlat
		}
		set, plain = min(set, tookSet), min(plain, tookFlat)
	}
	perSecond := float64(len(keys)) / set.Seconds()
	fmt.Printf("look-up, one core, half present: set %.0f ns, plain array with binary search %.0f ns\n",
		1e9/perSecond, plain.Seconds()*1e9/float64(len(keys)))
	if width == 5 {
		floor("million look-ups a second", perSecond/1e6, 2.5)
	}
	floor("times the plain array's look-ups a second", plain.Seconds()/set.Seconds(), 2)
	limit(width == 5 && r.Count() > 99_000_000, "per cent of the plain array's size", 100*float64(r.Size())/float64(len(flat)), 45)
	return nil
}

func threadTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err) // only a wrong argument can fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func countInSet(r *segment.Reader, keys []uint64) (n int, err error) {
	for _, k := range keys {
		found, err := r.Contains(k)
		if err != nil {
			return 0, err
		}
		if found {
			n++
		}
	}
	return n, nil
}

// plainArray writes the keys of r as a sorted array of whole bytes and maps it.
func plainArray(r *segment.Reader, path string) ([]byte, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	width := int(r.Width()) / 8
	for k, err := range r.All() {
		if err != nil {
			return nil, err
		}
		for i := width - 1; i >= 0; i-- {
			if err := out.WriteByte(byte(k >> (8 * i))); err != nil {
				return nil, err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	return unix.Mmap(int(f.Fd()), 0, int(r.Count())*width, unix.PROT_READ, unix.MAP_SHARED)
}

func countInArray(flat []byte, width int, keys []uint64) (n int) {
	for _, k := range keys {
		lo, hi := 0, len(flat)/width
		for lo < hi {
			mid := int(uint(lo+hi) >> 1)
			if bigEndian(flat[mid*width:], width) < k {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo*width < len(flat) && bigEndian(flat[lo*width:], width) == k {
			n++
		}
	}
	return n
}

func bigEndian(b []byte, width int) (k uint64) {
	if width == 5 {
		_ = b[4]
		return uint64(b[0])<<32 | uint64(b[1])<<24 | uint64(b[2])<<16 | uint64(b[3])<<8 | uint64(b[4])
	}
	for _, c := range b[:width] {
		k = k<<8 | uint64(c)
	}
	return k
}

// coldPages drops the file from the page cache, makes look-ups and counts the pages that are resident afterwards.
func coldPages(r *segment.Reader, dir string) error {
	// Pages that are mapped stay in the cache, so this takes a copy that nobody has mapped.
	path := filepath.Join(dir, "keys.cold")
	if err := copyFile(filepath.Join(dir, "keys.seg"), path); err != nil {
		return err
	}
	cold, err := segment.Open(path)
	if err != nil {
		return err
	}
	defer cold.Close()
	if err := dropFromCache(path); err != nil {
		return err
	}
	before, err := resident(path)
	if err != nil {
		return err
	}
	keys := probes(r, 500)
	for _, k := range keys {
		if _, err := cold.Contains(k); err != nil {
			return err
		}
	}
	after, err := resident(path)
	if err != nil {
		return err
	}
	each := float64(after-before) / float64(len(keys))
	fmt.Printf("cold: %d look-ups brought in %d pages of 4 KiB (%d were left from before)\n", len(keys), after-before, before)
	limit(true, "pages read by a cold look-up", each, 2)
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func dropFromCache(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// resident counts the pages of the file in the page cache.
func resident(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	defer unix.Munmap(data)
	return countResident(data)
}

// sortedProbes times one watched value for every ten keys, in order.
func sortedProbes(r *segment.Reader, _ string) error {
	keys := probes(r, int(r.Count()/10))
	slices.Sort(keys)
	began := time.Now()
	hits, err := r.Intersect(make([]uint64, 0, len(keys)), keys)
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Printf("sorted probes: %d against %d keys in %.2f s, %d found\n", len(keys), r.Count(), took.Seconds(), len(hits))
	limit(r.Count() > 99_000_000, "seconds for ten million sorted probes on one core", took.Seconds(), 20)
	return nil
}
