package passkey

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"
)

// The part of CBOR (RFC 8949) that authenticators write by the rules of CTAP2: integers, bytes, texts, lists, maps and
// the three simple values. Lengths are told in advance; tags, floats and a key that comes twice are refused. The order
// of keys and the shortest spelling of a number are not asked for: nothing is compared by its bytes, and authenticators
// differ in them.

// deepest is how many lists and maps may lie in each other: a statement made of statements has five.
const deepest = 5

var (
	errCut  = errors.New("CBOR: cut off")
	errForm = errors.New("CBOR: a form that authenticators do not write")
)

// wholeMap reads a map that is all there is.
func wholeMap(b []byte) (map[any]any, error) {
	v, rest, err := item(b, 0)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[any]any)
	if !ok || len(rest) != 0 {
		return nil, errors.New("CBOR: expected one map and nothing else")
	}
	return m, nil
}

// item reads the first item of b inside depth others, and returns what follows it. Values are int64, []byte, string,
// []any, map[any]any with keys of int64 and string, bool and nil; bytes are parts of b.
func item(b []byte, depth int) (value any, rest []byte, err error) {
	if len(b) == 0 {
		return nil, nil, errCut
	}
	major, small := b[0]>>5, b[0]&31
	n, b := uint64(small), b[1:]
	if width := 1 << (small & 3); small >= 24 && small <= 27 {
		if len(b) < width {
			return nil, nil, errCut
		}
		var wide [8]byte
		copy(wide[8-width:], b)
		n, b = binary.BigEndian.Uint64(wide[:]), b[width:]
	} else if small > 27 { // lengths that are not told, and what nobody has defined
		return nil, nil, errForm
	}
	switch major {
	case 0, 1:
		if n > math.MaxInt64 {
			return nil, nil, errForm
		}
		if major == 1 {
			return -1 - int64(n), b, nil
		}
		return int64(n), b, nil
	case 2, 3:
		if n > uint64(len(b)) {
			return nil, nil, errCut
		}
		if major == 2 {
			return b[:n:n], b[n:], nil
		}
		if !utf8.Valid(b[:n]) {
			return nil, nil, errForm
		}
		return string(b[:n]), b[n:], nil
	case 4, 5:
		if depth == deepest {
			return nil, nil, errForm
		}
		if major == 4 {
			return list(n, b, depth+1)
		}
		return table(n, b, depth+1)
	case 7:
		switch small {
		case 20, 21:
			return small == 21, b, nil
		case 22: // null
			return nil, b, nil
		}
	}
	return nil, nil, errForm
}

// list reads n items. Nothing is set aside for them in advance: n is only a claim.
func list(n uint64, b []byte, depth int) (value any, rest []byte, err error) {
	items := []any{}
	for range n {
		var v any
		if v, b, err = item(b, depth); err != nil {
			return nil, nil, err
		}
		items = append(items, v)
	}
	return items, b, nil
}

func table(n uint64, b []byte, depth int) (value any, rest []byte, err error) {
	m := map[any]any{}
	for range n {
		var k, v any
		if k, b, err = item(b, depth); err != nil {
			return nil, nil, err
		}
		switch k.(type) {
		case int64, string:
		default:
			return nil, nil, errForm
		}
		if _, twice := m[k]; twice {
			return nil, nil, errors.New("CBOR: a key comes twice")
		}
		if v, b, err = item(b, depth); err != nil {
			return nil, nil, err
		}
		m[k] = v
	}
	return m, b, nil
}
