// Package fault is the one error type that crosses floors.
//
// A rule returns a named fault, the storage wraps what an engine said, and only the edges (the partner API, the
// console, the command line) turn a fault into a status, a sentence or an exit code. The list of kinds is closed, its
// zero value is Internal, and the text of a cause never reaches a caller: it is for the log.
package fault

import (
	"errors"
	"fmt"
)

// Error is a fault. Sentinels stand beside the rule that returns them and are compared by Code.
type Error struct {
	Kind Kind
	// Code is stable and names the fault: "asset.not_found".
	Code string
	// Field is what was wrong in what the caller sent; empty where the rule is about all of it.
	Field string
	// Broken is the rule that was broken, with its values; nil where the code says it all. It may be shown to the
	// caller, so it never repeats a value that the caller sent.
	Broken *Sentence
	// Remark is for the terminal, the log and vendors of dumps, in English: which file is damaged, and what to do.
	Remark string
	// Err is the cause, for the log only.
	Err error
}

// New makes a sentinel.
func New(kind Kind, code string) *Error { return &Error{Kind: kind, Code: code} }

// Error describes the fault for logs.
func (e *Error) Error() string {
	s := e.Code
	if detail := e.Detail(); detail != "" {
		s += ": " + detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Detail says in English which field broke which rule, or what was remarked.
func (e *Error) Detail() string {
	if e.Broken == nil {
		return e.Remark
	}
	if e.Field == "" {
		return e.Broken.English()
	}
	return e.Field + ": " + e.Broken.English()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is compares by code, so a fault with a cause still equals its sentinel.
func (e *Error) Is(target error) bool {
	var other *Error
	return errors.As(target, &other) && other.Code == e.Code
}

// Because returns a copy that carries cause.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Err = cause
	return &c
}

// With returns a copy that tells the caller what was wrong: the field and the rule, never the value. It stands at some
// 400 places that are rarely reached, so one copy of its machine code has to do.
//
//go:noinline
func (e *Error) With(field string, rule Rule, args ...any) *Error {
	c := *e
	c.Field, c.Broken = field, &Sentence{Rule: rule, Args: args}
	return &c
}

// Note returns a copy with a remark.
//
//go:noinline
func (e *Error) Note(format string, args ...any) *Error {
	c := *e
	c.Remark = fmt.Sprintf(format, args...)
	return &c
}

// In returns a copy whose field stands inside another one.
func (e *Error) In(outer string) *Error {
	c := *e
	c.Field = outer
	if e.Field != "" {
		c.Field += ": " + e.Field
	}
	return &c
}

// When returns the fault where a rule is broken, and nil otherwise. With errors.Join it tells a caller all that is
// wrong at once; the first fault decides how an edge answers.
func When(broken bool, e *Error) error {
	if broken {
		return e
	}
	return nil
}
