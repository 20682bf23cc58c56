package api

import (
	"bytes"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Members that an operation does not know. The fourteen operations of the contract ignore them, and name them when they
// refuse a body for another reason. All others refuse a body that has one: a misspelt name would else mean its default,
// such as a key without an end.

// unknownMembers is the refusal of a body that has members which the operation does not know.
type unknownMembers struct {
	refusal error
	names   []string
}

// Error describes the refusal for logs: the names are the caller's, so they are left out.
func (u unknownMembers) Error() string { return u.refusal.Error() }

// Unwrap gives the refusal.
func (u unknownMembers) Unwrap() error { return u.refusal }

// checkMembers refuses a body with unknown members where the operation is not one of the contract, and adds their
// names to any other refusal. What reports about a device come with, which are the antivirus's, may be more than is
// read here.
func (r *request) checkMembers(refusal error, body reflect.Type) error {
	strict := refusal == nil && r.route.op == 0 && !r.route.vendor
	if kind := fault.KindOf(refusal); !strict && (refusal == nil || kind != fault.Invalid && kind != fault.NotFound) {
		return refusal
	}
	if strict {
		return refuseUnknownMembers(r.body, body)
	}
	if unknown := findUnknownMembers(r.body, body); len(unknown.names) > 0 {
		return unknownMembers{refusal, unknown.names}
	}
	return refusal
}

// refuseUnknownMembers refuses JSON that has members which a type does not have.
func refuseUnknownMembers(text []byte, t reflect.Type) error {
	unknown := findUnknownMembers(text, t)
	switch {
	case !unknown.any:
		return nil
	case len(unknown.names) == 0:
		return errBodyInvalid.With("body", fault.UnknownMember)
	}
	first := errBodyInvalid.With(unknown.names[0], fault.UnknownMember)
	if len(unknown.names) == 1 {
		return first
	}
	return unknownMembers{first, unknown.names[1:]}
}

// findUnknownMembers finds the members of JSON that a type does not have; none where it cannot be read to its end, for
// which it is refused elsewhere.
func findUnknownMembers(text []byte, t reflect.Type) memberFinder {
	found := memberFinder{decoder: jsontext.NewDecoder(bytes.NewReader(text))}
	if found.visit(t, "", "") != nil {
		return memberFinder{}
	}
	return found
}

// memberFinder finds the members of a body that its type does not have.
type memberFinder struct {
	decoder *jsontext.Decoder
	any     bool
	// names are dotted paths, of the elements of a list the first that has the member; seen has them without places.
	names []string
	seen  map[string]bool
}

// visit reads the next value, which is to be of a type. path leads to it, and so does place, which has no numbers.
func (f *memberFinder) visit(t reflect.Type, path, place string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind := f.decoder.PeekKind()
	switch {
	case kind == '{' && t.Kind() == reflect.Struct:
		return f.visitObject(t, path, place)
	case kind == '[' && t.Kind() == reflect.Slice:
		return f.visitList(t.Elem(), path, place)
	}
	return f.decoder.SkipValue() // the caller only asks whether there is one
}

func (f *memberFinder) visitObject(t reflect.Type, path, place string) error {
	known := membersOf(t)
	if _, err := f.decoder.ReadToken(); err != nil {
		return err // as in visit
	}
	for f.decoder.PeekKind() != '}' {
		token, err := f.decoder.ReadToken()
		if err != nil {
			return err // as in visit
		}
		name := token.String()
		if of, is := known[name]; is {
			err = f.visit(of, joinMember(path, name), joinMember(place, name))
		} else {
			f.note(name, path, place)
			err = f.decoder.SkipValue()
		}
		if err != nil {
			return err // as in visit
		}
	}
	_, err := f.decoder.ReadToken()
	return err // as in visit
}

func (f *memberFinder) visitList(t reflect.Type, path, place string) error {
	if _, err := f.decoder.ReadToken(); err != nil {
		return err // as in visit
	}
	for i := 0; f.decoder.PeekKind() != ']'; i++ {
		if err := f.visit(t, joinMember(path, strconv.Itoa(i)), place); err != nil {
			return err
		}
	}
	_, err := f.decoder.ReadToken()
	return err // as in visit
}

// memberName is what the name of a member looks like. Others are not repeated: they may be somebody's data.
var memberName = regexp.MustCompile(`^[A-Za-z][A-Za-z_]{0,31}$`)

// maxUnknownMembers is how many unknown members are named at most.
const maxUnknownMembers = 5

// note keeps the name of an unknown member.
func (f *memberFinder) note(name, path, place string) {
	f.any = true
	place = joinMember(place, name)
	if len(f.names) == maxUnknownMembers || f.seen[place] || !memberName.MatchString(name) {
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[place] = true
	f.names = append(f.names, joinMember(path, name))
}

// joinMember returns the path of a member.
func joinMember(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// knownMembers holds what membersOf found of each type.
var knownMembers sync.Map

// membersOf returns the types of a struct's members by their names in JSON.
func membersOf(t reflect.Type) map[string]reflect.Type {
	if known, ok := knownMembers.Load(t); ok {
		return known.(map[string]reflect.Type) //nolint:errcheck // nothing else is stored
	}
	members := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			members[name] = field.Type
		}
	}
	knownMembers.Store(t, members)
	return members
}
