package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// errFile is the refusal of a file that the command line names.
var errFile = fault.New(fault.Invalid, "file.unreadable")

// openNamedFile opens a file that the command line names; the error says which and why, for the whole path may differ
// from what was typed.
func openNamedFile(name string) (*os.File, error) {
	file, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, unreadableFile(name, err)
	}
	return file, nil
}

// readNamedFile reads a file that the command line names.
func readNamedFile(name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return nil, unreadableFile(name, err)
	}
	return text, nil
}

// checkNamedFile refuses a name that is no file that can be read.
func checkNamedFile(name string) error {
	file, err := openNamedFile(name)
	if err != nil {
		return err
	}
	return file.Close()
}

// unreadableFile names a file and why it cannot be read.
func unreadableFile(name string, err error) error {
	var cause *fs.PathError
	why := err.Error()
	if errors.As(err, &cause) {
		why = cause.Err.Error()
	}
	return errFile.Because(err).Note("%s cannot be read: %s", absolutePath(name), why)
}
