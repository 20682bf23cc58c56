// Package keyset makes up the keys and the files that the benchmarks of password sets look up.
package keyset

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/segment"
)

// KeyAt is the i-th made-up key: a bijective mix of the counter, so keys of 64 bits never repeat.
func KeyAt(i uint64, w segment.Width) uint64 {
	x := i + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x ^ x>>31) >> (64 - uint(w))
}

// Probes returns keys in random order, half of them in the set.
func Probes(r *segment.Reader, count int) []uint64 {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]uint64, count)
	for i := range out {
		out[i] = rng.Uint64() & r.Width().MaxKey()
		if i%2 == 0 {
			out[i] = KeyAt(rng.Uint64N(r.Count()), r.Width())
		}
	}
	rng.Shuffle(count, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// ThreadTime is the processor time of this thread.
func ThreadTime() time.Duration {
	var u unix.Rusage
	load.Check(unix.Getrusage(unix.RUSAGE_THREAD, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// CountInSet looks every key up in the set.
func CountInSet(r *segment.Reader, keys []uint64) (n int) {
	for _, k := range keys {
		found, err := r.Contains(k)
		if err != nil {
			load.Check(err)
		}
		if found {
			n++
		}
	}
	return n
}

// WriteSet makes a set of the first n keys, which come in random order.
func WriteSet(path string, n int, width segment.Width) segment.Summary {
	w := load.Must(segment.Create(path, segment.Options{Width: width}))
	defer w.Abort()
	for i := range uint64(n) {
		load.Check(w.Add(KeyAt(i, width)))
	}
	return load.Must(w.Commit(context.Background()))
}

// Map maps a file.
func Map(path string) []byte {
	f := load.Must(os.Open(path))
	defer f.Close()
	return load.Must(unix.Mmap(int(f.Fd()), 0, int(load.Must(f.Stat()).Size()), unix.PROT_READ, unix.MAP_SHARED))
}

// PlainArray writes the keys of r as a sorted array of whole bytes and maps it.
func PlainArray(r *segment.Reader, path string) []byte {
	f := load.Must(os.Create(path))
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	width := int(r.Width()) / 8
	for k, err := range r.All() {
		load.Check(err)
		for i := width - 1; i >= 0; i-- {
			load.Check(out.WriteByte(byte(k >> (8 * i))))
		}
	}
	load.Check(out.Flush())
	return Map(path)
}

// CountInArray looks every key up in a sorted array by binary search.
func CountInArray(flat []byte, width int, keys []uint64) (n int) {
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

// WriteText writes lines as the public corpus has them: 40 upper-case digits, a colon, a count, carriage return and
// line feed.
func WriteText(r *segment.Reader, path string) {
	f := load.Must(os.Create(path))
	defer f.Close()
	const digits = "0123456789ABCDEF"
	rng := rand.NewPCG(7, 7)
	out := bufio.NewWriterSize(f, 1<<20)
	line := make([]byte, 40, 64)
	for k, err := range r.All() {
		load.Check(err)
		for i := range 10 {
			line[i] = digits[k>>(36-4*i)&15]
		}
		for i := 10; i < 40; i += 15 {
			x := rng.Uint64()
			for j := range 15 {
				line[i+j] = digits[x>>(4*j)&15]
			}
		}
		// One password in c is seen c times or more, which is near to how the public corpus is spread.
		line = append(line[:40], ':')
		line = strconv.AppendUint(line, ^uint64(0)/max(rng.Uint64(), 1<<40), 10)
		line = append(line, '\r', '\n')
		load.Must(out.Write(line))
	}
	load.Check(out.Flush())
}

// ImportText imports a text into a library of its own, as the product does.
func ImportText(ctx context.Context, dir, path string) {
	load.Check(os.MkdirAll(dir, 0o700))
	lib := load.Must(password.OpenLibrary(dir, time.Now))
	load.Must(lib.Import(ctx, password.Import{Algorithm: password.SHA1, Inputs: load.Must(password.Files(path)), Source: "made up"}))
}
