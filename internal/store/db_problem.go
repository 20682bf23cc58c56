package store

// Problem is something in the database that is not as it should be. It names tables and ids, never a person's value.
type Problem struct {
	// Check is the name of the check that found it.
	Check string
	// Where is the table and the row.
	Where string
	What  string
}

// checkBatch is how many rows a check reads at once.
const checkBatch = 500
