package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// founding are the commands that an installation may begin with; all others need one, so that a mistyped --data is
// noticed.
var founding = []string{
	"migrate",
	"partner.create",
	"operator.create",
	"passwords.import",
	"passwords.download",
	"breach.import",
	"feed.add",
}

// errNoInstallation is the answer of commands that do not begin an installation and find none.
var errNoInstallation = fault.New(fault.NotFound, "data.not_found")

// installed refuses a command that has nothing to work on.
func installed(ctx context.Context, c *config.Common) error {
	running, _ := ctx.Value(commandKey{}).(command)
	if c.Database != "" || running.action == "" || slices.Contains(founding, running.action) {
		return nil
	}
	if _, err := os.Stat(c.DatabaseAddress()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errNoInstallation.Note(
		"data: no installation in %s; --data or VIGIA_DATA names the folder, and serve or partner create begins one",
		c.Data,
	)
}

// isNewInstallation reports whether opening begins an installation: there is neither a key file nor an embedded
// database.
func isNewInstallation(c *config.Common) bool {
	_, noDatabase := os.Stat(c.DatabaseAddress())
	if c.KMS != "" {
		return c.Database == "" && errors.Is(noDatabase, fs.ErrNotExist)
	}
	_, noKeys := os.Stat(c.KeyFilePath())
	return errors.Is(noKeys, fs.ErrNotExist) && (c.Database != "" || errors.Is(noDatabase, fs.ErrNotExist))
}

// placeOfRoot returns where the root key is, for people.
func placeOfRoot(c *config.Common) string {
	if c.KMS != "" {
		return c.KMS
	}
	return absolutePath(c.KeyFilePath())
}

// errNotBegun is the answer of a command whose user did not want a new installation.
var errNotBegun = fault.New(fault.Conflict, "data.not_begun")

// confirmNewInstallation asks a person at a terminal before a new installation is begun: --data may be mistyped.
func (o *output) confirmNewInstallation(c *config.Common) error {
	if o.person == nil {
		return nil
	}
	if !o.askYesOrNo("There is no installation in " + absolutePath(c.Data) + ". Begin a new one there?") {
		return errNotBegun.Note("data: nothing was begun; --data or VIGIA_DATA names the folder of an installation")
	}
	return nil
}

// absolutePath returns a path as it is from everywhere; as it was given where that cannot be told.
func absolutePath(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// openAppForCommand opens the service for an admin command, which may take long on a large database, and records the
// command.
func openAppForCommand(ctx context.Context, c *config.Common, o *output) (*app.App, error) {
	if err := installed(ctx, c); err != nil {
		return nil, err
	}
	isNew := isNewInstallation(c)
	if isNew {
		if err := o.confirmNewInstallation(c); err != nil {
			return nil, err
		}
	}
	a, err := app.OpenApp(ctx, *c, sqldb.Options{MaxConns: 4, StatementTimeout: app.LongStatement})
	if err != nil {
		return nil, err
	}
	if isNew {
		keep := ": keep a copy of that file apart"
		if c.KMS != "" {
			keep = ""
		}
		o.warn(fmt.Sprintf("a new installation was begun in %s, with its root key in %s%s; if you meant one that is "+
			"there already, check --data",
			absolutePath(c.Data), placeOfRoot(c), keep))
	}
	if err := recordCommand(ctx, a); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}
