package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// restoreMarker is a file in the data folder while a restore is not complete, locked by the one at work: what is there
// may be half of a backup, or a whole one with people in it who have been erased since.
const restoreMarker = "restoring"

// ErrRestoring means that a restore of the folder was begun and did not come to its end.
var ErrRestoring = fault.New(fault.Conflict, "backup.restoring")

// RefuseRestoring refuses a folder whose restore is not complete.
func RefuseRestoring(folder string) error {
	if _, err := os.Lstat(filepath.Join(folder, restoreMarker)); err == nil {
		return ErrRestoring.Note(
			"a restore into %s did not come to its end, or is still at work: run the same 'vigia restore' again, it "+
				"begins anew",
			folder,
		)
	}
	return nil
}

// markRestore makes the marker in an empty folder, or takes over the one of a restore that was killed and clears what
// that has left.
func markRestore(folder string) (marker *os.File, err error) {
	name := filepath.Join(folder, restoreMarker)
	_, serr := os.Lstat(name)
	if serr != nil {
		if err := emptyFolder(folder); err != nil {
			return nil, err
		}
	}
	if err := prepareFolder(folder); err != nil {
		return nil, err
	}
	marker, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	locked, err := durable.TryLockFile(marker)
	if err == nil && !locked {
		err = ErrRestoring.Note("another restore into %s is at work", folder)
	}
	if err == nil && serr == nil {
		err = clearFolder(folder)
	}
	if err == nil {
		err = durable.SyncFolder(folder)
	}
	if err != nil {
		return nil, errors.Join(err, marker.Close())
	}
	return marker, nil
}

// keptInRestore are the files of a data folder that are not a restore's own.
var keptInRestore = []string{"keys.json", "keys.json.lock", restoreMarker}

// clearFolder removes what a restore has put into a folder that was empty before.
func clearFolder(path string) error {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if !slices.Contains(keptInRestore, e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, e.Name())))
		}
	}
	return err
}
