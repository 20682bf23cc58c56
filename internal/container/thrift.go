package container

import (
	"encoding/binary"
	"errors"
)

var errThrift = errors.New("damaged: a description is not in order")

// thrift reads the compact form in which Parquet describes itself. After the first thing that is wrong everything reads
// as nothing.
type thrift struct {
	b   []byte
	bad bool
}

// The kinds of fields that are met.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI64    = 6
	thriftDouble = 7
	thriftBytes  = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

func (t *thrift) fail() {
	t.b, t.bad = nil, true
}

func (t *thrift) byte() byte {
	if len(t.b) == 0 {
		t.fail()
		return 0
	}
	c := t.b[0]
	t.b = t.b[1:]
	return c
}

func (t *thrift) number() int64 {
	v, n := binary.Varint(t.b)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.b = t.b[n:]
	return v
}

func (t *thrift) bytes() []byte {
	n, k := binary.Uvarint(t.b)
	if k <= 0 || n > uint64(len(t.b)-k) {
		t.fail()
		return nil
	}
	v := t.b[k:][:n]
	t.b = t.b[uint64(k)+n:]
	return v
}

// fields calls take for each field of a struct; take reads its value or says that it did not.
func (t *thrift) fields(depth int, take func(id int, kind byte) bool) {
	if depth > 30 {
		t.fail()
	}
	for id := 0; !t.bad; {
		head := t.byte()
		if head == 0 {
			return
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int(t.number())
		}
		if !take(id, head&15) {
			t.skip(head&15, depth+1)
		}
	}
}

// list calls take for each element.
func (t *thrift) list(take func(kind byte)) {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		var k int
		if n, k = binary.Uvarint(t.b); k <= 0 {
			t.fail()
			return
		}
		t.b = t.b[k:]
	}
	for ; n > 0 && !t.bad; n-- {
		if len(t.b) == 0 {
			t.fail()
		}
		take(head & 15)
	}
}

func (t *thrift) skip(kind byte, depth int) {
	if depth > 30 {
		t.fail()
		return
	}
	switch {
	case kind == thriftTrue || kind == thriftFalse:
	case kind == thriftByte:
		t.byte()
	case kind <= thriftI64:
		t.number()
	case kind == thriftDouble:
		for range 8 {
			t.byte()
		}
	case kind == thriftBytes:
		t.bytes()
	case kind == thriftList || kind == thriftSet:
		t.list(func(kind byte) {
			if kind <= thriftFalse {
				t.byte()
			} else {
				t.skip(kind, depth+1)
			}
		})
	case kind == thriftStruct:
		t.fields(depth+1, func(int, byte) bool { return false })
	default: // maps are not met
		t.fail()
	}
}
