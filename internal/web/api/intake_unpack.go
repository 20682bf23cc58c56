package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// A packed body is held to the limits of what it unpacks to. Above unpackedFree it may be at most maxUnpackRatio times
// what was sent: people's data shrinks to a tenth, and only made-up data to less than a hundredth.
const (
	maxUnpackRatio = 100
	unpackedFree   = 1 << 20
)

// packedJSON reports whether the headers announce JSON, and whether it is packed by gzip.
func packedJSON(h http.Header) (packed bool, err error) {
	if enc := h.Values("Content-Encoding"); len(enc) > 0 {
		switch strings.ToLower(strings.TrimSpace(strings.Join(enc, ","))) {
		case "", "identity":
		case "gzip", "x-gzip":
			packed = true
		default:
			return false, errBodyType.With("content-encoding", fault.GzipOnce)
		}
	}
	ct := h.Values("Content-Type")
	if len(ct) == 0 || len(ct) == 1 && ct[0] == "application/json" {
		return packed, nil
	}
	kind, params, err := mime.ParseMediaType(ct[0])
	if err != nil || len(ct) > 1 ||
		(kind != "application/json" && !(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))) {
		return false, errBodyType.With("content-type", fault.ExpectedJSONType)
	}
	if cs := params["charset"]; cs != "" && !strings.EqualFold(cs, "utf-8") {
		return false, errBodyType.With("content-type", fault.ExpectedUTF8)
	}
	return packed, nil
}

// unpacking reads gzip within a limit. Several members one after the other are one body, as the format has it.
type unpacking struct {
	packed counting
	gunzip *gzip.Reader
	limit  int64
	given  int64
}

func (u *unpacking) Read(p []byte) (int, error) {
	if u.gunzip == nil {
		var err error
		if u.gunzip, err = gzip.NewReader(&u.packed); err != nil {
			return 0, u.gzipFault()
		}
	}
	n, err := u.gunzip.Read(p)
	u.given += int64(n)
	switch {
	case u.given > u.limit:
		return n - int(u.given-u.limit), errBodyTooLarge.With("body", fault.BytesUnpacked, u.limit)
	case u.given > unpackedFree && u.given > maxUnpackRatio*u.packed.read:
		return n, errUnpackRatio.With("body", fault.UnpackRatio, maxUnpackRatio)
	case err == nil, errors.Is(err, io.EOF):
		return n, err // io.EOF, or nothing
	}
	return n, u.gzipFault()
}

// gzipFault tells gzip that is broken from a connection that is.
func (u *unpacking) gzipFault() error {
	if u.packed.err != nil {
		return u.packed.err
	}
	return errUnpack.With("body", fault.NotGzip)
}
