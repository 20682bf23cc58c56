// Package subject holds what the law gives a person: to be told everything that is held about them, to have it erased,
// and to know who looked at it; and what it asks of the operator after an incident.
//
// It knows neither SQL nor which screen or command asks. The invariant it keeps: a person is named by a CPF, or by a
// user hash together with its partner; what outlives an erasure identifies no person without the service's keys; and
// every answer is recorded in the audit trail before it is given.
package subject

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Faults of this package.
var (
	ErrInvalid  = fault.New(fault.Invalid, "subject.invalid")
	ErrLogLine  = fault.New(fault.Invalid, "subject.log")
	ErrForeign  = fault.New(fault.Conflict, "subject.foreign_log")
	ErrNobody   = fault.New(fault.NotFound, "subject.nobody")
	ErrNoReason = fault.New(fault.Invalid, "subject.reason")
)

// Person is who is asked about: by CPF, or by a user hash of one partner.
type Person struct {
	// CPF is eleven digits; empty when User names the person.
	CPF  string
	User partner.UserHash
	// Partner narrows the question to one partner; empty means all. A user hash needs it.
	Partner partner.ID
}

// ParsePerson reads who is meant. Check digits are not asked for: people of sandbox partners have none.
func ParsePerson(cpf, user, id string) (Person, error) {
	p := Person{Partner: partner.ID(id)}
	switch {
	case (cpf == "") == (user == ""):
		return p, ErrInvalid.With("", fault.NeedsPerson)
	case user != "" && id == "":
		return p, ErrInvalid.With("user-hash", fault.UserHashNeedsPartner)
	case user != "":
		var err error
		p.User, err = partner.ParseUserHash("user-hash", user)
		return p, err
	}
	var err error
	if p.CPF, err = identifier.ParseCPF(cpf, identifier.Waived); err != nil {
		return p, ErrInvalid.With("cpf", fault.CPFFormat)
	}
	return p, nil
}

// Held is everything that is held about a person for one partner.
type Held struct {
	Partner       partner.Partner
	Subscriptions []subscription.Subscription
	Assets        []Watched
	Findings      []cyber.Finding
	// Steps are what the person said of the steps of their findings' plans.
	Steps   []cyber.StepMark
	Cases   []Case
	Devices []cyber.Device
	Answers []Answer
	Scores  []cyber.ScoreDay
	Events  []Event
	// Others are user hashes of other people under which this person's CPF is watched. That value is held about the
	// person and is erased with them; the rest under those hashes is another person's.
	Others []partner.UserHash
	// StoredAnswers counts kept answers to the partner's requests that repeat something about the person.
	StoredAnswers int
}

// Empty reports whether nothing is held.
func (h Held) Empty() bool {
	return len(h.Subscriptions)+len(h.Assets)+len(h.Cases)+len(
		h.Devices,
	)+len(h.Answers)+len(h.Scores)+len(h.Events)+h.StoredAnswers == 0
}

// Watched is a watched value and every change of its status.
type Watched struct {
	cyber.Asset
	History []Change
}

// Change is one change of a status.
type Change struct {
	At           time.Time
	Before, Then cyber.Status
}

// Case is a support case and its history.
type Case struct {
	cyber.Case
	Moves []cyber.CaseMove
}

// Answer is a person's answer to a validation question.
type Answer struct {
	Content cyber.ContentID
	Value   string
	At      time.Time
}

// Event is something that the partner was told about the person.
type Event struct {
	ID         string
	Type       string
	At         time.Time
	Body       json.RawMessage
	Deliveries []Delivery
}

// Delivery is where an event went.
type Delivery struct {
	Endpoint string
	State    string
	At       time.Time // when it arrived or was given up; zero before that
}

// Erased counts what an erasure took away, by what it was.
type Erased struct {
	Partner partner.ID
	Counts  map[string]int64
}

// Total returns how many rows were taken away or rewritten.
func (e Erased) Total() (n int64) {
	for _, c := range e.Counts {
		n += c
	}
	return n
}

// Tombstone is what stays of an erasure: keyed indexes, by which a restored backup is cleaned again. It is safe to keep
// anywhere.
type Tombstone struct {
	ID       string     `json:"id"`
	Partner  partner.ID `json:"partner_id"`
	Person   string     `json:"person"` // the audit trail's name
	CPF      []byte     `json:"cpf"`
	User256  []byte     `json:"user_256"`
	User512  []byte     `json:"user_512"`
	Watched  []byte     `json:"watched"`   // the CPF as a value that others watch
	ErasedAt int64      `json:"erased_at"` // microseconds
	// MAC shows that this service wrote the line.
	MAC []byte `json:"mac"`
}

// Access is one entry of the audit trail: an operator read or changed data of a person.
type Access struct {
	operator.Entry
}

// Partners tells whose people there are.
type Partners interface {
	ListPartners(ctx context.Context) ([]partner.Partner, error)
	PartnerByID(ctx context.Context, id partner.ID) (partner.Partner, error)
}

// Store keeps what the rules of this package ask for.
type Store interface {
	// PersonReference is the audit trail's name for a person: the same for all partners when a CPF is known, and
	// telling nothing.
	PersonReference(p Person) string
	// Held reads everything about a person for one partner.
	Held(ctx context.Context, who partner.Partner, p Person) (Held, error)
	// ReadHeldRows is Held without counting kept answers, and with the newest events only: for a page.
	ReadHeldRows(ctx context.Context, who partner.Partner, p Person) (Held, error)
	// FindUserByReference is the user hash of a person by reference; ErrNobody when there is none.
	FindUserByReference(ctx context.Context, id partner.ID, ref string) (partner.UserHash, error)
	// EraseRows deletes all rows about a person that are in held or belong to the same person, and keeps a tombstone
	// and the lines that record adds to the trail. A person with few rows is erased in one transaction. An erasure of
	// many rows is finished once it has begun: from the start Held returns nothing of the person, and what a killed
	// process leaves is for the next call or ResumeErasures. The tombstone and the line are written at the end.
	EraseRows(ctx context.Context, held Held, p Person, reason string,
		record func(operator.Ledger, Erased, Tombstone) error) (Erased, Tombstone, error)
	// ResumeErasures ends erasures that were left half way some time ago, and returns their tombstones. record is also
	// told the trail's name for the person.
	ResumeErasures(
		ctx context.Context,
		record func(in operator.Ledger, person string, erased Erased, stone Tombstone) error,
	) ([]Tombstone, error)
	// ClaimDueErasures claims up to limit requests that are due or were left half way, of sandboxes alone or of all
	// partners that are not suspended. No other process claims them for some minutes.
	ClaimDueErasures(ctx context.Context, sandboxes bool, limit int) ([]DueErasure, error)
	// BeginErasureRequest begins the erasure of a pending request: from then on Held returns nothing of the person.
	// It returns ErrRequestNotFound when the request is not pending any more.
	BeginErasureRequest(ctx context.Context, held Held, p Person, r ErasureRequest) error
	// CarryOutErasure deletes what is left of an erasure that a request began, or that was made meanwhile for the same
	// person, and returns its tombstone. record is called in the last transaction, by one process alone.
	CarryOutErasure(
		ctx context.Context,
		id partner.ID,
		request string,
		record func(in operator.Ledger, person string, erased Erased, stone Tombstone) error,
	) (Tombstone, error)
	// CompleteErasureRequest ends a request whose erasure is over, with its event, and reports whether this call did.
	CompleteErasureRequest(ctx context.Context, id partner.ID, request string) (bool, error)
	// RedactAnswers takes the person out of the partner's kept answers, and returns how many it rewrote.
	RedactAnswers(ctx context.Context, held Held, p Person) (int64, error)
	// ScrubErased takes what was deleted out of the database's files.
	ScrubErased(ctx context.Context) error
	// Tombstones returns all, oldest first.
	Tombstones(ctx context.Context) ([]Tombstone, error)
	// ReplayErasure erases again what a tombstone stands for and keeps the tombstone; ErrForeign when this service did
	// not write it.
	ReplayErasure(ctx context.Context, t Tombstone) (Erased, error)
	// AccessesOf returns the lines of the audit trail about a person, newest first.
	AccessesOf(ctx context.Context, held []Held, p Person) ([]Access, error)
	// Affected calls found for each person with findings of an incident, in the order of partners.
	Affected(ctx context.Context, of Incident, found func(Affected) error) error
	// Showings counts the lines of the audit trail in a window that show or change personal data, by who and what.
	Showings(ctx context.Context, from, to time.Time) ([]Showing, error)
}

// HitKind is what a search found.
type HitKind string

// The kinds of hits.
const (
	HitPerson       HitKind = "person"
	HitSubscription HitKind = "subscription"
	HitCase         HitKind = "case"
	HitEvent        HitKind = "event"
	HitDevice       HitKind = "device"
	HitEndpoint     HitKind = "endpoint"
	HitPartner      HitKind = "partner"
)

// Hit is one thing that a search found.
type Hit struct {
	Kind    HitKind
	Partner partner.ID
	// ID names it: of a person the reference, of a subscription its number, else its id.
	ID string
}

// Finder looks things up over many partners by keyed indexes, which differ between them for one value.
type Finder interface {
	// PersonsOfCPF are those enrolled with a CPF and those who watch it; PersonsOfValue watch a value; PersonsOfUser
	// are named by a user hash. Each person of a partner comes once, by reference.
	PersonsOfCPF(ctx context.Context, at []partner.ID, cpf string) ([]Hit, error)
	PersonsOfValue(ctx context.Context, at []partner.ID, kind identifier.Kind, normal string) ([]Hit, error)
	PersonsOfUser(ctx context.Context, at []partner.ID, user partner.UserHash) ([]Hit, error)
	// SubscriptionsOfHolder are the newest of a company; Named are cases, events, devices and endpoints by their ids.
	SubscriptionsOfHolder(ctx context.Context, at []partner.ID, cnpj string) ([]Hit, error)
	FindByID(ctx context.Context, at []partner.ID, kind HitKind, id string) ([]Hit, error)
	// CasesNumbered are cases by the short number that operators call them by.
	CasesNumbered(ctx context.Context, at []partner.ID, short int64) ([]Hit, error)
}

// Search finds people and things by whatever an operator was told of them.
type Search struct {
	store   Finder
	tenants Partners
}

// NewSearch joins the rules to a store.
func NewSearch(store Finder, tenants Partners) *Search { return &Search{store, tenants} }

// ForPartner returns the same search for a partner's own people: nothing of others is found.
func (s *Search) ForPartner(id partner.ID) *Search {
	return &Search{s.store, partner.One{Of: s.tenants, ID: id}}
}

const (
	maxSought = 320
	// MaxHits is how many hits a search returns; an operator with more refines the question instead of reading on.
	MaxHits = 50
)

// byPrefix are the ids that say by themselves what they name.
var byPrefix = map[string]HitKind{"cs_": HitCase, "evt_": HitEvent, "ek_": HitDevice, "whe_": HitEndpoint}

// FindText looks a text up as everything that it can be, and tells what that was: names that are safe to keep in a
// trail.
func (s *Search) FindText(ctx context.Context, text string) (hits []Hit, as []string, err error) {
	text = strings.TrimSpace(text)
	if !partner.IsPrintable(text, maxSought) {
		return nil, nil, ErrInvalid.With("search", fault.PrintableLength, maxSought)
	}
	partners, err := s.tenants.ListPartners(ctx)
	if err != nil {
		return nil, nil, err
	}
	at := make([]partner.ID, len(partners))
	for i, p := range partners {
		at[i] = p.ID
		if hasNamePrefix(text, p.Name) || text == string(p.ID) {
			hits = append(hits, Hit{HitPartner, p.ID, string(p.ID)})
		}
	}
	for _, look := range s.possibleReadings(text) {
		found, err := look.run(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		as, hits = append(as, look.as), append(hits, found...)
	}
	return uniqueHits(hits), as, nil
}

// hasNamePrefix reports whether a name begins with a text of at least two letters, whatever their case.
func hasNamePrefix(text, name string) bool {
	t, n := []rune(strings.ToLower(text)), []rune(strings.ToLower(name))
	return len(t) >= 2 && len(t) <= len(n) && string(n[:len(t)]) == string(t)
}

// HasWrongCheckDigits reports whether a text is a CPF but for its check digits, so that who mistyped it is told.
func HasWrongCheckDigits(text string) bool {
	_, err := identifier.ParseCPF(strings.TrimSpace(text), identifier.Required)
	return errors.Is(err, identifier.ErrCheckDigits)
}

// FindEnrolled returns the reference of a person that a partner enrolled; empty when the partner has no person with the
// CPF.
func (s *Search) FindEnrolled(ctx context.Context, id partner.ID, cpf string) (string, error) {
	hits, err := s.store.PersonsOfCPF(ctx, []partner.ID{id}, cpf)
	if err != nil || len(hits) == 0 {
		return "", err
	}
	return hits[0].ID, nil
}

// look is one way to read a text.
type look struct {
	as  string
	run func(ctx context.Context, at []partner.ID) ([]Hit, error)
}

// possibleReadings returns the ways to read a text: an id is nothing else, while eleven digits may be a CPF or a
// telephone.
func (s *Search) possibleReadings(text string) (list []look) {
	for prefix, kind := range byPrefix {
		if strings.HasPrefix(text, prefix) {
			return []look{{string(kind), func(ctx context.Context, at []partner.ID) ([]Hit, error) {
				return s.store.FindByID(ctx, at, kind, text)
			}}}
		}
	}
	if short, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 32); err == nil && short > 0 {
		list = append(list, look{"case number", func(ctx context.Context, at []partner.ID) ([]Hit, error) {
			return s.store.CasesNumbered(ctx, at, short)
		}})
	}
	if cpf, err := identifier.ParseCPF(text, identifier.Waived); err == nil {
		list = append(
			list,
			look{
				"cpf",
				func(ctx context.Context, at []partner.ID) ([]Hit, error) { return s.store.PersonsOfCPF(ctx, at, cpf) },
			},
		)
	}
	if cnpj, err := identifier.ParseWrittenCNPJ(text, identifier.Required); err == nil {
		list = append(list, look{"holder", func(ctx context.Context, at []partner.ID) ([]Hit, error) {
			return s.store.SubscriptionsOfHolder(ctx, at, cnpj)
		}})
	}
	for _, kind := range []identifier.Kind{
		identifier.Email,
		identifier.Phone,
		identifier.Card,
		identifier.PixKey,
		identifier.CNPJ,
	} {
		if normal, err := identifier.ParseValue(kind, text, identifier.Required); err == nil {
			list = append(list, look{kind.String(), func(ctx context.Context, at []partner.ID) ([]Hit, error) {
				return s.store.PersonsOfValue(ctx, at, kind, normal)
			}})
		}
	}
	if user, err := partner.ParseUserHash("search", text); err == nil {
		list = append(
			list,
			look{
				"user hash",
				func(ctx context.Context, at []partner.ID) ([]Hit, error) {
					return s.store.PersonsOfUser(ctx, at, user)
				},
			},
		)
	}
	return list
}

// uniqueHits leaves each hit once, and no more than a page.
func uniqueHits(hits []Hit) []Hit {
	seen := make(map[Hit]bool, len(hits))
	list := hits[:0]
	for _, h := range hits {
		if !seen[h] && len(list) < MaxHits {
			seen[h] = true
			list = append(list, h)
		}
	}
	return list
}

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

// ErasePerson takes everything away that is held about a person. Partners that held nothing get a tombstone too: an
// older backup may hold more. keep is handed the tombstones before anything is scrubbed, so that they are also kept
// outside the database.
func (d *Rights) ErasePerson(
	ctx context.Context,
	who operator.Actor,
	p Person,
	reason string,
	keep func([]Tombstone) error,
) (Outcome, error) {
	var out Outcome
	reason, err := checkErasureReason(reason)
	if err != nil {
		return out, err
	}
	all, err := d.readHeld(ctx, p)
	if err != nil {
		return out, err
	}
	for _, h := range all {
		erased, stone, err := d.store.EraseRows(
			ctx,
			h,
			p,
			reason,
			func(in operator.Ledger, erased Erased, stone Tombstone) error {
				return d.recordErased(ctx, in, who, d.store.PersonReference(p), erased, stone)
			},
		)
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
func (d *Rights) recordErased(
	ctx context.Context,
	in operator.Ledger,
	who operator.Actor,
	person string,
	erased Erased,
	stone Tombstone,
) error {
	detail := fmt.Sprintf("partner %s, erasure %s, %d rows", stone.Partner, stone.ID, erased.Total())
	return operator.NewTrail(in, d.now).RecordAction(ctx, who, "subject.erased", person, detail)
}

// Worker is who ends erasures that were left half way.
const Worker = "worker"

// ResumeErasures ends erasures whose process ended half way; keep is handed their tombstones, as in Erase. It returns
// how many.
func (d *Rights) ResumeErasures(ctx context.Context, keep func([]Tombstone) error) (int, error) {
	stones, err := d.store.ResumeErasures(
		ctx,
		func(in operator.Ledger, person string, erased Erased, stone Tombstone) error {
			return d.recordErased(ctx, in, operator.Actor{Name: Worker}, person, erased, stone)
		},
	)
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

// ReplayLog reads a log of erasures and erases again whatever has come back since, as it does when a backup older than
// the erasure is restored. What a partner enrolled after the erasure stays. A line that this service did not write ends
// the replay.
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
