package api

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// intake is a body on its way in: bounded, unpacked where it came packed, and digested where the request has an
// idempotency key.
type intake struct {
	from io.Reader
	// digest is nil without a key.
	digest hash.Hash
	// refusedAs are the headers of a body that is refused for its type: the same bytes under another type are another
	// body.
	refusedAs string
	err       error
}

// Read returns faults, not the errors of a connection or of gzip.
func (in *intake) Read(p []byte) (int, error) {
	if in.err != nil {
		return 0, in.err
	}
	n, err := in.from.Read(p)
	if in.digest != nil {
		in.digest.Write(p[:n])
	}
	if err != nil && !errors.Is(err, io.EOF) {
		in.err = bodyFault(err)
		// How far an unpacker comes with a body that it fails at depends on how it arrives, so such bodies count as
		// one.
		if _, packed := in.from.(*unpacking); packed && in.digest != nil {
			in.digest.Reset()
		}
		return n, in.err
	}
	return n, err // io.EOF, or nothing
}

// drainBody reads what is left, so that the digest is that of the body up to its limit. It is false for a body that
// does not arrive.
func (in *intake) drainBody() bool {
	_, _ = io.Copy(io.Discard, in) // the error is in the intake
	return !errors.Is(in.err, errBodySlow)
}

// bodyDigest returns the digest of body and query: the same body with another query is another request.
func (in *intake) bodyDigest(query string) []byte {
	body := in.digest.Sum(nil)
	if query == "" && in.refusedAs == "" {
		return body
	}
	sum := sha256.Sum256(append(body, query+"\x00"+in.refusedAs...))
	return sum[:]
}

// openRequestBody judges the headers of a body and prepares its reading. What is refused here can still be read, for
// its digest.
func (r *request) openRequestBody(w http.ResponseWriter) error {
	limit := r.route.body.maxBodyLength()
	if r.route.body == streamBody {
		// A large body may take longer than the server's general limits. Servers without deadlines (tests) may refuse.
		control := http.NewResponseController(w)
		now := time.Now() //nolint:forbidigo // deadlines of connections are by the machine's clock
		_ = control.SetReadDeadline(now.Add(bulkReadTime))
		_ = control.SetWriteDeadline(now.Add(bulkReadTime + bulkAnswerTime))
	}
	if r.claim.Key != "" {
		r.in.digest = sha256.New()
	}
	r.in.from = http.MaxBytesReader(w, r.http.Body, limit)
	packed, err := packedJSON(r.http.Header)
	switch {
	case err != nil:
		contentType := strings.Join(r.http.Header.Values("Content-Type"), ",")
		encoding := strings.Join(r.http.Header.Values("Content-Encoding"), ",")
		r.in.refusedAs = contentType + "\x00" + encoding
	case packed:
		r.in.from = &unpacking{packed: counting{from: r.in.from}, limit: limit}
	}
	return err
}

// A client that only reads its answer after it has sent its whole body, as many simple ones do, sees a broken
// connection in place of a refusal that came before. So a refused body is read and thrown away, up to these bounds.
const (
	maxDiscarded = 8 << 20
	discardTime  = 2 * time.Second
)

// discardBody reads the rest of a body that was refused. A client that waits for leave to send it is not given any.
func discardBody(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" {
		return
	}
	// Servers without deadlines (tests) may refuse. The next request of the connection gets its own.
	deadline := time.Now().Add(discardTime) //nolint:forbidigo // as in openRequestBody
	_ = http.NewResponseController(w).SetReadDeadline(deadline)
	_, _ = io.CopyN(io.Discard, r.Body, maxDiscarded) // whatever comes of it, the refusal is written
}

// bodyFault tells a body that is too large or cannot be unpacked from one that did not arrive.
func bodyFault(err error) error {
	var large *http.MaxBytesError
	var named *fault.Error
	switch {
	case errors.As(err, &named):
		return named
	case errors.As(err, &large):
		return errBodyTooLarge.With("body", fault.BytesAtMost, large.Limit)
	}
	return errBodySlow.With("body", fault.ArrivedInPart).Because(err)
}

// counting counts what was read, and keeps the error of a reading that failed.
type counting struct {
	from io.Reader
	read int64
	err  error
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err // a reader's errors are its caller's
}
