package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/bench/site"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/segment"
	"github.com/vigiahq/vigia/internal/sqldb"
)

const (
	arraySide, textSide, lookSide, tableSide = "sorted 5-byte array", "sorted text", "look(1) on it", "SQLite table"
	keyBytes                                 = 5
	hexDigits                                = "0123456789ABCDEF"
)

// sets are the same made-up keys in every form.
type sets struct {
	reader     *segment.Reader
	flat, text []byte
	set, path  string                           // of the set and of the text
	has        map[string]func(key uint64) bool // by side
}

func passwords(ctx context.Context, r *report) {
	r.Versions["look"] = said("look", "--version")
	g := r.group("passwords", load.Figure(float64(*hashes))+" breached passwords", arraySide, textSide, lookSide, tableSide)
	s := makeSets(ctx)
	site.Bits("password set", s.reader, 16.6) // 41.5 % of the array
	s.coldPages()
	size, build := map[string]float64{arraySide: float64(len(s.flat)), textSide: float64(len(s.text))}, map[string]float64{}
	for side, step := range map[string]func() int64{
		us:        func() int64 { return importText(ctx, s.path) }, // more than the others have: see README.md
		tableSide: func() int64 { return s.fillTable(ctx, s.path+".db") },
	} {
		build[side] = load.Time(1, func() { size[side] = float64(step()) }).Elapsed.Seconds()
	}
	load.Compare("import of sorted text", "MB/s", load.Mega(load.Result.Rate),
		load.Timed("wc -l", 0, len(s.text), func() { site.Output(exec.Command("wc", "-l", s.path)) }),
		load.Timed(us, 0.2, len(s.text), func() { importText(ctx, s.path) }))
	memory := int64(number(load.Self("import", s.path)))
	load.Bar(memory < 300<<20, "import of sorted text: %d MiB of memory; less than 300", memory>>20)
	for side := range size {
		size[side] /= float64(s.reader.Count())
	}
	probes := s.probes(1 << 20)
	g.compare("look up, half are there", "a second of CPU", 2, load.Result.OfCPU, func(side string) load.Result {
		some := probes
		switch side {
		case tableSide:
			some = probes[:len(probes)/10]
		case lookSide:
			some = probes[:200]
		}
		runtime.GC()
		n, want := 0, s.count(us, some)
		took := load.Time(len(some), func() { n = s.count(side, some) })
		if n != want {
			load.Fail("%s: found %d of %d, the set has %d", side, n, len(some), want)
		}
		return took
	}, g.Sides[1:]...)
	rate := g.Measures[0].Values[us]
	load.Bar(rate >= 2.5e6, "look-ups: %.2f million a second of one core's time; at least 2.5 at 100 million", rate/1e6)
	g.add("size", "bytes a password", size)
	g.add("make it from sorted text", "s", build) // the array is made from the set
}

// key is the i-th made-up key of 40 bits: the first of them of a bijective mix of the counter.
func key(i uint64) uint64 {
	x := i + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x ^ x>>31) >> 24
}

// makeSets makes a set, the sorted array of its keys, and a text as the public corpus has it: 40 upper-case digits, a
// colon, a count, carriage return and line feed.
func makeSets(ctx context.Context) *sets {
	s := &sets{set: load.File("keys.seg"), path: load.File("hashes.txt")}
	s.reader = site.Segment(ctx, s.set, segment.Bits40, func(add func(key uint64)) {
		for i := range uint64(*hashes) {
			add(key(i))
		}
	})
	f := load.Must(os.Create(s.path))
	out, random := bufio.NewWriterSize(f, 1<<20), rand.NewPCG(7, 7)
	for k, err := range s.reader.AllKeys() {
		load.Check(err)
		s.flat = append(s.flat, byte(k>>32), byte(k>>24), byte(k>>16), byte(k>>8), byte(k))
		// One password in c is seen c times or more, which is near to how the public corpus is spread.
		load.Must(fmt.Fprintf(out, "%010X%015X%015X:%d\r\n", k, random.Uint64()>>4, random.Uint64()>>4, ^uint64(0)/max(random.Uint64(), 1<<40)))
	}
	load.Check(out.Flush(), f.Close())
	f = load.Must(os.Open(s.path))
	s.text = load.Must(unix.Mmap(int(f.Fd()), 0, int(site.Size(s.path)), unix.PROT_READ, unix.MAP_SHARED))
	load.Check(f.Close())
	s.has = map[string]func(key uint64) bool{
		us:        func(k uint64) bool { return load.Must(s.reader.Contains(k)) },
		arraySide: func(k uint64) bool { return searchArray(s.flat, k) },
		textSide:  func(k uint64) bool { return searchText(s.text, hexText(k)) },
		lookSide:  func(k uint64) bool { return exec.Command("look", string(hexText(k)), s.path).Run() == nil },
	}
	return s
}

// coldPages counts the pages that look-ups bring into memory. Pages that are mapped stay there, so it takes a copy that
// nobody has asked anything.
func (s *sets) coldPages() {
	path := s.set + ".cold"
	site.Output(exec.Command("cp", s.set, path))
	cold, f := site.OpenSegment(path), load.Must(os.OpenFile(path, os.O_RDWR, 0))
	defer func() { load.Check(f.Close()) }()
	load.Check(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	inMemory := func() float64 { return number(exec.Command("fincore", "--noheadings", "--output", "PAGES", path)) }
	before, asked := inMemory(), s.probes(500)
	for _, k := range asked {
		load.Must(cold.Contains(k))
	}
	pages := (inMemory() - before) / float64(len(asked))
	load.Bar(pages <= 2, "cold look-ups: %.2f pages of 4 KiB each; at most 2 (%.0f were left from before)", pages, before)
}

// probes are keys in random order, half of them in the set.
func (s *sets) probes(count int) []uint64 {
	random := rand.New(rand.NewPCG(1, 2))
	list := make([]uint64, count)
	for i := range list {
		if list[i] = random.Uint64() >> 24; random.IntN(2) == 0 {
			list[i] = key(random.Uint64N(s.reader.Count()))
		}
	}
	return list
}

// importText imports the text into a library of its own, as the product does, and tells its size.
func importText(ctx context.Context, path string) (bytes int64) {
	folder := load.Folder()
	lib := load.Must(password.OpenLibrary(folder, time.Now))
	from := password.Import{Algorithm: password.SHA1, Inputs: load.Must(password.ListInputs(path)), Source: "made up"}
	load.Must(lib.ImportCorpus(ctx, from))
	load.Check(filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			bytes += site.Size(path)
		}
		return err
	}))
	return bytes
}

// importAlone imports a text as a process of its own and says how much memory that took at most.
func importAlone(ctx context.Context) {
	importText(ctx, flag.Arg(0))
	fmt.Println(load.Memory("self", "VmHWM"))
}

// fillTable loads the table as one would who knows SQLite: in order, in one transaction, with nothing in a row but the
// key.
func (s *sets) fillTable(ctx context.Context, file string) int64 {
	table := load.Must(sqldb.OpenDatabase(ctx, file, sqldb.Options{StatementTimeout: time.Hour}))
	site.Exec(ctx, table, `CREATE TABLE breached (hash INTEGER PRIMARY KEY)`)
	at, row := 0, make([]any, 1)
	load.Check(table.InTransaction(ctx, func(tx *sqldb.Tx) error {
		return site.LoadInto(ctx, tx, "breached", "hash", 1, int64(s.reader.Count()), func(int64) ([]any, error) {
			row[0] = int64(hexKey(s.text[at:]))
			at += bytes.IndexByte(s.text[at:], '\n') + 1
			return row, nil
		})
	}))
	load.Check(table.Close()) // empties the log into the table, so that the size is the table's
	table = load.Must(sqldb.OpenDatabase(ctx, file, sqldb.Options{}))
	load.Defer(func() { load.Check(table.Close()) })
	find := load.Must(table.ReadPool().PrepareContext(ctx, `SELECT count(*) FROM breached WHERE hash = $1`))
	s.has[tableSide] = func(k uint64) bool {
		var found int
		load.Check(find.QueryRowContext(ctx, int64(k)).Scan(&found))
		return found == 1
	}
	return site.Size(file)
}

// count looks every key up as a side does.
func (s *sets) count(side string, keys []uint64) (n int) {
	has := s.has[side]
	for _, k := range keys {
		if has(k) {
			n++
		}
	}
	return n
}

func searchArray(flat []byte, k uint64) bool {
	at := func(i int) uint64 {
		b := flat[i*keyBytes : i*keyBytes+keyBytes]
		return uint64(b[0])<<32 | uint64(b[1])<<24 | uint64(b[2])<<16 | uint64(b[3])<<8 | uint64(b[4])
	}
	i := sort.Search(len(flat)/keyBytes, func(i int) bool { return at(i) >= k })
	return i*keyBytes < len(flat) && at(i) == k
}

func hexKey(line []byte) uint64 {
	return load.Must(strconv.ParseUint(string(line[:2*keyBytes]), 16, 64))
}

func hexText(k uint64) []byte {
	text := make([]byte, 2*keyBytes)
	for i := range text {
		text[i] = hexDigits[k>>(4*(len(text)-1-i))&15]
	}
	return text
}

// searchText looks for a line that begins with prefix, by binary search over the bytes: lines have no fixed length.
func searchText(text, prefix []byte) bool {
	lo, hi := 0, len(text) // lo is where a line begins
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		start := bytes.LastIndexByte(text[lo:mid], '\n') + 1 + lo
		if bytes.Compare(text[start:start+len(prefix)], prefix) >= 0 {
			hi = start
			continue
		}
		lo = start + bytes.IndexByte(text[start:], '\n') + 1
	}
	return lo < len(text) && bytes.HasPrefix(text[lo:], prefix)
}
