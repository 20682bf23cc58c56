package operator

import (
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// KeptFilter is a filter of a list that an operator keeps under a name. Both name and query are sealed: people call
// filters after people.
type KeptFilter struct {
	Operator ID
	ID       string
	List     string
	Name     string
	// Query is the filter as the address of the page has it: ids, states, days and keyed references, never a value that
	// was typed.
	Query     string
	CreatedAt time.Time
}

// Export is a list that was written into a file for the operator who requested it and for no other operator; or a file
// that the operator uploaded, kept until they decide on it.
type Export struct {
	ID       string
	Operator ID
	List     string
	// About is whose data it holds, if the list alone does not say: a partner's id.
	About     string
	Format    Format
	CreatedAt time.Time
	// Until is when the file is removed.
	Until time.Time
	Lines int64
	Parts int64
	// Done says that all of it is there.
	Done bool
}

// Format is how an export is written.
type Format string

// The formats.
const (
	CSV  Format = "csv"
	JSON Format = "json"
)

// IsKnown reports whether it is one of the formats: see sqldb.Enumerated.
func (f Format) IsKnown() bool {
	switch f {
	case CSV, JSON:
		return true
	}
	return false
}

// ExportLife is how long a file is kept; MaxExport is how many lines one holds at most.
const (
	ExportLife = 24 * time.Hour
	MaxExport  = 1_000_000
	// MaxFilters is how many saved filters an operator may have.
	MaxFilters = 100
)

// Faults of lists.
var (
	ErrNoExport = fault.New(fault.NotFound, "export.not_found")
	ErrNoFilter = fault.New(fault.NotFound, "filter.not_found")
	ErrFilter   = fault.New(fault.Invalid, "filter.invalid")
)
