// Gotest runs go test and shows what it shows: a line for each package, and all that a failed test said. It adds what
// of a package was left to `make gate`, which go test keeps to itself unless it is asked for every line of every test:
//
//	go run ./scripts/gotest -timeout 10m ./...
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// testPackage is what is known of a package so far.
type testPackage struct {
	summary string              // go test's own line
	output  map[string][]string // of tests that have not passed; the package's own under the empty name
	left    map[string]bool     // what the tests that were left to the gate need
}

func main() {
	command := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	command.Stderr = os.Stderr
	lines, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
	packages := make(map[string]*testPackage)
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var e event
		if json.Unmarshal(scanner.Bytes(), &e) != nil {
			fmt.Println(scanner.Text())
			continue
		}
		follow(packages, e)
	}
	if err := command.Wait(); err != nil {
		os.Exit(1)
	}
}

// follow takes up one event and prints what is to be seen of it.
func follow(packages map[string]*testPackage, e event) {
	if e.Action == "build-output" {
		fmt.Print(e.Output)
		return
	}
	p := packages[e.Package]
	if p == nil {
		p = &testPackage{output: make(map[string][]string), left: make(map[string]bool)}
		packages[e.Package] = p
	}
	switch e.Action {
	case "output":
		if e.Test == "" && strings.Contains(e.Output, "\t"+e.Package) {
			p.summary = strings.TrimRight(e.Output, "\n")
		}
		p.output[e.Test] = append(p.output[e.Test], e.Output)
	case "skip":
		p.noteSkip(p.output[e.Test])
		delete(p.output, e.Test)
	case "pass":
		if e.Test == "" {
			fmt.Println(p.line())
		}
		delete(p.output, e.Test)
	case "fail":
		if e.Test == "" {
			for _, name := range slices.Sorted(maps.Keys(p.output)) {
				fmt.Print(strings.Join(p.output[name], ""))
			}
		}
	}
}

// noteSkip notes what a test needs that was left to the gate.
func (p *testPackage) noteSkip(output []string) {
	for _, line := range output {
		if _, what, ok := strings.Cut(line, "left to make gate: "); ok {
			p.left[strings.TrimSpace(what)] = true
		}
	}
}

// line is what is said of a package that passed.
func (p *testPackage) line() string {
	if len(p.left) == 0 {
		return p.summary
	}
	return p.summary + "\tleft to make gate: " + strings.Join(slices.Sorted(maps.Keys(p.left)), ", ")
}
