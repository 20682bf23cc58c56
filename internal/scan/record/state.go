package record

import (
	"encoding/json"
	"maps"
)

// State is what the text so far says of the rows that follow: the header in force and the tables of an SQL dump. It
// holds no word of the text. The zero State is that of the beginning.
type State struct {
	layout *layout
	tables map[string][]column
	sql    bool
}

// SQL says that the text is a dump of a database.
func (s State) SQL() bool { return s.sql }

// wireState is a State on paper.
type wireState struct {
	Layout *layout
	Tables map[string][]column
	SQL    bool
}

// MarshalJSON encodes the State for a checkpoint, so that an import can resume in the middle of a text.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireState{s.layout, s.tables, s.sql})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *State) UnmarshalJSON(text []byte) error {
	var w wireState
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	s.layout, s.tables, s.sql = w.Layout, w.Tables, w.SQL
	return nil
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
		if len(s.tables) < mostTables {
			tables := maps.Clone(s.tables)
			if tables == nil {
				tables = map[string][]column{}
			}
			tables[e.table] = e.layout.Columns
			s.tables = tables
		}
	case e.layout != nil && e.layout.Columns == nil:
		s.layout = nil
		if columns := s.tables[e.table]; columns != nil {
			s.layout = &layout{Form: e.layout.Form, Sep: e.layout.Sep, Columns: columns}
		}
	default:
		s.layout = e.layout
	}
	return s
}

// foldEvents moves the state over events.
func (s State) foldEvents(events []event) State {
	for _, e := range events {
		s = s.afterEvent(e)
	}
	return s
}
