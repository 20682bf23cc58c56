package api

import (
	"net/url"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/fault"
)

var errQueryInvalid = fault.New(fault.Invalid, "query.invalid")

// readQuery parses the whole query or refuses it: dropping an unreadable pair could carry out what was meant as a dry run,
// or list all people where the request was about one. For the same reason a route with parameters refuses unknown names.
func (r *request) readQuery() error {
	raw := r.http.URL.RawQuery
	if raw == "" {
		return nil
	}
	r.query = url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, err := queryPair(pair)
		if err != nil {
			return err
		}
		if known := r.route.query; len(known) > 0 && !slices.Contains(known, name) {
			return errQueryInvalid.With("query", fault.UnknownParameter, strings.Join(known, ", "))
		}
		r.query[name] = append(r.query[name], value)
	}
	return nil
}

// queryPair decodes a pair. A plus stays a plus: in standard base64 it is a digit, and no parameter has a space.
func queryPair(pair string) (name, value string, err error) {
	if strings.Contains(pair, ";") {
		return "", "", errQueryInvalid.With("query", fault.QuerySeparator)
	}
	name, value, _ = strings.Cut(pair, "=")
	if name, err = url.PathUnescape(name); err == nil {
		value, err = url.PathUnescape(value)
	}
	if err != nil {
		return "", "", errQueryInvalid.With("query", fault.QueryPercent)
	}
	return name, value, nil
}
