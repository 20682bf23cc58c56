package assistant

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/partner"
)

const (
	// maxMessage bounds a message: the longest names a person and a finding.
	maxMessage = 64 << 10
	// atOnce bounds the calls that run at the same time over standard input and output.
	atOnce = 16
)

// Run answers messages of one line each until the input ends, calls under way included, or until the context does. A
// read cannot be woken, so in the second case it stays behind: what comes then is the program's end.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	done := make(chan error, 1)
	go func() { done <- s.answerLines(ctx, in, out) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// answerLines runs requests beside each other, so that a slow one holds up no other and can be cancelled. Where too
// many run, reading waits, and a cancellation with it.
func (s *Server) answerLines(ctx context.Context, in io.Reader, out io.Writer) error {
	calls, ctx := errgroup.WithContext(ctx)
	calls.SetLimit(atOnce)
	var (
		writing sync.Mutex
		running sync.Map // cancels a request, by its id
		ended   error
	)
	for lines := bufio.NewReaderSize(in, maxMessage); ended == nil && ctx.Err() == nil; {
		var line []byte
		if line, ended = readLine(lines); line != nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r, f := read(line)
		if r.id == nil && f == nil {
			one, _ := running.Load(string(r.params.RequestID))
			if cancel, ok := one.(context.CancelFunc); ok && r.method == "notifications/cancelled" {
				cancel()
			}
			continue
		}
		mine, cancel := context.WithCancel(ctx)
		if r.id != nil {
			running.Store(string(r.id), cancel)
		}
		calls.Go(func() error {
			defer cancel()
			defer running.Delete(string(r.id))
			text, err := json.Marshal(s.answer(mine, r, f))
			if err != nil || mine.Err() != nil { // of a cancelled request nothing more is said
				return err
			}
			writing.Lock()
			defer writing.Unlock()
			_, err = out.Write(append(text, '\n'))
			return err
		})
	}
	if errors.Is(ended, io.EOF) {
		ended = nil
	}
	return errors.Join(ended, calls.Wait())
}

// readLine reads a line of its own. One that is too long is skipped and nil, which no message is.
func readLine(from *bufio.Reader) ([]byte, error) {
	line, err := from.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return append([]byte{}, line...), err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = from.ReadSlice('\n')
	}
	return nil, err
}

// Handler serves the tools over HTTP. Every request brings the API key of its partner, as x-api-key or as a bearer token,
// and there is no session: nothing of one request is known to the next. Requests that a browser sends for another site
// are refused.
func Handler(version, api string, through *http.Client, log *slog.Logger) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rebound(r) {
			http.Error(w, "host: this address is not served under that name", http.StatusForbidden)
			return
		}
		key := keyOf(r)
		ask, err := client.New(client.Config{URL: api, Key: key, HTTP: through})
		if err != nil || !partner.WellFormed(key) {
			w.Header().Set("www-authenticate", "Bearer")
			http.Error(w, "x-api-key or authorization: the partner's API key is missing, or is none", http.StatusUnauthorized)
			return
		}
		New(version, ask, log).serve(w, r)
	}))
}

func keyOf(r *http.Request) string {
	if key := r.Header.Get("x-api-key"); key != "" {
		return key
	}
	key, _ := strings.CutPrefix(r.Header.Get("authorization"), "Bearer ")
	return key
}

// rebound tells of a request that came to this machine's own address by another name: that of a stranger's page, who
// pointed it here.
func rebound(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && isLoopback(local.String()) && !isLoopback(r.Host)
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// serve answers one message with one, never with a stream.
func (s *Server) serve(w http.ResponseWriter, hr *http.Request) {
	switch media, _, _ := mime.ParseMediaType(hr.Header.Get("content-type")); {
	case hr.Method != http.MethodPost:
		w.Header().Set("allow", http.MethodPost)
		http.Error(w, "only POST is served", http.StatusMethodNotAllowed)
		return
	case media != "application/json":
		http.Error(w, "content-type: must be application/json", http.StatusUnsupportedMediaType)
		return
	case !takesJSON(hr.Header.Values("accept")):
		http.Error(w, "accept: must name application/json", http.StatusNotAcceptable)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, maxMessage))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		http.Error(w, "the body has more than 64 KiB", http.StatusRequestEntityTooLarge)
		return
	}
	r, f := read(body) // what was cut short on its way is no JSON
	if f == nil {
		f = mirrored(hr.Header, r)
	}
	if r.id == nil && f == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	a := s.answer(hr.Context(), r, f)
	status := http.StatusOK
	switch {
	case f != nil:
		status = http.StatusBadRequest
	case a.Error != nil && a.Error.Code == unknownMethod && r.version == stateless:
		status = http.StatusNotFound
	}
	w.Header().Set("content-type", "application/json")
	w.Header().Set("cache-control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // whoever left does not read it
}

// takesJSON tells whether an answer in JSON is welcome. Clients have to name streams too, and not all do.
func takesJSON(accept []string) bool {
	all := strings.Join(accept, ",")
	for kind := range strings.SplitSeq(all, ",") {
		kind, _, _ = strings.Cut(kind, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json", "application/*", "*/*":
			return true
		}
	}
	return all == ""
}

// mirrored compares a request with what headers repeat of it, so that whoever stands in between may go by the headers.
func mirrored(h http.Header, r request) *failure {
	version := h.Get("mcp-protocol-version")
	switch {
	case version != "" && !slices.Contains(versions, version):
		return notSupported(version)
	case r.version != "" && r.version != version:
		return failed(headerMismatch, "mcp-protocol-version: is not what params/_meta says")
	case version != stateless || r.id == nil:
		return nil
	case r.version == "":
		return failed(badParams, "params/_meta: %s is missing", metaVersion)
	case h.Get("mcp-method") != r.method:
		return failed(headerMismatch, "mcp-method: is not the method")
	case r.method == "tools/call" && unpacked(h.Get("mcp-name")) != r.params.Name:
		return failed(headerMismatch, "mcp-name: is not params/name")
	}
	return nil
}

// unpacked is a header's value, which is packed where it has characters that headers do not carry.
func unpacked(value string) string {
	packed, ok := strings.CutPrefix(value, "=?base64?")
	packed, end := strings.CutSuffix(packed, "?=")
	if plain, err := base64.StdEncoding.DecodeString(packed); ok && end && err == nil {
		return string(plain)
	}
	return value
}
