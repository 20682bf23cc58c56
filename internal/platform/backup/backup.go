// Package backup is one file that holds a copy of an installation: a compressed archive with a description at its front
// and a list of digests at its end.
//
// It knows neither what the files mean nor how they are sealed; the caller of WriteArchive provides a keyed hash of the
// list. The invariant it keeps: under the archive's name there is a whole archive or nothing, and what ExtractArchive
// hands out is, to the byte and to the last file, what WriteArchive was given.
package backup

import (
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Faults of this package.
var (
	ErrExists    = fault.New(fault.Conflict, "backup.exists")
	ErrNoBackup  = fault.New(fault.Invalid, "backup.unreadable")
	ErrDamaged   = fault.New(fault.Invalid, "backup.damaged")
	ErrForeign   = fault.New(fault.Conflict, "backup.foreign_keys")
	ErrNotEmpty  = fault.New(fault.Conflict, "backup.folder_not_empty")
	ErrNoKeyFile = fault.New(fault.NotFound, "backup.no_key_file")
	ErrEngine    = fault.New(fault.Invalid, "backup.engine")
)

// Format is the layout of the archive.
const Format = 1

// About is what the archive says of itself at its front.
type About struct {
	Format  int       `json:"format"`
	MadeAt  time.Time `json:"made_at"`
	Program string    `json:"program"`
	// Engine is the database that the installation runs on.
	Engine string `json:"engine"`
	// Parts are what is inside. What an installation has and is not named here is kept elsewhere.
	Parts []Part `json:"parts"`
	// Ring is the wrapped ring of keys: the root opens it, and without the root nothing does.
	Ring json.RawMessage `json:"ring"`
}

// Part is a part of an installation that is restored, and whose age is told, on its own.
type Part string

// The parts of an installation. The root key is none: it is never in a backup.
const (
	Database  Part = "database"
	Leaks     Part = "leaks"     // segments of breaches
	Passwords Part = "passwords" // corpora of breached passwords that an operator brought
)

// Holds reports whether a part is inside.
func (a About) Holds(p Part) bool { return slices.Contains(a.Parts, p) }

// File is one file of the archive.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Manifest is the list at the end.
type Manifest struct {
	About About  `json:"about"`
	Files []File `json:"files"`
}

// TotalBytes returns how much is inside.
func (m Manifest) TotalBytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// The members of a backup that are not data.
const (
	aboutName    = "about.json"
	manifestName = "manifest.json"
	macName      = "manifest.mac"
	maxList      = 64 << 20
)

// fileName is what a file inside may be called: nothing that leads out of a folder. The system bounds its length.
var fileName = regexp.MustCompile(`^(vigia\.db|corpora/(leak|password)/[a-z0-9][a-z0-9._-]*)$`)
