package store

// SealedColumnNames names every sealed column that a rotation rewrites.
func SealedColumnNames() []string {
	var names []string
	for _, c := range sealedColumns {
		names = append(names, c.table+"."+c.column)
	}
	return names
}
