// Package supply is where vendors send breach records to: one address for each feed of kind push, apart from the partner
// API and the console.
//
// The invariants it keeps: nothing of a body is believed, kept or read beyond its bounds before its signature was found
// right; what is answered with 202 is on disk; what is refused is refused whole, with the line, the field and the rule and
// never a value; a log line names the feed and nothing that was sent.
package supply

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/caller"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/page"
)

// Feeds takes what was sent.
type Feeds interface {
	ReceivePush(ctx context.Context, name string, header http.Header, body []byte) (feed.Receipt, error)
}

// Options are what the address needs.
type Options struct {
	Feeds   Feeds
	Log     *slog.Logger
	Now     func() time.Time
	Callers *caller.Callers
}

// What an address may send, signed or not: a vendor with more sends larger pushes.
const (
	addressBurst, addressEvery = 60, time.Second
	// atOnce bounds the bodies in memory.
	atOnce = 4
)

// Faults of requests.
var (
	errMethod = fault.New(fault.Invalid, "push.method")
	errType   = fault.New(fault.UnsupportedType, "push.type")
	errLarge  = fault.New(fault.TooLarge, "push.size")
	errRate   = fault.New(fault.RateLimited, "push.rate")
	errBusy   = fault.New(fault.Unavailable, "push.busy")
	errBody   = fault.New(fault.Invalid, "push.body")
)

// Door answers vendors.
type Door struct {
	Options
	addresses *caller.Budget
	room      chan struct{}
}

// NewDoor makes the address below feed.PushPath.
func NewDoor(o Options) *Door {
	return &Door{Options: o, addresses: caller.NewBudget(o.Now, addressEvery, addressBurst), room: make(chan struct{}, atOnce)}
}

// answer is the body of a delivery that was accepted; Repeated says that it had been accepted before.
type answer struct {
	Status   string `json:"status"`
	Breach   string `json:"breach"`
	Records  int64  `json:"records"`
	LeftOut  int64  `json:"values_left_out"`
	Repeated bool   `json:"repeated"`
}

// refusal is the body of a delivery that was refused.
type refusal struct {
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// ServeHTTP takes one push.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, address := d.Now(), d.Callers.CallerAddress(r)
	name := strings.TrimPrefix(r.URL.Path, feed.PushPath)
	receipt, wait, err := d.takePush(w, r, name, address)
	status := http.StatusAccepted
	switch {
	case errors.Is(err, errMethod):
		w.Header().Set("Allow", http.MethodPost)
		status = http.StatusMethodNotAllowed
	case err != nil:
		status = page.StatusOfFault(err)
	}
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	var body any = answer{"kept", receipt.Breach, receipt.Records, receipt.LeftOut, receipt.Repeated}
	if err != nil {
		body = map[string]refusal{"error": refusalOf(err)}
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the sender may have disconnected; its next try is a repeat
	line := page.Line{
		Pages: "supply", Route: feed.PushPath + "{feed}", From: d.Callers.AddressForLog(address), Status: status, Took: d.Now().Sub(start), Err: err, Who: slog.String("feed", ""),
	}
	if err == nil { // otherwise the name is unchecked text from the request
		line.Who = slog.String("feed", name)
	}
	line.WriteTo(d.Log, r)
}

// refusalOf returns what a vendor reads of a fault; of internal faults only that they are internal.
func refusalOf(err error) refusal {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind == fault.Internal {
		return refusal{Code: "internal"}
	}
	return refusal{f.Code, f.Detail()}
}

// takePush refuses what can be refused by its head, then reads the body and hands it on. wait is how long to stay away.
func (d *Door) takePush(w http.ResponseWriter, r *http.Request, name, address string) (receipt feed.Receipt, wait time.Duration, err error) {
	if r.Method != http.MethodPost {
		return receipt, 0, errMethod.Note("method: POST")
	}
	if wait := d.addresses.TakeToken(address); wait > 0 {
		return receipt, wait, errRate.Note("address: too many requests")
	}
	if !isReadable(r.Header) {
		return receipt, 0, errType.Note("content-type: application/x-ndjson, application/jsonl, application/json or text/csv, without content-encoding")
	}
	if r.ContentLength > feed.MaxPush {
		return receipt, 0, errLarge.Note("body: at most %d bytes", feed.MaxPush)
	}
	select {
	case d.room <- struct{}{}:
		defer func() { <-d.room }()
	default:
		return receipt, time.Second, errBusy.Note("server: too many pushes at once")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, feed.MaxPush))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return receipt, 0, errLarge.Note("body: at most %d bytes", feed.MaxPush)
		}
		return receipt, 0, errBody.Note("body: broke off").Because(err)
	}
	receipt, err = d.Feeds.ReceivePush(r.Context(), name, r.Header, body)
	switch {
	case errors.Is(err, feed.ErrBacklog), errors.Is(err, feed.ErrPaused):
		return receipt, time.Minute, err
	case errors.Is(err, feed.ErrPace):
		return receipt, time.Second, err
	}
	return receipt, 0, err
}

// isReadable says whether a body is declared as something that is read here.
func isReadable(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || h.Get("Content-Encoding") != "" {
		return false
	}
	switch kind {
	case "application/x-ndjson", "application/jsonl", "application/json", "text/csv":
		return true
	}
	return false
}
