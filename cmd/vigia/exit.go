package main

import (
	"errors"

	"github.com/vigiahq/vigia/internal/platform/backup"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Exit codes.
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitNotFound = 3
	exitConflict = 4
	exitPartly   = 5
)

// exitMeanings says what each exit code means; the manual page and the documents show it.
var exitMeanings = []string{
	exitOK:       "It is done.",
	exitFailure:  "It failed, or what was checked is damaged; the message says why.",
	exitUsage:    "The command line or the configuration is wrong, or a file that it names cannot be read.",
	exitNotFound: "What was named does not exist.",
	exitConflict: "It conflicts with what is there.",
	exitPartly:   "It is done in part: some records were refused, and are in the file of rejects.",
}

// exited is the value of the panic with which kong's exit is intercepted; see parseArguments.
type exited struct{}

// exitCode returns the exit status for an error, so that scripts can tell a wrong call from a failure.
func exitCode(err error) int {
	var problems config.Problems
	switch kind := fault.KindOf(err); {
	case errors.Is(err, errRejected):
		return exitPartly
	case errors.Is(err, backup.ErrNoBackup), errors.Is(err, backup.ErrDamaged):
		return exitFailure // the call was right, the file is not
	case errors.As(err, &problems), kind == fault.Invalid:
		return exitUsage
	case kind == fault.NotFound:
		return exitNotFound
	case kind == fault.Conflict:
		return exitConflict
	}
	return exitFailure
}
