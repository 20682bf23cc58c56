package operator

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Actor is who did something, and from where.
type Actor struct {
	// Name is an operator's id, or "cli:" and the account of the machine that ran a command.
	Name string
	// From is a network address, or a machine's name.
	From string
}

// Entry is one line of the audit trail.
type Entry struct {
	// Seq numbers the lines without gaps.
	Seq int64
	At  time.Time
	Actor
	// Action is what was done or seen, as "noun.verb".
	Action string
	// Subject is the id of what it was done to; never a personal value.
	Subject string
	// Detail may name personal values and reasons: it is kept sealed, like From.
	Detail string
}

// ErrTrailBroken means that the trail is not what was written: a line was changed, removed, added or moved.
var ErrTrailBroken = fault.New(fault.Conflict, "audit.broken")

// Head is the end of the trail. Kept elsewhere, it later shows that nothing before it was cut off or replaced.
type Head struct {
	Seq int64
	MAC []byte
}

// ErrHead means that a head cannot be read.
var ErrHead = fault.New(fault.Invalid, "audit.head")

// ParseHead reads a head as it is noted: a line's number, a colon and its MAC in hexadecimal. Empty text is no head.
func ParseHead(text string) (h Head, err error) {
	if text == "" {
		return h, nil
	}
	line, mac, _ := strings.Cut(text, ":")
	if h.Seq, err = strconv.ParseInt(line, 10, 64); err == nil {
		h.MAC, err = hex.DecodeString(mac)
	}
	if err != nil || h.Seq < 1 || len(h.MAC) == 0 {
		return Head{}, ErrHead.With("expect", fault.HeadFormat)
	}
	return h, nil
}

// Filter narrows a reading of the trail; empty fields do not.
type Filter struct {
	Actor, Action, Subject string
	// Partner leaves only what the partner's own people did, and what was done to their accounts.
	Partner partner.ID
	// From and To are a period, To exclusive.
	From, To    time.Time
	OldestFirst bool
	// Before is the number to go on from, exclusive; 0 means from the beginning of the list.
	Before int64
	Limit  int
}

// Ledger keeps the trail, each line chained by a keyed hash to the one before.
type Ledger interface {
	AppendAudit(ctx context.Context, e Entry) (Entry, error)
	// ListLines returns lines, newest first unless the filter turns them round.
	ListLines(ctx context.Context, f Filter) ([]Entry, error)
	// VerifyAudit walks the whole trail and returns its head; ErrTrailBroken names the first line that is wrong.
	VerifyAudit(ctx context.Context, expect Head, progress func(seq int64)) (Head, error)
	// KeepTogether runs fn on a ledger whose lines are kept together or not at all.
	KeepTogether(ctx context.Context, fn func(Ledger) error) error
}

// Trail is the audit trail: who did or saw what, when and from where.
type Trail struct {
	ledger Ledger
	now    func() time.Time
	// only is the partner whose lines can be read, and people are its operators; empty means no restriction.
	only   partner.ID
	people *Registry
}

// NewTrail joins the trail to where it is kept.
func NewTrail(ledger Ledger, now func() time.Time) *Trail { return &Trail{ledger: ledger, now: now} }

// TheService stands in the place of those who run the service, where a partner's people read what they did.
const TheService = "service"

// ForPartner returns the trail as a partner's people see it: they add lines as usual, but read only lines by the
// partner's people or about their accounts. Of actions by operators of the service, name, address and details are left
// out.
func (t *Trail) ForPartner(id partner.ID, people *Registry) *Trail {
	return &Trail{t.ledger, t.now, id, people.ForPartner(id, PartnerViewer)}
}

// maxDetail bounds what a line can say.
const maxDetail = 4000

// RecordAction adds a line. What personal values are about to be shown is recorded first, so that nothing is seen
// unrecorded. An action without words is refused: what nobody can read is not recorded.
func (t *Trail) RecordAction(ctx context.Context, who Actor, action, subject, detail string) error {
	if _, known := actionWords[action]; !known {
		return ErrAction.Note("%q has no words", action)
	}
	for i := maxDetail; len(detail) > maxDetail; i-- {
		if utf8.RuneStart(detail[i]) {
			detail = detail[:i]
		}
	}
	_, err := t.ledger.AppendAudit(
		ctx,
		Entry{At: t.now(), Actor: who, Action: action, Subject: subject, Detail: detail},
	)
	if err != nil {
		return fmt.Errorf("record in the audit trail: %w", err)
	}
	return nil
}

// RecordAll adds a line of the same action for each of the subjects, all or none.
func (t *Trail) RecordAll(ctx context.Context, who Actor, action string, subjects []string, detail string) error {
	return t.ledger.KeepTogether(ctx, func(in Ledger) error {
		trail := NewTrail(in, t.now)
		for _, s := range subjects {
			if err := trail.RecordAction(ctx, who, action, s, detail); err != nil {
				return err
			}
		}
		return nil
	})
}

// ListEntries reads the trail, newest first unless the filter turns it round.
func (t *Trail) ListEntries(ctx context.Context, f Filter) ([]Entry, error) {
	if t.only == "" {
		return t.ledger.ListLines(ctx, f)
	}
	f.Partner = t.only
	list, err := t.ledger.ListLines(ctx, f)
	if err != nil {
		return nil, err
	}
	own, err := t.people.ListOperators(ctx)
	if err != nil {
		return nil, err
	}
	for i, e := range list {
		if !slices.ContainsFunc(own, func(o Operator) bool { return string(o.ID) == e.Name }) {
			list[i].Actor, list[i].Detail = Actor{Name: TheService}, ""
		}
	}
	return list, nil
}

// VerifyTrail checks the whole trail. With a head noted earlier it also shows that nothing up to there was replaced.
func (t *Trail) VerifyTrail(ctx context.Context, expect Head, progress func(seq int64)) (Head, error) {
	if t.only != "" {
		return Head{}, ErrNotFound // the head covers the lines of all partners
	}
	return t.ledger.VerifyAudit(ctx, expect, progress)
}
