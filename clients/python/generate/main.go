// Command generate writes the Python client's types and methods from the partner contract, so that every operation has
// one. What a document cannot say (attempts, pages, webhooks) is written by hand beside them.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run .

const (
	documentFile = "../../../internal/api/openapi.yaml"
	folder       = "../src/vigia_client"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run generates all files of the client and overwrites them in the repository.
func run() error {
	text, err := os.ReadFile(documentFile)
	if err != nil {
		return err
	}
	files, err := made(text)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil { //nolint:gosec // a file of the repository, for everybody
			return err
		}
	}
	return nil
}

// made is what the files hold, by name. The same contract gives the same bytes.
func made(text []byte) (map[string]string, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	t := &types{document: d, known: map[string]bool{}, used: map[string]bool{}}
	methods := operations(t)
	return map[string]string{"operations.py": methods, "schemas.py": t.file()}, errors.Join(t.errs...)
}
