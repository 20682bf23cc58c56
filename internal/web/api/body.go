package api

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

func (r *request) readSmallBody() (err error) {
	r.body, err = io.ReadAll(&r.in)
	return err
}

// decodeBody reads a small body into v: one JSON value, strict, its members' names unique.
func (r *request) decodeBody(v any) error {
	if err := checkDepth(r.body, 0); err != nil {
		return err
	}
	if trimmed := bytes.TrimLeft(r.body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errBodyInvalid.With("body", fault.ExpectedJSONObject)
	}
	return jsonFault(json.Unmarshal(r.body, v))
}

// checkDepth refuses JSON that is nested too deep, before it is decoded: so many levels are around it.
func checkDepth(body []byte, around int) error {
	if around+bytes.Count(body, []byte{'{'})+bytes.Count(body, []byte{'['}) <= maxDepth {
		return nil
	}
	depth, quoted := around, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\':
			i++ // only inside a string
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > maxDepth {
				return errBodyInvalid.With("body", fault.NestedDeeper, maxDepth)
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return nil
}

// jsonFault names the place and the rule that a body broke, without repeating any of it. A JSON pointer can hold member
// names that the caller made up, so it is used only when it is plain.
func jsonFault(err error) error {
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return errBodyInvalid.With(plainPointer(semantic.JSONPointer), fault.WrongJSONType)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errBodyInvalid.With("body", fault.DuplicateName)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return errBodyInvalid.With("body", fault.NotJSONAtByte, syntactic.ByteOffset)
	}
	return errBodyInvalid.With("body", fault.NotValidJSON)
}

// plainPointer returns the place of a fault in a body as a dotted path; "body" where the path could echo what was
// sent.
func plainPointer(p jsontext.Pointer) string {
	s := strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
	if s == "" || len(s) > 64 {
		return "body"
	}
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c == '.' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			return "body"
		}
	}
	return s
}

// optionalText returns the text of a member that may be left out; it refuses a member that is present and no text.
func optionalText(field string, raw jsontext.Value) (text string, err error) {
	if raw == nil {
		return "", nil
	}
	if raw.Kind() != '"' || json.Unmarshal(raw, &text) != nil {
		return "", errBodyInvalid.With(field, fault.WrongJSONType)
	}
	return text, nil
}
