package cyber

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Source says where the keys of a system come from and how many are left.
type Source struct {
	System System
	// Pooled keys are taken from what the vendor delivered; otherwise the service generates them.
	Pooled bool
	// LowMark is the number of free keys below which a pool is low.
	LowMark int64
	// ToldLow is whether the operator was last told that the pool is low.
	ToldLow bool
	// Returns is whether the vendor lets a revoked key that no device used be issued again.
	Returns bool
	// Free and Taken count the pool's keys; Expired those that the vendor ended before they were issued.
	Free, Taken, Expired int64
	// Live counts live keys of the system, whatever they came from; Active those that protect a device.
	Live, Active int64
}

// Low reports whether the operator should order keys.
func (s Source) Low() bool { return s.Pooled && s.Free < s.LowMark }

// SourceChange is what an operator changes of a source; nil leaves a setting as it is.
type SourceChange struct {
	Pooled  *bool
	LowMark *int64
	Returns *bool
}

// DefaultLowMark is when a pool counts as low unless the operator says otherwise.
const DefaultLowMark = 100

// VendorKey is a key as the vendor delivered it.
type VendorKey struct {
	Key string
	// Expires is when the vendor ends it; zero where the file does not say.
	Expires time.Time
}

// EndsAt returns when a key from the pool is over: when the plan says so, and never later than the vendor does.
func (k VendorKey) EndsAt(plan time.Time) time.Time {
	if k.Expires.IsZero() || plan.Before(k.Expires) {
		return plan
	}
	return k.Expires
}

// PoolStore keeps vendors' keys.
type PoolStore interface {
	// LoadKeyPool keeps the keys that are not known yet, switches the system to its pool, and returns how many were
	// new. A known key that comes with a date of its end ends then, issued or not.
	LoadKeyPool(ctx context.Context, system System, keys []VendorKey) (int, error)
	// UpdateSource changes where a system's keys come from.
	UpdateSource(ctx context.Context, system System, change SourceChange) error
}

// ErrPoolFile means that a file of vendor keys cannot be read as such.
var ErrPoolFile = fault.New(fault.Invalid, "pool.file_invalid")

// poolBatch is how many keys of a vendor's file are stored in one transaction.
const poolBatch = 500

// Loaded says how far a load has come.
type Loaded struct {
	// Read are keys of the file, New those that were not known before.
	Read, New int
}

// LoadKeyPool reads a vendor's file, one key a line, or a CSV whose column "key" (or else the first) holds the keys,
// and puts what is new into the system's pool. A column "expires" says when the vendor ends each key. It may be
// repeated: known keys are passed over, but for a date that they did not have. progress may be nil.
func (e *Endpoints) LoadKeyPool(
	ctx context.Context,
	system System,
	file io.Reader,
	progress func(Loaded),
) (Loaded, error) {
	var done Loaded
	rows := newPoolReader(file)
	batch := make([]VendorKey, 0, poolBatch)
	keep := func() error {
		n, err := e.store.LoadKeyPool(ctx, system, batch)
		if err != nil {
			return fmt.Errorf("load keys: %w", err)
		}
		done.Read, done.New, batch = done.Read+len(batch), done.New+n, batch[:0]
		if progress != nil {
			progress(done)
		}
		return nil
	}
	for {
		key, err := rows.readNextKey()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return done, err
		}
		if batch = append(batch, key); len(batch) == poolBatch {
			if err := keep(); err != nil {
				return done, err
			}
		}
	}
	if len(batch) > 0 {
		if err := keep(); err != nil {
			return done, err
		}
	}
	if done.Read == 0 {
		return done, ErrPoolFile.With("file", fault.NoKeysInIt)
	}
	return done, nil
}

// UpdateSource changes where a system's keys come from.
func (e *Endpoints) UpdateSource(ctx context.Context, system System, change SourceChange) error {
	if mark := change.LowMark; mark != nil && (*mark < 0 || *mark > 1_000_000_000) {
		return ErrPoolFile.With("low mark", fault.KeysUpTo)
	}
	return e.store.UpdateSource(ctx, system, change)
}

// maxVendorKey is the most characters that an activation key of a vendor may have.
const maxVendorKey = 200

// poolReader reads a vendor's file key by key.
type poolReader struct {
	rows *csv.Reader
	// key and expires are the columns; -1 for one that is not known, or not there.
	key, expires int
}

// newPoolReader reads a CSV file of keys as spreadsheets write it: with or without a byte order mark, with any usual
// separator, and with rows of any length.
func newPoolReader(file io.Reader) *poolReader {
	text := withoutMark(file)
	rows := csv.NewReader(text)
	rows.Comma = detectSeparator(text)
	rows.FieldsPerRecord, rows.ReuseRecord, rows.TrimLeadingSpace = -1, true, true
	return &poolReader{rows: rows, key: -1, expires: -1}
}

// withoutMark skips the byte order mark that spreadsheets write.
func withoutMark(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	if mark, err := b.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = b.Discard(3) // just seen by Peek
	}
	return b
}

// detectSeparator returns what divides the cells of the first line: where the comma is in numbers, as in Brazil,
// spreadsheets write semicolons.
func detectSeparator(text *bufio.Reader) rune {
	start, _ := text.Peek(1024) // a shorter file comes with an error, and whole
	first, _, _ := strings.Cut(string(start), "\n")
	if strings.Contains(first, ";") && !strings.Contains(first, ",") {
		return ';'
	}
	return ','
}

// readNextKey returns io.EOF after the last key.
func (r *poolReader) readNextKey() (VendorKey, error) {
	row, err := r.rows.Read()
	if err == nil && r.key < 0 && r.readHeading(row) {
		row, err = r.rows.Read()
	}
	if errors.Is(err, io.EOF) {
		return VendorKey{}, io.EOF
	}
	if err != nil {
		return VendorKey{}, ErrPoolFile.With("file", fault.NotAListOfKeys).Because(err)
	}
	line, _ := r.rows.FieldPos(0)
	if r.key >= len(row) || !partner.IsPrintable(strings.TrimSpace(row[r.key]), maxVendorKey) {
		return VendorKey{}, ErrPoolFile.With("", fault.KeyOnLine, line, maxVendorKey)
	}
	k := VendorKey{Key: strings.TrimSpace(row[r.key])}
	if r.expires < 0 || r.expires >= len(row) {
		return k, nil
	}
	if k.Expires, err = parseExpiry(strings.TrimSpace(row[r.expires])); err != nil {
		return VendorKey{}, ErrPoolFile.With("", fault.ExpiryOnLine, line)
	}
	return k, nil
}

// readHeading finds the columns in the first row, and tells whether that row is a heading at all.
func (r *poolReader) readHeading(row []string) bool {
	r.key = 0
	found := false
	for i, cell := range row {
		switch strings.ToLower(strings.TrimSpace(cell)) {
		case "key", "eppkey", "epp_key", "chave", "license", "licence", "activation_key":
			if !found {
				r.key, found = i, true
			}
		case "expires",
			"expires_at",
			"expiry",
			"expiry_date",
			"expiration",
			"expiration_date",
			"valid_until",
			"validade",
			"vencimento",
			"expira":
			r.expires = i
		}
	}
	if !found { // a first row without a heading for the keys is a key, whatever else it holds
		r.expires = -1
	}
	return found
}

// parseExpiry reads when a vendor ends a key. On a date the key still protects: it ends with that day, in Brazil.
func parseExpiry(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.DateOnly, "02/01/2006"} {
		if day, err := time.ParseInLocation(form, text, saoPaulo); err == nil {
			return day.AddDate(0, 0, 1).UTC(), nil
		}
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC(), err
}

// Faults of what partners share.
var (
	// ErrNotCovered means that no subscription in force gives the person a part of what partners share.
	ErrNotCovered = fault.New(fault.Conflict, "share.not_covered")
	// ErrShareUsed means that the partner has had its share.
	ErrShareUsed = fault.New(fault.Conflict, "share.used_up")
	// ErrShareInvalid is an operator's mistake.
	ErrShareInvalid = fault.New(fault.Invalid, "share.invalid")
)

// Resource is something that all partners take from: the pool of a system's keys, or the times of all calendars.
type Resource string

// SlotResource are coming appointments, of whatever service.
const SlotResource Resource = "slot"

func PoolResource(s System) Resource { return Resource("epp." + string(s)) }

// Share is what of a resource is one partner's.
type Share struct {
	Partner  partner.ID
	Resource Resource
	// Quota is the most that the partner may have; 0 means the default.
	Quota int64
	// Reserved are kept for the partner: others find the pool empty when no more than these are left.
	Reserved int64
	// Used counts keys that were taken, ever.
	Used int64
}

// defaultShare is what a live partner may have of a resource at least, however small that is, where the operator set
// nothing. It is also the largest floor that is kept for a partner in a pool.
const defaultShare = 10

// Taking is one partner's share of a resource at the moment of taking, beside those of the other live partners. Sandbox
// partners take nothing that live partners share.
type Taking struct {
	Share
	// ByAll is what all partners took, of those that have gone since included.
	ByAll int64
	// Others are the shares of the other live partners, also of those that took nothing yet.
	Others []Share
}

// MostAllowed returns how much a partner may have of a resource of which there is so much in all: what the operator
// set, or else half of it while there are several live partners.
func (t Taking) MostAllowed(inAll int64) int64 {
	switch {
	case t.Quota > 0:
		return max(t.Quota, t.Reserved)
	case len(t.Others) == 0:
		return max(inAll, t.Reserved)
	}
	return max(defaultShare, inAll/2, t.Reserved)
}

// reservedFloor returns how many keys of a pool are kept for each live partner without a reservation: half of the pool
// in equal parts, so that two partners cannot leave nothing to a third.
func (t Taking) reservedFloor(inAll int64) int64 {
	return min(defaultShare, inAll/int64(2*(len(t.Others)+1)))
}

// keptKeys returns how many keys are kept for a partner, those that it took included.
func (s Share) keptKeys(floor int64) int64 {
	if s.Quota > 0 {
		floor = min(floor, s.Quota)
	}
	return max(s.Reserved, floor)
}

// owedKeys returns how many keys are kept for other partners and not taken yet.
func (t Taking) owedKeys(floor int64) (n int64) {
	for _, o := range t.Others {
		n += max(0, o.keptKeys(floor)-o.Used)
	}
	return n
}

// MostCounted returns how many of a pool's free keys have to be counted at most: more make no difference.
func (t Taking) MostCounted() int64 {
	forFloor := 2*defaultShare*int64(len(t.Others)+1) - t.ByAll
	return max(t.owedKeys(defaultShare)+1, 2*(t.Used+1)-t.ByAll, forFloor, 1)
}

// CheckKey refuses another key of a pool with so many free ones, up to Counted, when the partner has had its share, or
// when what is left is kept for others.
func (t Taking) CheckKey(free int64) error {
	inAll := t.ByAll + free
	if len(t.Others) == 0 {
		inAll = max(inAll, t.Used+1) // all of it is the partner's
	}
	floor := t.reservedFloor(inAll)
	switch {
	case t.Used >= t.MostAllowed(inAll):
		return ErrShareUsed.With("operatingSystem", fault.ShareOfKeysTaken)
	case free == 0, t.Used >= t.keptKeys(floor) && free <= t.owedKeys(floor):
		return ErrPoolEmpty.With("operatingSystem", fault.NoKeyLeft)
	}
	return nil
}

// Appointment refuses another one to a partner that holds its share of all that are to come.
func (t Taking) Appointment(held, inAll int64) error {
	if held >= t.MostAllowed(inAll) {
		return ErrShareUsed.With("appointments", fault.ShareOfTimesTaken)
	}
	return nil
}

// mostPooled bounds one person's keys from a pool under a plan that names no bound.
const mostPooled = 10

// ShareStore keeps shares.
type ShareStore interface {
	// UpdateShare changes a partner's share; nil leaves a figure as it is.
	UpdateShare(ctx context.Context, id partner.ID, of Resource, quota, reserved *int64) error
}

// UpdateShare changes a partner's share; nil leaves a figure as it is.
func (e *Endpoints) UpdateShare(ctx context.Context, id partner.ID, of Resource, quota, reserved *int64) error {
	for _, n := range []*int64{quota, reserved} {
		if n != nil && (*n < 0 || *n > 1_000_000_000) {
			return ErrShareInvalid.With("quota, reserve", fault.ZeroTo, 1000000000)
		}
	}
	return e.store.UpdateShare(ctx, id, of, quota, reserved)
}
