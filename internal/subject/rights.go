package subject

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// Rights answers what people and authorities ask.
type Rights struct {
	store   Store
	tenants Partners
	trail   *operator.Trail
	now     func() time.Time
}

// NewRights joins the rules to a store, the audit trail and a clock.
func NewRights(store Store, tenants Partners, trail *operator.Trail, now func() time.Time) *Rights {
	return &Rights{store: store, tenants: tenants, trail: trail, now: now}
}

// Reference returns the audit trail's name for a person.
func (d *Rights) Reference(p Person) string { return d.store.PersonReference(p) }

// FindReferred returns the person of a partner that a reference names. URLs of pages hold references instead of user
// hashes.
func (d *Rights) FindReferred(ctx context.Context, id partner.ID, ref string) (Person, error) {
	user, err := d.store.FindUserByReference(ctx, id, ref)
	return Person{User: user, Partner: id}, err
}

// DescribePerson returns what a page shows of a person of one partner, and who looked at it.
func (d *Rights) DescribePerson(ctx context.Context, who partner.Partner, p Person) (Held, []Access, error) {
	h, err := d.store.ReadHeldRows(ctx, who, p)
	if err != nil {
		return h, nil, fmt.Errorf("read what is held: %w", err)
	}
	looked, err := d.store.AccessesOf(ctx, []Held{h}, p)
	return h, looked, err
}

// ExportPerson returns everything held about a person, partner by partner; partners that hold nothing are left out.
func (d *Rights) ExportPerson(ctx context.Context, p Person) ([]Held, error) {
	all, err := d.readHeld(ctx, p)
	return slices.DeleteFunc(all, Held.Empty), err
}

// readHeld returns what each partner holds about a person.
func (d *Rights) readHeld(ctx context.Context, p Person) ([]Held, error) {
	list := d.tenants.ListPartners
	if p.Partner != "" {
		list = partner.One{Of: d.tenants, ID: p.Partner}.ListPartners
	}
	partners, err := list(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Held, 0, len(partners))
	for _, who := range partners {
		h, err := d.store.Held(ctx, who, p)
		if err != nil {
			return nil, fmt.Errorf("read what is held: %w", err)
		}
		all = append(all, h)
	}
	return all, nil
}

// Outcome is what an erasure came to.
type Outcome struct {
	Partners   []Erased
	Tombstones []Tombstone
	// Scrubbed says that the deleted bytes are out of the database's files too.
	Scrubbed bool
}

// ErasePerson takes everything away that is held about a person. Partners that held nothing get a tombstone too: an older
// backup may hold more. keep is handed the tombstones before anything is scrubbed, so that they are also kept outside
// the database.
func (d *Rights) ErasePerson(ctx context.Context, who operator.Actor, p Person, reason string, keep func([]Tombstone) error) (Outcome, error) {
	var out Outcome
	reason = strings.TrimSpace(reason)
	if !partner.Paragraphs(reason, 1, 1000) {
		return out, ErrNoReason.With("reason", fault.ErasureReason)
	}
	all, err := d.readHeld(ctx, p)
	if err != nil {
		return out, err
	}
	for _, h := range all {
		erased, stone, err := d.store.EraseRows(ctx, h, p, reason, func(in operator.Ledger, erased Erased, stone Tombstone) error {
			return d.recordErased(ctx, in, who, d.store.PersonReference(p), erased, stone)
		})
		if err != nil {
			return out, fmt.Errorf("erase: %w", err)
		}
		// After the rows, so that no request can repeat from them what was just redacted.
		rewritten, err := d.store.RedactAnswers(ctx, h, p)
		if err != nil {
			return out, fmt.Errorf("redact kept answers: %w", err)
		}
		if rewritten > 0 {
			erased.Counts["kept answers"] = rewritten
		}
		out.Partners, out.Tombstones = append(out.Partners, erased), append(out.Tombstones, stone)
	}
	if err := keep(out.Tombstones); err != nil {
		return out, fmt.Errorf("keep the erasure log: %w", err)
	}
	if err := d.store.ScrubErased(ctx); err != nil {
		return out, fmt.Errorf("the rows are gone, but not yet all of their bytes; run the same command again: %w", err)
	}
	out.Scrubbed = true
	return out, nil
}

// recordErased keeps the line of an erasure.
func (d *Rights) recordErased(ctx context.Context, in operator.Ledger, who operator.Actor, person string, erased Erased, stone Tombstone) error {
	detail := fmt.Sprintf("partner %s, erasure %s, %d rows", stone.Partner, stone.ID, erased.Total())
	return operator.NewTrail(in, d.now).RecordAction(ctx, who, "subject.erased", person, detail)
}

// Worker is who ends erasures that were left half way.
const Worker = "worker"

// ResumeErasures ends erasures whose process ended half way; keep is handed their tombstones, as in Erase. It returns how many.
func (d *Rights) ResumeErasures(ctx context.Context, keep func([]Tombstone) error) (int, error) {
	stones, err := d.store.ResumeErasures(ctx, func(in operator.Ledger, person string, erased Erased, stone Tombstone) error {
		return d.recordErased(ctx, in, operator.Actor{Name: Worker}, person, erased, stone)
	})
	if len(stones) == 0 {
		return 0, err
	}
	if err := errors.Join(err, keep(stones)); err != nil {
		return len(stones), fmt.Errorf("end erasures: %w", err)
	}
	return len(stones), d.store.ScrubErased(ctx)
}

// WriteErasureLog writes the tombstones of all erasures, one JSON object a line.
func (d *Rights) WriteErasureLog(ctx context.Context, w io.Writer) (int, error) {
	stones, err := d.store.Tombstones(ctx)
	if err != nil {
		return 0, err
	}
	return len(stones), WriteTombstones(w, stones)
}

// WriteTombstones writes tombstones, one JSON object a line.
func WriteTombstones(w io.Writer, stones []Tombstone) error {
	enc := json.NewEncoder(w)
	for _, s := range stones {
		if err := enc.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// Replayed is what a replay came to.
type Replayed struct {
	Lines int
	// Rows is how many rows were back and were taken away again.
	Rows     int64
	Scrubbed bool
}

// maxLogLine bounds a line of an erasure log that is replayed.
const maxLogLine = 64 << 10

// ReplayLog reads a log of erasures and erases again whatever has come back since, as it does when a backup older than the
// erasure is restored. What a partner enrolled after the erasure stays. A line that this service did not write ends the
// replay.
func (d *Rights) ReplayLog(ctx context.Context, log io.Reader) (Replayed, error) {
	var done Replayed
	in := bufio.NewScanner(log)
	in.Buffer(make([]byte, 0, 4096), maxLogLine)
	for in.Scan() {
		if len(strings.TrimSpace(in.Text())) == 0 {
			continue
		}
		var t Tombstone
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			return done, ErrLogLine.With("", fault.ErasureLineUnreadable, done.Lines+1).Because(err)
		}
		erased, err := d.store.ReplayErasure(ctx, t)
		if err != nil {
			return done, fmt.Errorf("line %d of the erasure log: %w", done.Lines+1, err)
		}
		done.Lines++
		done.Rows += erased.Total()
	}
	if err := in.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return done, ErrLogLine.With("", fault.ErasureLineTooLong, done.Lines+1)
		}
		return done, fmt.Errorf("read the erasure log: %w", err)
	}
	if done.Rows == 0 {
		done.Scrubbed = true
		return done, nil
	}
	err := d.store.ScrubErased(ctx)
	done.Scrubbed = err == nil
	return done, err
}

// ListAccesses returns who looked at or changed anything of a person's, newest first.
func (d *Rights) ListAccesses(ctx context.Context, p Person) ([]Access, error) {
	all, err := d.readHeld(ctx, p)
	if err != nil {
		return nil, err
	}
	return d.store.AccessesOf(ctx, all, p)
}
