package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/bench/keyset"
	"github.com/vigiahq/vigia/internal/segment"
)

const probeCount = 4 << 20

// lookUps compares the set with binary search over a mapped array, on the same probes, in alternating rounds, and takes
// the best of each. It counts the processor time of its thread: what one core does, even when other work shares the
// machine.
func lookUps(r *segment.Reader, dir string) error {
	flat, err := keyset.PlainArray(r, filepath.Join(dir, "keys.flat"))
	if err != nil {
		return err
	}
	defer unix.Munmap(flat)
	keys := keyset.Probes(r, probeCount)
	width := int(r.Width()) / 8
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, plain time.Duration // of the best round
	const rounds = 5
	for round := range rounds + 1 {
		began := keyset.ThreadTime()
		inSet, err := keyset.CountInSet(r, keys)
		if err != nil {
			return err
		}
		tookSet := keyset.ThreadTime() - began
		began = keyset.ThreadTime()
		inFlat := keyset.CountInArray(flat, width, keys)
		tookFlat := keyset.ThreadTime() - began
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
	keys := keyset.Probes(r, 500)
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
	keys := keyset.Probes(r, int(r.Count()/10))
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
