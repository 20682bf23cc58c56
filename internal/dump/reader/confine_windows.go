package reader

import (
	"os"
	"os/exec"
)

// limitResources does nothing: Windows has no resource limits of this kind.
func limitResources(*Confinement) {}

// mapWholeFile maps nothing: no files are handed over on Windows.
func mapWholeFile(*os.File) []byte { return nil }

func unmapFile([]byte) {}

// startInGroup does nothing: a reader on Windows is ended alone.
func startInGroup(*exec.Cmd) {}

// killGroup ends the process.
func killGroup(process *os.Process) error { return process.Kill() }
