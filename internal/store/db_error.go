package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// ErrUnavailable means that the database cannot serve at the moment.
var ErrUnavailable = fault.New(fault.Unavailable, "store.unavailable")

// classifyError names the failures that a later try may not meet; the rest stay as they are and count as internal.
func classifyError(err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) || !sqldb.IsUnavailable(err) {
		return err
	}
	return ErrUnavailable.Because(err)
}

// statementError says which statement failed. Texts are constants with numbered parameters, so no value is in it.
func statementError(query string, err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	return classifyError(fmt.Errorf("%.80s: %w", strings.Join(strings.Fields(query), " "), err))
}

// wrapError says what failed in front of an error. It returns nil where there is none, so that a function can end with
// it.
func wrapError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
