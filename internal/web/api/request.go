package api

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Limits of what a partner may send.
const (
	maxSmallBody      = 64 << 10
	maxListBody       = 512 << 10
	maxBulkBody       = 32 << 20
	maxDepth          = 32
	maxID             = 256
	maxIdempotencyKey = 255
	bulkReadTime      = 2 * time.Minute
	bulkAnswerTime    = 30 * time.Second // for the work and the answer, after the slowest body
)

// request is what an endpoint works with.
type request struct {
	http *http.Request
	// ctx is whole until allowTime gives it a deadline; both live exactly as long as the request.
	ctx, whole context.Context //nolint:containedctx // see above
	endTime    context.CancelFunc
	route      *route
	server     *Server
	// rules are what the endpoint asks: inside runIdempotently, those that commit together with the answer.
	rules  *Rules
	caller partner.Caller
	// user is the person that the path or the body names; id what the path names beside them.
	user partner.UserHash
	id   string
	// vendor means that the vendor of the antivirus asks, about a key of whatever partner.
	vendor bool
	// query are the parameters, decoded.
	query url.Values
	// in is the body as it comes in; body is the whole of it on a smallBody route.
	in   intake
	body []byte
	// claim is filled when the partner sent an idempotency key, and claimed is set once it was presented.
	claim   partner.RequestClaim
	claimed bool
	// reply are the headers of the answer.
	reply http.Header
	// items is how many items of a list the answer holds: the partner is charged for them.
	items int
	// release gives back the slot that a heavy request took; nil without one.
	release func()
}

// takeHeavySlot waits for one of the partner's slots for heavy requests. The request has it until its answer is
// written, because encoding and compressing a long list is most of its work.
func (r *request) takeHeavySlot() (err error) {
	r.release, err = r.server.admission.takeHeavySlot(r.ctx, r.caller.Partner)
	return err
}

// releaseSlot gives back the slot of a heavy request; it does nothing for others.
func (r *request) releaseSlot() {
	if r.release != nil {
		r.release()
	}
}

// beginRead lets a list of at most that many items in, unless the partner is in debt for lists before it.
func (r *request) beginRead(most int) error {
	if wait := r.server.limits.waitForList(r.caller, r.server.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return errRateLimited.With("rate", fault.ItemsRead)
	}
	if most > lightList {
		return r.takeHeavySlot()
	}
	return nil
}

// allowTime gives the calls that follow so long together, whatever was left before: the time that a body takes to
// arrive is not the database's.
func (r *request) allowTime(d time.Duration) {
	if r.endTime != nil {
		r.endTime()
	} else {
		r.whole = r.ctx
	}
	r.ctx, r.endTime = context.WithTimeout(r.whole, d)
}

// workTime returns how long the work of the route may take once the body is there.
func (r *request) workTime() time.Duration {
	if r.route.outside || r.route.body == streamBody {
		return bulkAnswerTime
	}
	return r.server.DatabaseTime
}

// personBody is a body that names a person; others embed it.
type personBody struct {
	UserHash string `json:"userHash"`
}

// namedPerson returns the user hash as it was sent.
func (b personBody) namedPerson() string { return b.UserHash }

// withBody makes an endpoint of a function that takes the decoded body, and finds the person whom the body names.
func withBody[T any](run func(s *Server, r *request, body T) (any, error)) endpoint {
	return func(s *Server, r *request) (any, error) {
		var body T
		err := r.decodeBody(&body)
		if named, ok := any(body).(interface{ namedPerson() string }); ok && err == nil {
			r.user, err = partner.ParseUserHash("userHash", named.namedPerson())
		}
		if err = r.checkMembers(err, reflect.TypeFor[T]()); err != nil {
			return nil, err
		}
		answer, err := run(s, r, body)
		if err != nil {
			return nil, r.checkMembers(err, reflect.TypeFor[T]())
		}
		return answer, nil
	}
}

// runEndpoint reads what the path names and runs the endpoint. What is returned beside an error counts for nothing.
func (r *request) runEndpoint() (any, error) {
	for _, name := range []string{"id", "key", "name"} {
		if strings.Contains(r.route.path, "{"+name+"}") {
			var err error
			if r.id, err = r.idInPath(name, r.route.unknown); err != nil {
				return nil, err
			}
		}
	}
	if strings.Contains(r.route.path, "{userhash}") {
		var err error
		if r.user, err = partner.ParseUserHash("userhash", r.http.PathValue("userhash")); err != nil {
			return nil, err
		}
	}
	return r.route.run(r.server, r)
}

// showAll returns the elements of a list as answers show them.
func showAll[T, E any](list []T, show func(T) E) []E {
	shown := make([]E, len(list))
	for i, one := range list {
		shown[i] = show(one)
	}
	return shown
}

// idInPath reads an id from the path; one that no id could be is simply not found.
func (r *request) idInPath(name string, notFound *fault.Error) (string, error) {
	id := r.http.PathValue(name)
	if !partner.IsPrintable(id, maxID) {
		return "", notFound.With(name, fault.PrintableLength, maxID)
	}
	return id, nil
}
