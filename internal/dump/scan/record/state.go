package record

import "maps"

// State is what the text so far says of the rows that follow: the header in force and the tables of an SQL dump. It
// holds no word of the text. The zero State is that of the beginning.
type State struct {
	Layout *layout
	Tables map[string][]column
	// IsDump says that the text is a dump of a database.
	IsDump bool `json:"SQL"`
}

// event is a place of the text that says something of the rows after it.
type event struct {
	at     int
	layout *layout // nil: whatever was in force ends here
	// table is the digest of a table's name. A definition says what its columns are, and a statement without a list of
	// columns takes them from there.
	table   string
	defines bool
}

// mostTables bounds what is remembered of a dump's tables.
const mostTables = 512

// afterEvent returns the State once an event has been met.
func (s State) afterEvent(e event) State {
	switch {
	case e.defines:
		if len(s.Tables) < mostTables {
			tables := maps.Clone(s.Tables)
			if tables == nil {
				tables = map[string][]column{}
			}
			tables[e.table] = e.layout.Columns
			s.Tables = tables
		}
	case e.layout != nil && e.layout.Columns == nil:
		s.Layout = nil
		if columns := s.Tables[e.table]; columns != nil {
			s.Layout = &layout{Form: e.layout.Form, Sep: e.layout.Sep, Columns: columns}
		}
	default:
		s.Layout = e.layout
	}
	return s
}
