package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/vigiahq/vigia/bench/keyset"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/segment"
)

// textImport writes the keys as a sorted text of hashes and counts, and compares importing it with counting its lines.
// The import runs in a process of its own, so that its memory can be told.
func textImport(r *segment.Reader, dir string) error {
	path := filepath.Join(dir, "hashes.txt")
	if err := keyset.WriteText(r, path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var counting, importing time.Duration
	memory := 0
	const rounds = 2
	for round := range rounds + 1 {
		took, _, err := timed(exec.Command("wc", "-l", path))
		if err != nil {
			return err
		}
		if round == 0 { // warms the page cache
			continue
		}
		counting += took
		took, peak, err := timed(exec.Command(self, "-import", path, "-dir", dir))
		if err != nil {
			return err
		}
		importing += took
		var kib int
		if _, err := fmt.Sscanf(peak, "VmHWM: %d kB", &kib); err != nil {
			return err
		}
		memory = max(memory, kib)
	}
	rate := func(d time.Duration) float64 { return rounds * float64(info.Size()) / d.Seconds() / 1e6 }
	fmt.Printf("import of %d bytes of sorted text: %.0f MB/s, wc -l %.0f MB/s\n", info.Size(), rate(importing), rate(counting))
	floor("per cent of wc -l", 100*counting.Seconds()/importing.Seconds(), 20)
	limit(true, "MiB of memory of the import", float64(memory)/1024, 300)
	return nil
}

// timed runs a command and returns how long it took and what it printed.
func timed(c *exec.Cmd) (time.Duration, string, error) {
	c.Stderr = os.Stderr
	began := time.Now()
	out, err := c.Output()
	if err != nil {
		return 0, "", fmt.Errorf("%s: %w", c.Path, err)
	}
	return time.Since(began), string(out), nil
}

// importText is what the child process does. It prints the most memory it had.
func importText(path, dir string) error {
	corpora, err := os.MkdirTemp(dir, "corpora-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(corpora)
	lib, err := password.OpenLibrary(corpora, time.Now)
	if err != nil {
		return err
	}
	inputs, err := password.Files(path)
	if err != nil {
		return err
	}
	if _, err := lib.Import(context.Background(), password.Import{Algorithm: password.SHA1, Inputs: inputs, Source: "made up"}); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Print(line)
		}
	}
	return nil
}
