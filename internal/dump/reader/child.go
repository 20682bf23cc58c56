package reader

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/vigiahq/vigia/internal/dump/scan/stated"
)

// Every binary that imports this package can be its own reader: a command, a benchmark, the tests of a package.
func init() {
	if len(os.Args) == 2 && os.Args[1] == Command {
		os.Exit(runChild())
	}
}

// Confinement is what a reader was able to give up on this system.
type Confinement struct {
	// Landlock is the version of it, 0 when there is none: no file, no port.
	Landlock        int
	NoNewPrivileges bool
	// Seccomp says that the kernel refuses every system call that is not on a list.
	Seccomp bool
	// NoFiles says that nothing can be opened, be it a file or a socket; DataLimit that the system bounds the memory.
	NoFiles, DataLimit bool
	// Watched says that its parent can see its memory and processor time.
	Watched bool
}

// IsConfined reports whether the kernel keeps the reader from what is not its own. Limits of resources alone do not.
func (c Confinement) IsConfined() bool { return c.Landlock > 0 || c.Seccomp }

// omitted is what tests leave out of a confinement, to see that the rest holds.
type omitted struct{ landlock, seccomp bool }

// runChild is the main function of the reader process; it returns the exit code.
func runChild() int {
	debug.SetMemoryLimit(softMemory)
	// The runtime opens files of its own for the first timer, and must have done so.
	orders, tick := bufio.NewReaderSize(os.Stdin, 64<<10), time.NewTicker(progressEvery)
	c := &reading{
		out:      &frameWriter{w: os.Stdout},
		inputs:   make(chan Input),
		contents: make(chan []byte, 1),
		served:   make(chan []byte, 1),
	}
	kind, text, err := readFrame(orders, nil)
	if err == nil && kind == orderJob {
		err = json.Unmarshal(text, &c.job)
	}
	for i := range c.job.Files {
		c.files = append(c.files, os.NewFile(uintptr(firstFile+i), "input"))
	}
	confinement := confineProcess(omitted{})
	if err == nil && c.job.Mapping != nil {
		c.mapping = &stated.Mapping{}
		if *c.job.Mapping != "" {
			c.mapping, err = stated.ParseMapping([]byte(*c.job.Mapping))
		}
	}
	if err == nil {
		err = c.out.writeJSON(factReady, confinement)
	}
	if err == nil {
		go c.takeOrders(orders)
		go func() {
			for range tick.C {
				_ = c.out.writeJSON(factProgress, c.counters()) // without a parent the orders end too
			}
		}()
		err = c.readInputs()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "read-dump:", err)
		return 1
	}
	return 0
}

// exitOnError ends a reader that cannot tell what it finds: its parent is gone.
func exitOnError(err error) {
	if err != nil {
		os.Exit(1)
	}
}

// takeOrders hands on what the parent sends. When the parent is gone, or wants no more, nothing is worth going on with.
func (c *reading) takeOrders(orders *bufio.Reader) {
	for {
		kind, text, err := readFrame(orders, nil)
		if err != nil {
			os.Exit(0)
		}
		switch kind {
		case orderEnd:
			close(c.inputs)
		case orderInput:
			var in Input
			if err := json.Unmarshal(text, &in); err != nil {
				fmt.Fprintln(os.Stderr, "read-dump:", err)
				os.Exit(1)
			}
			c.inputs <- in
		case orderContent:
			c.contents <- text
		case orderServed:
			c.served <- text
		default:
			os.Exit(1)
		}
	}
}
