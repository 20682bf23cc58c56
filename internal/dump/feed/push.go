package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// Push is a batch of records that a vendor sent to a feed of that kind. It is kept sealed, with what its header says,
// before the vendor is answered, and imported by a run of the feed.
type Push struct {
	Feed string
	// Mark tells it from others of the feed: a keyed mark of the sender's id, which may be anything.
	Mark []byte
	// Breach is which one its records become, and Told what is told of it: a manifest, as JSON.
	Breach         string
	Told           []byte
	Records, Bytes int64
	// LeftOut counts values that are none of their kind. It is told to the vendor, and not kept.
	LeftOut int64
	State   PushState
	// Error is why it failed.
	Error      string
	ReceivedAt time.Time
	EndedAt    time.Time
}

// PushState is what became of a push.
type PushState string

// The states. What has failed is not tried again, and its records are gone: the vendor was told that they are here, so
// the operator is told why not.
const (
	PushWaiting PushState = "waiting"
	PushDone    PushState = "done"
	PushFailed  PushState = "failed"
)

// IsKnown reports whether it is one of the states: see sqldb.Enumerated.
func (s PushState) IsKnown() bool {
	switch s {
	case PushWaiting, PushDone, PushFailed:
		return true
	}
	return false
}

const (
	// MaxPush bounds the body of a push, and MostWaiting what waits of one feed.
	MaxPush     = 8 << 20
	MostWaiting = 1 << 30
	// pushEvery is how often a feed polls for stored pushes whose job could not be added.
	pushEvery = 5 * time.Minute
	// idsKept is how long the ids of pushes are known: long after no signature of theirs is good any more.
	idsKept = 30 * 24 * time.Hour
	// rotationOverlap is how long a secret that was replaced is still good.
	rotationOverlap = webhook.RotationOverlap
	// PushPath is where pushes go, before the feed's name.
	PushPath = "/supply/"
)

// Faults of pushes.
var (
	ErrPush     = fault.New(fault.Unprocessable, "push.records")
	ErrRepeated = fault.New(fault.Conflict, "push.repeated")
	ErrTaken    = fault.New(fault.Conflict, "push.breach")
	ErrBacklog  = fault.New(fault.Unavailable, "push.backlog")
	ErrPaused   = fault.New(fault.Unavailable, "push.paused")
	ErrPace     = fault.New(fault.RateLimited, "push.rate")
)

// Receipt is what a vendor is told, as it is answered.
type Receipt struct {
	Status  string `json:"status"`
	Breach  string `json:"breach"`
	Records int64  `json:"records"`
	// LeftOut counts values of its records that are none of their kind.
	LeftOut int64 `json:"values_left_out"`
	// Repeated says that it was here before: nothing was kept again.
	Repeated bool `json:"repeated"`
}

// ReceivePush takes a push: signed by the feed's secret, now, once, and readable to its last line. When it returns
// without an error the records are on disk.
func (fs *Feeds) ReceivePush(ctx context.Context, name string, header http.Header, body []byte) (Receipt, error) {
	f, err := fs.Store.FeedByName(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Receipt{}, err
	}
	var secrets []webhook.Secret // stays empty for an unknown feed: the answer is the same, so names cannot be guessed
	if err == nil && f.Kind == Pushed {
		if secrets, err = pushSecrets(f.Secret, fs.Now()); err != nil {
			return Receipt{}, err
		}
	}
	if err := webhook.VerifyRequest(header, body, fs.Now(), secrets); err != nil {
		return Receipt{}, err
	}
	if fs.PushPace != nil {
		if wait := fs.PushPace(name); wait > 0 {
			return Receipt{}, ErrPace.Note("feed: too many pushes; at most one a second over time")
		}
	}
	if f.Paused {
		return Receipt{}, ErrPaused.Note("feed: is paused")
	}
	p, err := fs.readPush(ctx, f, body)
	if err != nil {
		return Receipt{}, err
	}
	kept, fresh, err := fs.Store.KeepPush(ctx, p, header.Get(webhook.HeaderID), body)
	if err != nil {
		return Receipt{}, err
	}
	// An error is ignored: workers poll for stored pushes anyway, so this one is not lost without a job.
	_, _ = fs.Jobs.EnqueueJob(ctx, KindRun, name, struct{}{})
	return Receipt{Breach: kept.Breach, Records: kept.Records, LeftOut: p.LeftOut, Repeated: !fresh}, nil
}

// readPush looks at every line of a push and decides which breach it is of.
func (fs *Feeds) readPush(ctx context.Context, f Feed, body []byte) (Push, error) {
	m, err := f.Settings.parseMapping()
	if err != nil {
		return Push{}, err
	}
	report, err := fs.Importer.ReadRecords(ctx, body, m)
	if err != nil {
		return Push{}, err
	}
	sum := report.Records
	switch {
	case report.NoRecords != "":
		return Push{}, ErrPush.Note("%s", report.NoRecords)
	case m == nil && sum.Wrong > 0: // what a vendor exports is what it is: the import counts it
		_, line, _ := strings.Cut(report.Skips[0].Name, ":")
		return Push{}, ErrPush.Note("line %s: %s", line, strings.TrimPrefix(report.Skips[0].Reason, "records: "))
	case sum.Records == 0:
		return Push{}, ErrPush.Note("records: at least one")
	}
	told, err := fs.describePush(f, sum.Breach)
	if err != nil {
		return Push{}, err
	}
	text, err := json.Marshal(told)
	if err != nil {
		return Push{}, err
	}
	r, err := fs.Importer.Store.BreachByName(ctx, told.Name)
	switch {
	case errors.Is(err, leak.ErrBreachNotFound):
	case err != nil:
		return Push{}, err
	case r.Source != told.Source || r.State == leak.Retracted:
		return Push{}, ErrTaken.Note("breach.name: is another breach's, or was retracted")
	}
	return Push{
		Feed: f.Name, Breach: told.Name, Told: text, Records: sum.Records, LeftOut: sum.LeftOut,
		Bytes: int64(len(body)), State: PushWaiting, ReceivedAt: fs.Now(),
	}, nil
}

// describePush returns what is told of the breach of a push: what its header says, or a breach of the day.
func (fs *Feeds) describePush(f Feed, header json.RawMessage) (manifest, error) {
	now := fs.Now().UTC()
	m := manifest{
		Name:  f.Name + "-" + now.Format("20060102"),
		Title: f.Name + " " + now.Format(time.DateOnly),
		Date:  now.Format(time.DateOnly),
	}
	if header != nil {
		decoder := json.NewDecoder(bytes.NewReader(header))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&m); err != nil {
			return m, ErrPush.Note("line 1: breach: name, title, date, exposes, kind, description, verified, " +
				"fabricated, spam_list, no_pairs, each of its own type").Because(err)
		}
	}
	m.IsVendors = header != nil
	if len(m.Files) > 0 || len(m.URLs) > 0 {
		return m, ErrPush.Note("line 1: breach: the records are in the push itself")
	}
	if len(m.Exposes) == 0 {
		m.Exposes = []string{string(leak.Auto)}
	}
	m.Source = sourceOf(f) // a vendor adds to its own breaches only
	b, err := m.parseBreach()
	if err == nil {
		b.AddedAt = now
		err = leak.CheckNewBreach(&b, now)
	}
	var why *fault.Error
	if errors.As(err, &why) {
		return m, ErrPush.Note("line 1: breach.%s", why.Detail())
	}
	return m, err
}

// sourceOf returns what the breaches of a feed name as their source.
func sourceOf(f Feed) string { return "feed " + f.Name }

// importPushes imports what waits, in the order in which it came.
func (fs *Feeds) importPushes(ctx context.Context, f *Feed) error {
	m, err := f.Settings.parseMapping()
	if err != nil {
		return err
	}
	var failed error
	for {
		waiting, err := fs.Store.WaitingPushes(ctx, f.Name, 1)
		if err != nil {
			return err
		}
		if len(waiting) == 0 {
			break
		}
		p := waiting[0]
		leftOut, err := fs.importPush(ctx, f, p, m)
		if err != nil && (ctx.Err() != nil || !isPermanent(err)) {
			return fmt.Errorf("%s: %w", p.Breach, err)
		}
		p.State, p.EndedAt = PushDone, fs.Now()
		if err != nil {
			p.State, p.Error = PushFailed, failureReason(err)
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.Breach, err)) // the others are taken all the same
		}
		if err := fs.Store.FinishPush(ctx, p); err != nil {
			return err
		}
		if p.State == PushFailed {
			f.State.Refused++
		} else {
			f.State.Items += p.Records
			f.State.LeftOut += leftOut
		}
	}
	return errors.Join(failed, fs.Store.SweepPushes(ctx, f.Name, fs.Now().Add(-idsKept)))
}

// isPermanent reports whether the same push would fail the same way again.
func isPermanent(err error) bool {
	kinds := []fault.Kind{fault.Invalid, fault.NotFound, fault.Conflict, fault.Unprocessable, fault.TooLarge}
	return !errors.Is(err, intake.ErrBusy) && slices.Contains(kinds, fault.KindOf(err))
}

// importPush makes a breach of a push, or adds to the one that it is of. Either can be repeated: what is there already
// changes nothing.
func (fs *Feeds) importPush(ctx context.Context, f *Feed, p Push, m *stated.Mapping) (leftOut int64, err error) {
	var told manifest
	if err := json.Unmarshal(p.Told, &told); err != nil {
		return 0, fmt.Errorf("read push: %w", err)
	}
	b, err := told.parseBreach()
	if err != nil {
		return 0, err
	}
	// All of it before the import begins: of a source that fails in its middle an import takes what came.
	body, err := fs.Store.OpenPushBody(ctx, p)
	if err != nil {
		return 0, err
	}
	input := intake.ReaderInput(
		"records",
		fmt.Sprintf("push %x", p.Mark),
		p.Bytes,
		func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(body)), nil
		},
	)
	spec := intake.Spec{
		Breach:  b,
		Inputs:  []intake.Input{input},
		Mapping: m,
		NoPairs: told.NoPairs || f.Settings.NoPairs,
	}
	r, err := fs.Importer.Store.BreachByName(ctx, b.Name)
	if err != nil && !errors.Is(err, leak.ErrBreachNotFound) {
		return 0, err
	}
	if err == nil && r.Source != told.Source {
		return 0, ErrTaken.Note("breach.name: is another breach's, or was retracted")
	}
	if err == nil && r.State == leak.Published {
		out, err := fs.Importer.RenewBreach(ctx, intake.Append, spec)
		return out.Tally.LeftOut - r.Tally.LeftOut, err
	}
	out, err := fs.Importer.ImportBreach(ctx, spec)
	return out.Tally.LeftOut, err
}

// A secret of pushes is kept with those that it replaced, newest first: "whsec_... whsec_...@1763290000".

// newPushSecret makes the secret of a feed and returns what is to be kept, and what the vendor is told.
func newPushSecret(random io.Reader, before string, now time.Time) (kept, shown string, err error) {
	secret, err := webhook.NewSecret(random)
	if err != nil {
		return "", "", err
	}
	kept = secret.Reveal()
	if current, _, _ := strings.Cut(
		before,
		" ",
	); current != "" { // only the last secret stays valid for a while: older ones had their time
		kept += " " + current + "@" + strconv.FormatInt(now.Add(rotationOverlap).Unix(), 10)
	}
	return kept, secret.Reveal(), nil
}

// pushSecrets returns the secrets that are valid at now. Former ones are stored with an expiry, so that a supplier has
// time to change to the new one.
func pushSecrets(kept string, now time.Time) (secrets []webhook.Secret, err error) {
	for _, text := range strings.Fields(kept) {
		text, until, dated := strings.Cut(text, "@")
		if seconds, err := strconv.ParseInt(until, 10, 64); dated && (err != nil || now.Unix() >= seconds) {
			continue
		}
		secret, err := webhook.ParseSecret(text)
		if err != nil {
			return nil, fmt.Errorf("read secret: %w", err)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// RotateSecret gives a receiver a new secret, which is shown once; the one before is good for another day.
func (fs *Feeds) RotateSecret(ctx context.Context, name string) (f Feed, secret string, err error) {
	f, err = fs.Store.UpdateFeed(ctx, name, func(f *Feed) error {
		if f.Kind != Pushed {
			return ErrInvalid.Note("name: only a feed of kind push has a secret of ours")
		}
		kept, shown, err := newPushSecret(fs.Random, f.Secret, fs.Now())
		f.Secret, secret = kept, shown
		return err
	})
	return f, secret, err
}

// RemoveFeed forgets a feed, what it has taken and what waits. What it brought stays.
func (fs *Feeds) RemoveFeed(ctx context.Context, name string) error {
	return fs.Store.DeleteFeed(ctx, name)
}

// parseMapping returns how the records of a feed are read; nil when they say it themselves.
func (s Settings) parseMapping() (*stated.Mapping, error) {
	if s.Mapping == "" {
		return nil, nil //nolint:nilnil // most feeds have none, and nil is what an import takes for that
	}
	return stated.ParseMapping([]byte(s.Mapping))
}

// Vendors send breach records to one address for each feed of kind push, apart from the partner API and the console.
//
// The invariants: nothing of a body is believed, kept or read beyond its bounds before its signature was found right;
// what is answered with 202 is on disk; what is refused is refused whole, with the line, the field and the rule and
// never a value; a log line names the feed and nothing that was sent.

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
	return &PushDoor{
		DoorOptions: o,
		addresses:   telemetry.NewBudget(o.Now, addressEvery, addressBurst),
		room:        make(chan struct{}, atOnce),
	}
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
	receipt.Status = "kept"
	var body any = receipt
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
		Pages:  "supply",
		Route:  PushPath + "{feed}",
		From:   d.Callers.AddressForLog(address),
		Status: status,
		Took:   d.Now().Sub(start),
		Err:    err,
		Who:    slog.String("feed", ""),
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
func (d *PushDoor) takePush(
	w http.ResponseWriter,
	r *http.Request,
	name, address string,
) (receipt Receipt, wait time.Duration, err error) {
	if r.Method != http.MethodPost {
		return receipt, 0, errMethod.Note("method: POST")
	}
	if wait := d.addresses.TakeToken(address); wait > 0 {
		return receipt, wait, errRate.Note("address: too many requests")
	}
	if !isReadable(r.Header) {
		return receipt, 0, errType.Note(
			"content-type: application/x-ndjson, application/jsonl, application/json or text/csv, without " +
				"content-encoding",
		)
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
	readable := []string{"application/x-ndjson", "application/jsonl", "application/json", "text/csv"}
	return err == nil && h.Get("Content-Encoding") == "" && slices.Contains(readable, kind)
}
