package seal

import "golang.org/x/sys/cpu"

// manyBlocks says that encryptAES may be called. A variable, for the test that compares both ways.
var manyBlocks = cpu.X86.HasAES

//go:noescape
func encryptAES(keys *[mostRounds + 1]words, rounds int, blocks *words, n int)
