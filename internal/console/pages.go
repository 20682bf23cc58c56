package console

import "github.com/vigiahq/vigia/internal/operator"

// Page is a row of the route table, for those who hold the table against something: tests, documents.
type Page struct {
	Method, Path string
	// Role is the least role that may; empty for what comes before a session.
	Role operator.Role
	// Portal is the right by which a partner's people may; NoRight where it is closed to them.
	Portal operator.Right
	// Fresh pages ask for the password again.
	Fresh bool
}

// ListNames names every list, as paths do.
func ListNames() []string {
	names := make([]string, len(listings))
	for i, l := range listings {
		names[i] = l.name
	}
	return names
}

// ListPages returns the whole route table.
func ListPages() []Page {
	list := make([]Page, len(routes))
	for i, rt := range routes {
		list[i] = Page{rt.method, rt.path, rt.role, portalRights[rt.tableKey()], rt.fresh}
	}
	return list
}
