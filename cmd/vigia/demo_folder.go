package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/durable"
)

// checkDemoSettings refuses settings that lead the demo to something outside its folder.
func checkDemoSettings(c config.Common) error {
	for _, own := range []struct{ value, what, flag, variable string }{
		{c.Database, "a database", "--database", "VIGIA_DATABASE"},
		{c.KeyFile, "keys", "--key-file", "VIGIA_KEY_FILE"},
		{c.KMS, "keys", "--kms", "VIGIA_KMS"},
		{c.Corpora, "breaches", "--corpora", "VIGIA_CORPORA"},
	} {
		if own.value != "" {
			return fmt.Errorf("a demo has %s of its own: leave %s and %s empty", own.what, own.flag, own.variable)
		}
	}
	return nil
}

// demoMark is the file by which the demo knows a folder that it made. Its text is for whoever finds it.
const (
	demoMark     = "DEMO.txt"
	demoMarkText = "'vigia demo' made this folder for made-up data. 'vigia demo --fresh' deletes it with all that is " +
		"in it.\n"
)

// prepareDemoFolder leaves a folder that the demo made, now or at an earlier start, and made anew where that is asked
// for. Any other folder is refused before anything is written: the demo makes partners and an administrator whose
// password it prints, and deletes all of its folder.
func prepareDemoFolder(folder string, isFresh bool) error {
	_, err := os.Lstat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return makeDemoFolder(folder)
	}
	if err != nil {
		return fmt.Errorf("demo folder: %w", err)
	}
	mark, err := os.ReadFile(filepath.Join(folder, demoMark))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("demo folder: %w", err)
	}
	if string(mark) != demoMarkText {
		return fmt.Errorf(
			"%s was not made by a demo, so it is left alone: give --data a folder that does not exist yet", folder,
		)
	}
	if !isFresh {
		return nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("--fresh: %w", err)
	}
	return makeDemoFolder(folder)
}

// makeDemoFolder makes a folder with the mark in it. The folder gets its name when it has the mark, so that a demo that
// is stopped meanwhile leaves no folder that the next one refuses.
func makeDemoFolder(folder string) error {
	parent := filepath.Dir(folder)
	if err := durable.MakeFolder(parent, 0o700); err != nil {
		return fmt.Errorf("demo folder: %w", err)
	}
	begun, err := os.MkdirTemp(parent, ".demo-")
	if err != nil {
		return fmt.Errorf("demo folder: %w", err)
	}
	if err = durable.WriteFile(filepath.Join(begun, demoMark), []byte(demoMarkText)); err == nil {
		err = durable.RenameSynced(begun, folder)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("demo folder: %w", err), os.RemoveAll(begun))
	}
	return nil
}
