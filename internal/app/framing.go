package app

import (
	"bytes"
	"strconv"
)

// framingState is where in a request the next byte stands.
type framingState int

const (
	inRequestLine framingState = iota
	inHeaders
	inBody
	inChunkSize
	inChunk
	inTrailer
	// inConflict is behind the headers of a request that has both: the connection ends with it.
	inConflict
	// inUnknown is behind bytes that were not understood.
	inUnknown
)

// framing follows the bytes of an HTTP/1 connection from request to request. It needs to understand only what net/http
// accepts: a request that net/http refuses ends the connection.
type framing struct {
	state framingState
	// requests counts those whose first line has begun.
	requests int64
	// line is the line that is being read, without its end; of a longer one its beginning.
	line []byte
	// left is how many bytes of a body or a chunk are still to come.
	left int64
	// length is that of the header, -1 without one; chunked and old are a chunked body and a request of HTTP/1.0.
	length       int64
	chunked, old bool
}

// maxFramingLine is how much of a line is kept: more than the headers that count here can have.
const maxFramingLine = 256

// follow takes the next bytes.
func (f *framing) follow(p []byte) {
	for len(p) > 0 {
		switch f.state {
		case inConflict, inUnknown:
			return
		case inBody, inChunk:
			n := min(f.left, int64(len(p)))
			p = p[n:]
			if f.left -= n; f.left == 0 {
				f.endData()
			}
		case inRequestLine, inHeaders, inChunkSize, inTrailer:
			part, rest, ended := bytes.Cut(p, []byte{'\n'})
			if room := maxFramingLine - len(f.line); room > 0 {
				f.line = append(f.line, part[:min(room, len(part))]...)
			}
			if p = rest; ended {
				f.endLine(bytes.TrimSuffix(f.line, []byte{'\r'}))
				f.line = f.line[:0]
			}
		}
	}
}

// endData goes on behind a body or a chunk.
func (f *framing) endData() {
	f.state = inRequestLine
	if f.chunked {
		f.state = inChunkSize
	}
}

// endLine judges a whole line.
func (f *framing) endLine(line []byte) {
	switch f.state {
	case inRequestLine:
		if len(line) > 0 { // net/http passes over empty lines in front of a request
			f.requests++
			f.state, f.length, f.chunked, f.old = inHeaders, -1, false, bytes.HasSuffix(line, []byte(" HTTP/1.0"))
		}
	case inHeaders:
		if len(line) == 0 {
			f.endHeaders()
			return
		}
		f.readHeader(line)
	case inChunkSize:
		size, _, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 63)
		switch {
		case err != nil || n < 0:
			f.state = inUnknown
		case n == 0:
			f.state = inTrailer
		default:
			f.state, f.left = inChunk, n+2 // with the end of its line
		}
	case inTrailer:
		if len(line) == 0 {
			f.state = inRequestLine
		}
	case inBody, inChunk, inConflict, inUnknown:
	}
}

// readHeader notes one of the two headers.
func (f *framing) readHeader(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimSpace(value)
	switch {
	case line[0] == ' ' || line[0] == '\t': // the line before goes on, which may be one of the two
		f.state = inUnknown
	case bytes.EqualFold(name, []byte("content-length")):
		n, err := strconv.ParseInt(string(value), 10, 63)
		if f.length = n; err != nil || n < 0 {
			f.state = inUnknown // net/http refuses it
		}
	case bytes.EqualFold(name, []byte("transfer-encoding")):
		f.chunked = true // net/http refuses every other
	}
}

// endHeaders decides what follows the headers of a request.
func (f *framing) endHeaders() {
	f.chunked = f.chunked && !f.old // as net/http has it
	switch {
	case f.chunked && f.length >= 0:
		f.state = inConflict
	case f.chunked:
		f.state = inChunkSize
	case f.length > 0:
		f.state, f.left = inBody, f.length
	default:
		f.state = inRequestLine
	}
}
