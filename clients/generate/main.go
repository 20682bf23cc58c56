// Command generate writes the types and methods of the clients in Go, TypeScript and Python from the partner contract:
// every operation has one, of the same name, with the same arguments in the same order. What a document cannot say
// (attempts, pages, webhooks) is written by hand beside them.
package main

import (
	"errors"
	"fmt"
	"os"
)

//go:generate go run .

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run generates the files of all clients and overwrites them in the repository.
func run() error {
	text, err := os.ReadFile(documentFile)
	if err != nil {
		return err
	}
	files, err := renderFiles(text)
	if err != nil {
		return err
	}
	for name, content := range files {
		//nolint:gosec // a file of the repository, for everybody
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Where the clients are.
const (
	goFolder     = "../../client/"
	scriptFolder = "../typescript/src/"
	pythonFolder = "../python/src/vigia_client/"
)

// renderFiles is what the files hold, by name. The same contract gives the same bytes.
func renderFiles(text []byte) (map[string]string, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	t := &types{document: d, known: map[string]bool{}}
	methods := t.listMethods()
	operations, err := goOperations(methods)
	t.errs = append(t.errs, err)
	schemas, err := goSchemas(t.definitions)
	t.errs = append(t.errs, err)
	codes := t.errorCodes()
	goConstants, err := goCodes(codes)
	t.errs = append(t.errs, err)
	return map[string]string{
		goFolder + "codes.go":          goConstants,
		scriptFolder + "codes.ts":      scriptCodes(codes),
		pythonFolder + "codes.py":      pythonCodes(codes),
		goFolder + "operations.go":     operations,
		goFolder + "schemas.go":        schemas,
		scriptFolder + "operations.ts": scriptOperations(methods, t.definitions),
		scriptFolder + "schemas.ts":    scriptSchemas(t.definitions),
		pythonFolder + "operations.py": pythonOperations(methods, t.definitions),
		pythonFolder + "schemas.py":    pythonSchemas(t.definitions),
	}, errors.Join(t.errs...)
}
