package main

import (
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// keysCmd groups the commands on the keys that seal personal data, not to be confused with keyCmd.
type keysCmd struct {
	Rotate keysRotateCmd `cmd:"" help:"Make a new key, under which every server seals within seconds; what older keys sealed stays readable and is sealed anew by a running worker."`
	Drop   keysDropCmd   `cmd:"" help:"Remove older keys for good, once nothing needs them; says what does otherwise."`
	Status keysStatusCmd `cmd:"" help:"Show the keys, their roots and the servers that hold them, and count what older keys still seal."`
	Make   keysMakeCmd   `cmd:"" help:"Make a key file with a new root key, for servers that begin a new database together."`
	Root   keysRootCmd   `cmd:"" help:"Change the root key, which opens all others: let a new one in, take old ones out, or show that a copy of it exists."`
}

// showKeys shows the state of the ring.
func (o *output) showKeys(ctx context.Context, a *app.App, notes ...string) error {
	current, old, err := a.Store.Upkeep.SealedUnder(ctx)
	if err != nil {
		return err
	}
	ring, err := a.Store.Upkeep.ReadRing(ctx)
	if err != nil {
		return err
	}
	holders, err := a.Store.Upkeep.ListKeyHolders(ctx, app.KeyHolderGone)
	if err != nil {
		return err
	}
	lacking, err := a.Store.Upkeep.FindUnopenable(ctx)
	if err != nil {
		return err
	}
	if old > 0 {
		notes = append(notes, "A running worker seals the older ones anew; 'vigia keys status' tells when it is done.")
	}
	return o.showRecord(
		newRecord(
			"epoch", ring.Epoch,
			"primary", a.Keys.PrimaryID(),
			"keys", a.Keys.ListKeyIDs(),
			"closed", a.Keys.ClosedIDs(),
			"sealed_by_primary", current,
			"sealed_by_older", old,
			"cannot_be_opened", lacking,
			"roots", makeRecords(ring.Roots, func(k seal.WrappedKey) record {
				isOurs := k.Root == a.Keys.Root().ID()
				return newRecord("root", k.Root, "in_use_here", isOurs, "copy_shown_at", copyTime(k))
			}),
			"servers", makeRecords(holders, func(h store.KeyHolder) record {
				return newRecord("place", h.Place, "epoch", h.Epoch, "root", h.Root)
			}),
		),
		notes...,
	)
}

// keysRotateCmd is 'vigia keys rotate'. Old keys stay readable; a running worker seals their values again in the
// background.
type keysRotateCmd struct{}

func (keysRotateCmd) Run(ctx context.Context, a *app.App, o *output) error {
	if err := a.Store.Upkeep.RotateKeys(ctx); err != nil {
		return err
	}
	return o.showKeys(ctx, a)
}

// keysDropCmd is 'vigia keys drop'. It refuses while a value is still sealed with an old key.
type keysDropCmd struct{}

// Help says what is looked at, and what needs not be.
func (keysDropCmd) Help() string {
	return "Looks at every sealed value of the database, at the servers that are running, and waits for transactions " +
		"that began before.\nBackups made before carry their own keys: the root of their time opens them."
}

func (keysDropCmd) Run(ctx context.Context, a *app.App, o *output) error {
	dropped, err := a.DropOldKeys(ctx)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord("dropped", dropped))
}

// keysStatusCmd is 'vigia keys status'. It counts through the whole database.
type keysStatusCmd struct{}

func (keysStatusCmd) Run(ctx context.Context, a *app.App, o *output) error { return o.showKeys(ctx, a) }

// keysRootCmd is 'vigia keys root'.
type keysRootCmd struct {
	New     string `xor:"what" placeholder:"FILE|KMS" help:"Let this root open the keys too. A key file is made if it is not there; a key of a KMS is named as for --kms."`
	DropOld bool   `xor:"what" help:"Take all roots out but the one given by --key-file or --kms; refused while a server was started with another."`
	Copy    string `xor:"what" placeholder:"FILE" help:"Show a copy of the key file: it is read, compared, and noted as shown."`
}

func (keysRootCmd) Help() string {
	return "Changing the root, without a pause:\n" +
		"  vigia keys root --new /safe/new.json\n" +
		"both roots open the keys now; start every server anew with --key-file /safe/new.json, then\n" +
		"  vigia keys root --drop-old --key-file /safe/new.json\n\n" +
		"Backups made before need the root of their time: keep it as long as you keep them."
}

// errNoCopy is the answer to a copy that is the key file itself.
var errNoCopy = fault.New(fault.Invalid, "keys.no_copy")

func (k *keysRootCmd) Run(ctx context.Context, a *app.App, o *output) error {
	switch {
	case k.New != "":
		root, err := seal.OpenOrCreateRoot(k.New)
		if err != nil {
			return err
		}
		if err := a.Store.Upkeep.AddRoot(ctx, root); err != nil {
			return err
		}
		notes := []string{"Both roots open the keys now. Start every server with the new one, then run " +
			"'vigia keys root --drop-old' with it."}
		if root.WasMade() {
			apart := "Copy " + absolutePath(k.New) + " apart, and run 'vigia keys root --copy FILE' on the copy."
			notes = append(notes, apart)
		}
		return o.showRoots(ctx, a, notes...)
	case k.DropOld:
		dropped, err := a.Store.Upkeep.DropOtherRoots(ctx, app.KeyHolderGone)
		if err != nil {
			return err
		}
		return o.showRecord(newRecord("dropped", dropped),
			"Backups made before need the root of their time: keep it as long as you keep them.")
	case k.Copy != "":
		root, err := seal.OpenRoot(k.Copy)
		if err != nil {
			return err
		}
		if absolutePath(k.Copy) == absolutePath(a.Config.KeyFilePath()) {
			return errNoCopy.Note("--copy: %s is the key file itself; name the copy of it", k.Copy)
		}
		if err := a.Store.Upkeep.NoteRootCopy(ctx, root); err != nil {
			return err
		}
	}
	return o.showRoots(ctx, a)
}

// copyTime returns when a copy of a root was last shown.
func copyTime(k seal.WrappedKey) time.Time { return sqldb.FromMicros(k.CopiedAt) }

// keysMakeCmd is 'vigia keys make'. It needs no database: several servers get the file before one of them begins.
type keysMakeCmd struct {
	File string `arg:"" name:"file" type:"path" help:"New key file; never one that exists."`
}

func (k *keysMakeCmd) Run(o *output) error {
	root, err := seal.CreateRootFile(k.File)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord("file", absolutePath(k.File), "root", root.ID()),
		"Give it to every server with --key-file, and keep a copy apart from the database and its backups.")
}

// showRoots shows the roots that open the keys.
func (o *output) showRoots(ctx context.Context, a *app.App, notes ...string) error {
	ring, err := a.Store.Upkeep.ReadRing(ctx)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord("roots", makeRecords(ring.Roots, func(k seal.WrappedKey) record {
		return newRecord("root", k.Root, "in_use_here", k.Root == a.Keys.Root().ID(), "copy_shown_at", copyTime(k))
	})), notes...)
}
