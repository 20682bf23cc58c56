package api

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// errQueryInvalid is the fault of a parameter in the query.
var errQueryInvalid = fault.New(fault.Invalid, "query.invalid")

// readQuery parses the whole query or refuses it: dropping an unreadable pair could carry out what was meant as a dry
// run, or list all people where the request was about one. For the same reason a route with parameters refuses unknown
// names.
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

// beginPage lets a page of a list in: its number and its size, which is cut to the most that a page may have.
func (r *request) beginPage(usual, most int64) (page int64, size int, err error) {
	page, err = r.countInQuery("page", 1)
	if err == nil && page > math.MaxInt32 {
		err = errQueryInvalid.With("page", fault.AtMost, math.MaxInt32)
	}
	if err != nil {
		return 0, 0, err
	}
	asked, err := r.countInQuery("page_size", usual)
	if err != nil {
		return 0, 0, err
	}
	size = int(min(asked, most))
	return page, size, r.beginRead(size)
}

// countInQuery reads a whole number of at least 1 from the query. One too large for the machine is as good as the
// largest.
func (r *request) countInQuery(name string, absent int64) (int64, error) {
	values, given := r.query[name]
	if !given {
		return absent, nil
	}
	if len(values) == 1 && values[0] != "" && strings.Trim(values[0], "0123456789") == "" {
		// Digits only, so what ParseInt refuses is out of range, and it has returned the largest.
		if n, _ := strconv.ParseInt(values[0], 10, 64); n > 0 {
			return n, nil
		}
	}
	return 0, errQueryInvalid.With(name, fault.OneWholeNumber)
}

// flagInQuery reads true or false from the query; absent is false.
func (r *request) flagInQuery(name string) (bool, error) {
	values, given := r.query[name]
	if !given {
		return false, nil
	}
	if len(values) == 1 && (values[0] == "true" || values[0] == "false") {
		return values[0] == "true", nil
	}
	return false, errQueryInvalid.With(name, fault.TrueOrFalse)
}

// requestedLanguage returns the language in which the request asks for texts.
func (r *request) requestedLanguage() (partner.Language, error) {
	asked := r.query["lang"]
	if len(asked) == 0 {
		return partner.Portuguese, nil
	}
	if len(asked) > 1 || asked[0] == "" {
		return "", errQueryInvalid.With("lang", fault.OneOf, "pt-BR, es, en")
	}
	return partner.ParseLanguage(asked[0])
}
