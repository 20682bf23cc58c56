package console

import (
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// request is what a page works with.
type request struct {
	*http.Request
	viewer
	route   route
	session operator.Session
	// from is the address that it came from.
	from string
	// cookie is set on the answer: a session that begins or ends.
	cookie *http.Cookie
	// pictures are what the page shows of numbers over time.
	pictures *pictures
	// kept is set too: secrets that the next page shows.
	kept *http.Cookie
	// again is set while the page of a refused form is shown once more. A partner that the form named wrongly is left
	// out of it, so that the page tells of the form's problem and does not fail by the same.
	again bool
}

// viewer is who looks at a page, and what of the service they see: all that the gathering of a page needs of a request.
type viewer struct {
	who   operator.Operator
	scope scope
}

// auditActor returns the operator and their address, for the audit trail.
func (r *request) auditActor() operator.Actor {
	return operator.Actor{Name: string(r.who.ID), From: r.from}
}

func (r *request) trimmedField(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }

const maxForm = 1 << 20

var (
	errForbidden = fault.New(fault.Forbidden, "role.insufficient")
	errForm      = fault.New(fault.Invalid, "form.invalid")
	errUpload    = fault.New(fault.TooLarge, "upload.too_large")
	errNotFound  = fault.New(fault.NotFound, "path.not_found")
)
