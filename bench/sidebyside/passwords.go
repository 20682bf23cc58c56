package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/bench/keyset"
	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/segment"
	"github.com/vigiahq/vigia/internal/sqldb"
)

const (
	arraySide, textSide, lookSide, tableSide = "sorted 5-byte array", "sorted text", "look(1) on it", "SQLite table"
	keyBytes                                 = 5
	hexDigits                                = "0123456789ABCDEF"
)

// sets are the same keys in every form.
type sets struct {
	reader *segment.Reader
	flat   []byte
	text   []byte // mapped
	path   string // of the text
	table  *sqldb.DB
	find   func(uint64) (found int) // in the table
	probes []uint64
}

func passwords(ctx context.Context, r *report, folder string) []group {
	r.Versions["look"] = said("look", "--version")
	g := group{Name: "passwords", Title: figure(float64(r.Options.Passwords)) + " breached passwords", Sides: []string{us, arraySide, textSide, lookSide, tableSide}}
	s, build, size := makeSets(ctx, r, folder)
	speed := rounds(r.Options.Rounds, measure{What: "look up, half are there", Unit: "a second of CPU"}, g.Sides, func(side string) float64 {
		probes := s.probes
		switch side {
		case tableSide:
			probes = probes[:len(probes)/10]
		case lookSide:
			probes = probes[:200]
		}
		runtime.GC()
		n := 0
		took := load.Time(1, func() { n = s.count(side, probes) })
		if want := keyset.CountInSet(s.reader, probes); n != want {
			load.Fail("%s: found %d of %d, the set has %d", side, n, len(probes), want)
		}
		return float64(len(probes)) / took.Spent.Seconds()
	})
	load.Check(s.table.Close(), s.reader.Close(), unix.Munmap(s.flat), unix.Munmap(s.text))
	g.Measures = []measure{speed, size, build}
	return []group{g}
}

// makeSets writes sorted text, as the public corpus is, and makes the others from it: ours by importing it.
func makeSets(ctx context.Context, r *report, folder string) (s sets, build, size measure) {
	build = measure{What: "make it from sorted text", Unit: "s", Lower: true, Values: map[string]float64{}}
	size = measure{What: "size", Unit: "bytes a password", Lower: true, Values: map[string]float64{}}
	set := filepath.Join(folder, "keys.seg")
	keyset.WriteSet(set, r.Options.Passwords, segment.Bits40)
	s.reader = load.Must(segment.Open(set))
	s.probes = keyset.Probes(s.reader, 1<<20)
	s.path = filepath.Join(folder, "hashes.txt")
	keyset.WriteText(s.reader, s.path)
	for _, step := range []struct {
		side string
		make func() (bytes int64)
	}{
		// Ours has what a server needs, which is more than the others have: see README.md.
		{us, func() int64 {
			library := filepath.Join(folder, "library")
			keyset.ImportText(ctx, library, s.path)
			return folderSize(library)
		}},
		{arraySide, func() int64 {
			s.flat = keyset.PlainArray(s.reader, filepath.Join(folder, "keys.flat"))
			return int64(len(s.flat))
		}},
		{textSide, func() int64 { s.text = keyset.Map(s.path); return int64(len(s.text)) }},
		{tableSide, func() int64 { return s.fillTable(ctx, folder) }},
	} {
		var n int64
		took := load.Time(1, func() { n = step.make() })
		size.Values[step.side] = float64(n) / float64(s.reader.Count())
		if step.side != textSide && step.side != arraySide { // the text is there already, and the array is made from the set
			build.Values[step.side] = took.Elapsed.Seconds()
		}
	}
	return s, build, size
}

// fillTable loads the table as one would who knows SQLite: in order, in one transaction, with nothing in a row but the
// key.
func (s *sets) fillTable(ctx context.Context, folder string) int64 {
	file := filepath.Join(folder, "table", "passwords.db")
	load.Check(os.Mkdir(filepath.Dir(file), 0o700))
	table := load.Must(sqldb.Open(ctx, file, sqldb.Options{StatementTimeout: time.Hour}))
	load.Check(table.InTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.ExecContext(ctx, `CREATE TABLE breached (hash INTEGER PRIMARY KEY)`); err != nil {
			return err
		}
		at, row := 0, make([]any, 1)
		_, err := tx.Load(ctx, "breached", []string{"hash"}, func() ([]any, error) {
			if at >= len(s.text) {
				return nil, nil
			}
			row[0] = int64(hexKey(s.text[at:]))
			at += bytes.IndexByte(s.text[at:], '\n') + 1
			return row, nil
		})
		return err
	}))
	load.Check(table.Close()) // empties the log into the table, so that the size is the table's
	s.table = load.Must(sqldb.Open(ctx, file, sqldb.Options{}))
	find := load.Must(s.table.Reader().PrepareContext(ctx, `SELECT count(*) FROM breached WHERE hash = $1`))
	s.find = func(k uint64) (found int) {
		load.Check(find.QueryRowContext(ctx, int64(k)).Scan(&found))
		return found
	}
	return load.Must(os.Stat(file)).Size()
}

func hexKey(line []byte) (k uint64) {
	for _, c := range line[:2*keyBytes] {
		k = k<<4 | uint64(bytes.IndexByte([]byte(hexDigits), c))
	}
	return k
}

func (s *sets) count(side string, probes []uint64) (n int) {
	switch side {
	case us:
		return keyset.CountInSet(s.reader, probes)
	case arraySide:
		return keyset.CountInArray(s.flat, keyBytes, probes)
	}
	for _, k := range probes {
		found := 0
		switch {
		case side == tableSide:
			found = s.find(k)
		case side == textSide && searchText(s.text, hexText(k)), side == lookSide && exec.Command("look", string(hexText(k)), s.path).Run() == nil:
			found = 1
		}
		n += found
	}
	return n
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
