package console

// ListNames names every list, as paths do.
func ListNames() []string {
	names := make([]string, len(listings))
	for i, l := range listings {
		names[i] = l.name
	}
	return names
}
