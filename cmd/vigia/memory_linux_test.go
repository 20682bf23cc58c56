package main

import (
	"context"
	"io"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vigiahq/vigia/internal/platform/config"
)

// TestServeHidesItsMemory: a server leaves no core, and other processes of its user do not read its memory.
func TestServeHidesItsMemory(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it ends before it serves
	_ = (&serveCmd{}).Run(ctx, &config.Common{Data: t.TempDir()}, &output{w: io.Discard, err: io.Discard})
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || dumpable != 0 {
		t.Error("the memory can be read:", dumpable, err)
	}
	var core unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil || core.Cur != 0 || core.Max != 0 {
		t.Error("a core would be written:", core, err)
	}
}
