package person

import (
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// request is what a page works with.
type request struct {
	*http.Request
	visitor
	route route
	theme partner.Theme
	from  string
	// cookie is set on the answer: a session that begins, changes or ends.
	cookie *http.Cookie
	// begun is set on the page that follows a link.
	begun bool
}

// visitor is the person whose page it is: all that the gathering of a page needs of a request.
type visitor struct {
	session cyber.PortalSession
	who     partner.Partner
	lang    partner.Language
}

// sentence returns a sentence in the person's language.
func (v visitor) sentence(key string) string { return sentenceIn(v.lang, key) }

func (r *request) trimmedField(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }

const maxForm = 64 << 10

var (
	errForm     = fault.New(fault.Invalid, "form.invalid")
	errNotFound = fault.New(fault.NotFound, "path.not_found")
	errTooMany  = fault.New(fault.RateLimited, "rate.limited")
)
