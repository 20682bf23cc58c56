package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/bench/dump"
	"github.com/vigiahq/vigia/bench/keyset"
	"github.com/vigiahq/vigia/internal/password"
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
	find   func(context.Context, uint64) (int, error) // in the table
	probes []uint64
}

func passwords(ctx context.Context, r *report, folder string) (_ []group, err error) {
	r.Versions["look"] = version("look", "--version")
	g := group{Name: "passwords", Title: figure(float64(r.Options.Passwords)) + " breached passwords", Sides: []string{us, arraySide, textSide, lookSide, tableSide}}
	s, build, size, err := makeSets(ctx, r, folder)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, s.table.Close(), s.reader.Close(), unix.Munmap(s.flat), unix.Munmap(s.text))
	}()
	speed := measure{What: "look up, half are there", Unit: "a second of CPU"}
	want := map[int]int{}
	err = rounds(r.Options.Rounds, &speed, g.Sides, func(side string) (float64, error) {
		probes := s.probes
		switch side {
		case tableSide:
			probes = probes[:len(probes)/10]
		case lookSide:
			probes = probes[:200]
		}
		runtime.GC()
		began := dump.CPU()
		n, err := s.count(ctx, side, probes)
		took := dump.CPU() - began
		if err != nil {
			return 0, err
		}
		if _, ok := want[len(probes)]; !ok {
			if want[len(probes)], err = keyset.CountInSet(s.reader, probes); err != nil {
				return 0, err
			}
		}
		if n != want[len(probes)] {
			return 0, fmt.Errorf("found %d of %d, the set has %d", n, len(probes), want[len(probes)])
		}
		return float64(len(probes)) / took.Seconds(), nil
	})
	if err != nil {
		return nil, err
	}
	g.Measures = []measure{speed, size, build}
	return []group{g}, nil
}

// makeSets writes sorted text, as the public corpus is, and makes the others from it: ours by importing it.
func makeSets(ctx context.Context, r *report, folder string) (s sets, build, size measure, err error) {
	build = measure{What: "make it from sorted text", Unit: "s", Lower: true, Values: map[string]float64{}}
	size = measure{What: "size", Unit: "bytes a password", Lower: true, Values: map[string]float64{}}
	seg := filepath.Join(folder, "keys.seg")
	w, err := segment.Create(seg, segment.Options{Width: segment.Bits40})
	if err != nil {
		return s, build, size, err
	}
	defer w.Abort()
	for i := range uint64(r.Options.Passwords) {
		if err := w.Add(keyset.KeyAt(i, segment.Bits40)); err != nil {
			return s, build, size, err
		}
	}
	if _, err = w.Commit(ctx); err != nil {
		return s, build, size, err
	}
	if s.reader, err = segment.Open(seg); err != nil {
		return s, build, size, err
	}
	s.probes = keyset.Probes(s.reader, 1<<20)
	s.path = filepath.Join(folder, "hashes.txt")
	if err = keyset.WriteText(s.reader, s.path); err != nil {
		return s, build, size, err
	}
	count := float64(s.reader.Count())
	steps := []struct {
		side string
		make func() (bytes int64, err error)
	}{
		{us, func() (int64, error) { return importText(ctx, folder, s.path) }},
		{arraySide, func() (_ int64, err error) {
			s.flat, err = keyset.PlainArray(s.reader, filepath.Join(folder, "keys.flat"))
			return int64(len(s.flat)), err
		}},
		{textSide, func() (_ int64, err error) { s.text, err = mapped(s.path); return int64(len(s.text)), err }},
		{tableSide, func() (int64, error) { return s.fillTable(ctx, folder) }},
	}
	for _, step := range steps {
		began := time.Now()
		n, err := step.make()
		if err != nil {
			return s, build, size, fmt.Errorf("%s: %w", step.side, err)
		}
		size.Values[step.side] = float64(n) / count
		if step.side != textSide && step.side != arraySide { // the text is there already, and the array is made from the set
			build.Values[step.side] = time.Since(began).Seconds()
		}
	}
	return s, build, size, nil
}

// importText is the product's own import. Its folder has what a server needs, which is more than the others have: see
// README.md.
func importText(ctx context.Context, folder, path string) (int64, error) {
	dir := filepath.Join(folder, "library")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	lib, err := password.OpenLibrary(dir, time.Now)
	if err != nil {
		return 0, err
	}
	inputs, err := password.Files(path)
	if err != nil {
		return 0, err
	}
	if _, err := lib.Import(ctx, password.Import{Algorithm: password.SHA1, Inputs: inputs, Source: "made up"}); err != nil {
		return 0, err
	}
	return folderSize(dir)
}

func mapped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
}

// fillTable loads the table as one would who knows SQLite: in order, in one transaction, with nothing in a row but the
// key.
func (s *sets) fillTable(ctx context.Context, folder string) (_ int64, err error) {
	path := filepath.Join(folder, "table")
	if err := os.Mkdir(path, 0o700); err != nil {
		return 0, err
	}
	file := filepath.Join(path, "passwords.db")
	if s.table, err = sqldb.Open(ctx, file, sqldb.Options{StatementTimeout: time.Hour}); err != nil {
		return 0, err
	}
	err = s.table.InTx(ctx, func(tx *sqldb.Tx) error {
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
	})
	if err != nil {
		return 0, err
	}
	// Closing empties the log into the table, so that the size is the table's.
	if err := s.table.Close(); err != nil {
		return 0, err
	}
	if s.table, err = sqldb.Open(ctx, file, sqldb.Options{}); err != nil {
		return 0, err
	}
	find, err := s.table.Reader().PrepareContext(ctx, `SELECT count(*) FROM breached WHERE hash = $1`)
	if err != nil {
		return 0, err
	}
	s.find = func(ctx context.Context, k uint64) (n int, err error) {
		err = find.QueryRowContext(ctx, int64(k)).Scan(&n)
		return n, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func hexKey(line []byte) (k uint64) {
	for _, c := range line[:2*keyBytes] {
		k = k<<4 | uint64(bytes.IndexByte([]byte(hexDigits), c))
	}
	return k
}

func (s *sets) count(ctx context.Context, side string, probes []uint64) (n int, err error) {
	switch side {
	case us:
		return keyset.CountInSet(s.reader, probes)
	case arraySide:
		return keyset.CountInArray(s.flat, keyBytes, probes), nil
	case textSide:
		for _, k := range probes {
			if searchText(s.text, hexText(k)) {
				n++
			}
		}
	case lookSide:
		for _, k := range probes {
			if exec.Command("look", string(hexText(k)), s.path).Run() == nil {
				n++
			}
		}
	case tableSide:
		for _, k := range probes {
			one, err := s.find(ctx, k)
			if err != nil {
				return n, err
			}
			n += one
		}
	}
	return n, nil
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
