package feed

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

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/telemetry"
)

// Vendors send breach records to one address for each feed of kind push, apart from the partner API and the console.
//
// The invariants: nothing of a body is believed, kept or read beyond its bounds before its signature was found right; what is
// answered with 202 is on disk; what is refused is refused whole, with the line, the field and the rule and never a value; a
// log line names the feed and nothing that was sent.

// PushTaker takes what was sent.
type PushTaker interface {
	ReceivePush(ctx context.Context, name string, header http.Header, body []byte) (Receipt, error)
}

// DoorOptions are what the address needs.
type DoorOptions struct {
	Feeds   PushTaker
	Log     *slog.Logger
	Now     func() time.Time
	Callers *telemetry.Callers
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

// PushDoor answers vendors.
type PushDoor struct {
	DoorOptions
	addresses *telemetry.Budget
	room      chan struct{}
}

// NewPushDoor makes the address below PushPath.
func NewPushDoor(o DoorOptions) *PushDoor {
	return &PushDoor{DoorOptions: o, addresses: telemetry.NewBudget(o.Now, addressEvery, addressBurst), room: make(chan struct{}, atOnce)}
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
func (d *PushDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, address := d.Now(), d.Callers.CallerAddress(r)
	name := strings.TrimPrefix(r.URL.Path, PushPath)
	receipt, wait, err := d.takePush(w, r, name, address)
	status := http.StatusAccepted
	switch {
	case errors.Is(err, errMethod):
		w.Header().Set("Allow", http.MethodPost)
		status = http.StatusMethodNotAllowed
	case err != nil:
		status = telemetry.StatusOfPage(err)
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
	line := telemetry.PageLine{
		Pages: "supply", Route: PushPath + "{feed}", From: d.Callers.AddressForLog(address), Status: status, Took: d.Now().Sub(start), Err: err, Who: slog.String("feed", ""),
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
func (d *PushDoor) takePush(w http.ResponseWriter, r *http.Request, name, address string) (receipt Receipt, wait time.Duration, err error) {
	if r.Method != http.MethodPost {
		return receipt, 0, errMethod.Note("method: POST")
	}
	if wait := d.addresses.TakeToken(address); wait > 0 {
		return receipt, wait, errRate.Note("address: too many requests")
	}
	if !isReadable(r.Header) {
		return receipt, 0, errType.Note("content-type: application/x-ndjson, application/jsonl, application/json or text/csv, without content-encoding")
	}
	if r.ContentLength > MaxPush {
		return receipt, 0, errLarge.Note("body: at most %d bytes", MaxPush)
	}
	select {
	case d.room <- struct{}{}:
		defer func() { <-d.room }()
	default:
		return receipt, time.Second, errBusy.Note("server: too many pushes at once")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxPush))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return receipt, 0, errLarge.Note("body: at most %d bytes", MaxPush)
		}
		return receipt, 0, errBody.Note("body: broke off").Because(err)
	}
	receipt, err = d.Feeds.ReceivePush(r.Context(), name, r.Header, body)
	switch {
	case errors.Is(err, ErrBacklog), errors.Is(err, ErrPaused):
		return receipt, time.Minute, err
	case errors.Is(err, ErrPace):
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
