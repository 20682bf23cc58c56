package app

import "testing"

// TestFramingFollowsPieces: however the bytes of a connection are cut, its requests are counted the same, and what
// stands in a body is no request.
func TestFramingFollowsPieces(t *testing.T) {
	for sent, want := range map[string]framing{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n":                           {requests: 2},
		"POST / HTTP/1.1\nContent-Length: 18\n\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n":          {requests: 2},
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n0\r\n\r\nGET / HTTP/1.1\r\n": {requests: 2, state: inHeaders},
		"GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n": {
			requests: 2, state: inConflict,
		},
		// HTTP/1.0 has no chunks, so the length counts.
		"POST / HTTP/1.0\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabcGET / HTTP/1.1\r\n": {requests: 2, state: inHeaders},
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n Content-Length: 3\r\n\r\n":                     {requests: 1, state: inUnknown},
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n":                                     {requests: 1, state: inUnknown},
	} {
		for size := 1; size <= len(sent); size++ {
			var f framing
			for at := 0; at < len(sent); at += size {
				f.follow([]byte(sent[at:min(at+size, len(sent))]))
			}
			if f.requests != want.requests || f.state != want.state {
				t.Fatalf("in pieces of %d: %d requests and state %d, not %d and %d, of %q",
					size, f.requests, f.state, want.requests, want.state, sent)
			}
		}
	}
}
