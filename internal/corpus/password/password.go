// Package password keeps the corpora of breached passwords and answers whether a password is in them.
//
// A corpus is the set of the first 40 bits of the hashes of all known breached passwords, one for SHA-1 and one for
// NTLM, with a second small set beside it of those seen very often. It comes from text files (Import), from a public
// range service (Download) or, on an empty machine, from a short built-in list (EnsureDefault).
//
// The package never sees a password or a whole hash of a person who asks: it is given 40 bits, and treats them as a
// password: they are in no error, no log line and no file. It knows nothing of HTTP answers or of sentences for people.
// The invariant it keeps: a corpus is replaced whole or not at all, and where the corpora cannot answer the answer is
// an error, never "not exposed".
package password

import (
	"fmt"
	"strconv"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Algorithm is a hash function that passwords are listed under.
type Algorithm uint8

// The algorithms.
const (
	SHA1 Algorithm = iota + 1
	NTLM
)

// Algorithms lists all of them, in the order in which they are shown.
var Algorithms = [...]Algorithm{SHA1, NTLM}

// String returns the name of the algorithm in commands, file names and the manifest.
func (a Algorithm) String() string {
	switch a {
	case SHA1:
		return "sha1"
	case NTLM:
		return "ntlm"
	}
	return fmt.Sprintf("algorithm(%d)", uint8(a))
}

// ParseAlgorithm reads what String writes.
func ParseAlgorithm(s string) (Algorithm, error) {
	for _, a := range Algorithms {
		if s == a.String() {
			return a, nil
		}
	}
	return 0, ErrAlgorithm
}

// hexDigits returns the number of hex digits of a hash.
func (a Algorithm) hexDigits() int {
	if a == NTLM {
		return 32
	}
	return 40
}

// Exposure says how widely a password is known to have leaked.
type Exposure uint8

// The exposures.
const (
	NotKnown Exposure = iota
	Exposed
	WidelyExposed // seen WidelySeen times or more
)

// WidelySeen is how often a password must have been seen in breaches to count as widely exposed.
const WidelySeen = 1000

// String names the exposure.
func (e Exposure) String() string {
	return [...]string{"not_known", "exposed", "widely_exposed"}[min(e, WidelyExposed)]
}

// PrefixDigits is how many hex digits of a hash are asked about: 40 bits.
const PrefixDigits = 10

// ParsePrefix reads the 40 bits of a prefix. The error does not repeat it.
func ParsePrefix(s string) (key uint64, err error) {
	if len(s) != PrefixDigits {
		return 0, ErrPrefix.With("", fault.HexadecimalLength, PrefixDigits)
	}
	if key, err = strconv.ParseUint(s, 16, 64); err != nil {
		return 0, ErrPrefix.With("", fault.OnlyHexadecimal)
	}
	return key, nil
}

// Kinds of jobs.
const (
	KindImport   = "passwords.import"
	KindDownload = "passwords.download"
	KindVerify   = "passwords.verify"
)

// The faults of this package.
var (
	ErrAlgorithm   = fault.New(fault.Invalid, "password.algorithm")
	ErrPrefix      = fault.New(fault.Invalid, "password.prefix")
	ErrNoCorpus    = fault.New(fault.Unavailable, "password.no_corpus")
	ErrUnreadable  = fault.New(fault.Unavailable, "password.corpus_unreadable")
	ErrLine        = fault.New(fault.Invalid, "password.bad_line")
	ErrInput       = fault.New(fault.Invalid, "password.bad_input")
	ErrSmaller     = fault.New(fault.Conflict, "password.smaller_corpus")
	ErrBusy        = fault.New(fault.Conflict, "password.busy")
	ErrManifest    = fault.New(fault.Internal, "password.manifest")
	ErrRangeServer = fault.New(fault.Unavailable, "password.range_server")
)
