// Package leak keeps breaches and finds watched values in them.
//
// A breach is a segment: the sorted set of keyed fingerprints of the identifiers that were in a dump. The match is one
// question asked both ways: a new breach is asked about every watched value, a new watched value is asked about in
// every breach. How a dump becomes a segment is the business of intake.
//
// The package knows neither SQL nor HTTP of ours, and no personal value: it handles fingerprints. The invariant it
// keeps: every stage may be repeated, by this process or another, after a failure at any moment, and each finding is
// still made once.
package leak

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// State is where a breach stands.
type State string

// The states. Only what is published is probed and shown.
const (
	Importing State = "importing"
	Published State = "published"
	Retracted State = "retracted"
)

// IsKnown reports whether it is one of the states: see sqldb.Enumerated.
func (s State) IsKnown() bool {
	switch s {
	case Importing, Published, Retracted:
		return true
	}
	return false
}

// Record is a breach as the operator knows it.
type Record struct {
	cyber.Breach
	State State
	// Segment is the file of the corpora that holds its identifiers; empty when there is none, as for what a service
	// such as Have I Been Pwned told us.
	Segment string
	// Digest identifies the content of that file.
	Digest string
	// Pairs is the file that holds which passwords stood beside which identifiers; empty when there is none.
	Pairs, PairsDigest string
	Tally              Tally
	PublishedAt        time.Time
	RetractedAt        time.Time
	// Renewals counts how often the content was renewed since, the last time at RenewedAt.
	Renewals  int64
	RenewedAt time.Time
	// Former are files of contents before, which are to be removed.
	Former []string
}

// ChangedAt returns when the content became what it is.
func (r Record) ChangedAt() time.Time {
	if r.Renewals > 0 {
		return r.RenewedAt
	}
	return r.PublishedAt
}

// CheckCanContinue refuses to go on with an import that is over.
func (r Record) CheckCanContinue() error {
	switch r.State {
	case Retracted:
		return ErrRetracted.With("name", fault.RetractedImportOther)
	case Published:
		return ErrBreachExists.With("name", fault.AlreadyPublished)
	case Importing:
	}
	return nil
}

// Publishes reports whether publishing a content changes anything: it does not when that is a repetition after a crash.
func (r Record) Publishes(digest string) (bool, error) {
	switch {
	case r.State == Published && r.Digest == digest:
		return false, nil
	case r.State == Retracted:
		return false, ErrRetracted.With("name", fault.WasRetracted)
	case r.State == Published:
		return false, ErrBreachExists.With("name", fault.PublishedOtherwise)
	}
	return true, nil
}

// ApplyRenewal is Publishes for a content that takes the place of the published one.
func (r Record) ApplyRenewal(n Renewal) (bool, error) {
	switch {
	case r.State == Retracted:
		return false, ErrRetracted.With("name", fault.WasRetracted)
	case r.State != Published:
		return false, ErrBreachNotFound.With("name", fault.NotPublished)
	case r.Content == n.Digest+n.PairsDigest:
		return false, nil
	case r.Content != n.Base:
		return false, ErrRenewed.With("name", fault.RenewedMeanwhile)
	}
	return true, nil
}

// Kinds of jobs.
const (
	KindMatch    = "breach.match"
	KindWithdraw = "breach.withdraw"
	KindRestate  = "breach.restate"
	KindVerify   = "breach.verify"
	// KindSites is about a partner.
	KindSites = "partner.sites"
)

// Verified is the progress of a KindVerify job that is done.
type Verified struct{ Keys uint64 }

// Faults of this package.
var (
	ErrBreachNotFound = fault.New(fault.NotFound, "breach.not_found")
	ErrBreachInvalid  = fault.New(fault.Invalid, "breach.invalid")
	ErrBreachExists   = fault.New(fault.Conflict, "breach.exists")
	ErrRetracted      = fault.New(fault.Conflict, "breach.retracted")
	// ErrRenewed means that another import renewed the breach meanwhile.
	ErrRenewed = fault.New(fault.Conflict, "breach.renewed")
)

// Segment is a file to probe, with its pairs if it has any.
type Segment struct {
	Breach, File, Digest string
	Pairs, PairsDigest   string
}

// File is one file of the corpora.
type File struct{ Name, Digest string }

// ListFiles returns the files of a breach: none, its identifiers, or these and its pairs.
func (g Segment) ListFiles() (files []File) {
	for _, f := range []File{{g.File, g.Digest}, {g.Pairs, g.PairsDigest}} {
		if f.Name != "" {
			files = append(files, f)
		}
	}
	return files
}

// ListFiles returns the files of the breach's current content.
func (r Record) ListFiles() []File {
	return Segment{File: r.Segment, Digest: r.Digest, Pairs: r.Pairs, PairsDigest: r.PairsDigest}.ListFiles()
}

// Publication is what an import leaves: the files of a breach, and what was counted.
type Publication struct {
	Tally  Tally  `json:"tally"`
	File   string `json:"file,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Pairs is the file of the pairs, if there are any.
	Pairs       string `json:"pairs,omitempty"`
	PairsDigest string `json:"pairs_digest,omitempty"`
}

// Renewal is what takes the place of a published breach's content.
type Renewal struct {
	Publication
	// Base is the cyber.Breach.Content that it was made from: where that is not the published one any more, another
	// import renewed the breach meanwhile.
	Base string
	// Exposes are the classes that the breach is said to expose, among them Auto.
	Exposes []cyber.Exposed
}

// Watcher is a watched value and whose it is.
type Watcher struct {
	Asset cyber.AssetID
	User  string // keyed index of the person's hash
}

// Candidate is a watched value that a breach may hold.
type Candidate struct {
	Asset       cyber.AssetID
	Fingerprint uint64
}

// Tracer tells what the records of one breach say of a value, if it holds it.
type Tracer func(fingerprint uint64) (Held, error)

// Rejudged is what a look at some findings came to.
type Rejudged struct {
	// Last is the last finding; empty when there was none.
	Last cyber.FindingID
	// Checked findings there were; of those some were Withdrawn, and Changed tell something else than before.
	Checked, Withdrawn, Changed int64
}

// DueLook is a watched value that has not been probed in every breach, and may be.
type DueLook struct {
	Partner     partner.ID
	Asset       cyber.AssetID
	Fingerprint uint64
	// Since is when the look came to be due.
	Since time.Time
}

// DuePlace is a place in the list of due first looks: that of the last value which was read.
type DuePlace struct {
	Since time.Time
	Asset cyber.AssetID
}

// Probes are watched fingerprints of a partner.
type Probes struct {
	Partner      partner.ID
	Fingerprints []uint64
}

// Store keeps breaches, matches and findings.
type Store interface {
	ListBreaches(ctx context.Context) ([]Record, error)
	BreachByName(ctx context.Context, name string) (Record, error)
	// BreachHits returns how many people a breach has hit, per partner.
	BreachHits(ctx context.Context, of cyber.Breach) ([]Hits, error)
	// UpdateBreach changes what is told of a breach and asks for the statuses to be computed again.
	UpdateBreach(ctx context.Context, name string, change func(*Record) error) (Record, error)
	// RetractBreach takes a breach back and hands over to the withdrawal of its findings.
	RetractBreach(ctx context.Context, name string) (Record, error)

	// KeepTally replaces what is counted of a published breach, as long as its content has the digest.
	KeepTally(ctx context.Context, name, digest string, t Tally) error
	// ForgetFormer notes that the files of a breach's former contents are removed, unless there are more of them now.
	ForgetFormer(ctx context.Context, r Record) error

	// CorporaEpoch moves whenever a breach is published or retracted.
	CorporaEpoch(ctx context.Context) (int64, error)
	// ListSegments returns all published segments and the epoch they belong to.
	ListSegments(ctx context.Context) ([]Segment, int64, error)

	// ListProbes returns up to limit watched fingerprints behind a place, each once for each partner, and the place of
	// the last. Within a partner they come in no order: what a partner keeps is veiled. No partner stands there twice.
	ListProbes(ctx context.Context, after Place, limit int) ([]Probes, Place, error)
	// ProbesSince returns those of values added at or after a time.
	ProbesSince(ctx context.Context, since time.Time, after Place, limit int) ([]Probes, Place, error)
	// ListWatchers returns the values of a partner that have one of the fingerprints; any number may have the same.
	ListWatchers(ctx context.Context, asked Probes) ([]Watcher, error)
	// ListUntold returns all values of the people of some values, without those that a finding of the breach is about:
	// so a person is told of a breach once, whichever value is met first.
	ListUntold(ctx context.Context, breach string, id partner.ID, watchers []Watcher) ([]Candidate, error)
	// TellHits makes findings, statuses and events of hits of a partner's values, and returns how many findings. What
	// is found already stays as it is.
	TellHits(ctx context.Context, id partner.ID, hits []Hit) (int, error)
	// WithdrawFindings closes up to limit open findings of a breach as retracted and returns how many.
	WithdrawFindings(ctx context.Context, breach string, limit int) (int, error)
	// RejudgeFindings holds up to limit findings of a breach, found at or after since, behind the given one, against
	// what the breach holds now.
	RejudgeFindings(
		ctx context.Context,
		breach string,
		since time.Time,
		after cyber.FindingID,
		limit int,
		trace Tracer,
	) (Rejudged, error)
	// RestateFindings computes the statuses again for up to limit findings after the given one, and returns the last.
	RestateFindings(
		ctx context.Context,
		breach string,
		after cyber.FindingID,
		limit int,
	) (last cyber.FindingID, err error)

	// RejudgeSites judges the sites of up to limit findings of a partner after the given one again, alerts the people
	// that did not know the result yet, and returns the last finding.
	RejudgeSites(ctx context.Context, id partner.ID, after cyber.FindingID, limit int) (last cyber.FindingID, err error)

	// ListDueLooks returns values behind a place that are not yet probed in every breach, longest due first, without
	// those that wait for a token.
	ListDueLooks(ctx context.Context, after DuePlace, limit int) ([]DueLook, error)
	// SettleLooks keeps what a probe of values of a partner saw at an epoch. Their look is done if the epoch still
	// holds; it returns of how many it is.
	SettleLooks(ctx context.Context, id partner.ID, epoch int64, looked []cyber.AssetID, hits []Hit) (int, error)
}

// Label is what a breach tells of one fingerprint: the union over all records that it stands in. The zero Label says
// that no record could be told: all that is known is what the breach exposes as a whole.
type Label struct {
	Classes cyber.Classes
	// Day is the last day, since 1970, on which a stealer took a credential of this value, and Sites are what the
	// credentials are for, in order, at most mostSites of them.
	Day   int32
	Sites []string
	// Spellings are those of a Gmail mailbox, all of which have one fingerprint.
	Spellings identifier.Spellings
}

// mostSites bounds a label. Of more the first in order stay, so that it does not matter in which order they came.
const mostSites = 4

// ErrLabel means that a label was not written by this package.
var ErrLabel = fault.New(fault.Internal, "breach.label")

// IsOfRecord reports whether the label is that of a record: the basis of a finding is the row then, and the breach
// otherwise.
func (l Label) IsOfRecord() bool { return l.Classes != 0 }

// AppendEncoded writes the label down: classes, then, as far as there are any, spellings, and the day and the sites.
// The zero Label is empty.
func (l Label) AppendEncoded(dst []byte) []byte {
	if !l.IsOfRecord() && l.Spellings == 0 {
		return dst
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(l.Classes))
	logged := l.IsOfRecord() && (l.Day != 0 || len(l.Sites) > 0)
	if l.Spellings == 0 && !logged {
		return dst
	}
	if dst = append(dst, byte(l.Spellings)); !logged {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(max(0, l.Day)))
	for _, site := range l.Sites {
		dst = append(binary.AppendUvarint(dst, uint64(len(site))), site...)
	}
	return dst
}

// ParseLabel reads what Append wrote.
func ParseLabel(text []byte) (Label, error) {
	var l Label
	if len(text) == 0 {
		return l, nil
	}
	if len(text) < 2 {
		return l, ErrLabel.Note("cut short")
	}
	l.Classes = cyber.Classes(binary.BigEndian.Uint16(text))
	rest := text[2:]
	if len(rest) > 0 {
		if l.Spellings, rest = identifier.Spellings(rest[0]), rest[1:]; l.Spellings == 0 && len(rest) == 0 {
			return Label{}, ErrLabel.Note("cut short")
		}
	}
	if len(rest) == 0 {
		return l, nil
	}
	day, n := binary.Uvarint(rest)
	if n <= 0 || day > 1<<30 {
		return Label{}, ErrLabel.Note("no day")
	}
	l.Day = int32(day)
	for rest = rest[n:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) || len(l.Sites) == mostSites {
			return Label{}, ErrLabel.Note("no site")
		}
		l.Sites = append(l.Sites, string(rest[n:n+int(size)]))
		rest = rest[n+int(size):]
	}
	return l, nil
}

// LabelRules are how labels of one fingerprint become one.
var LabelRules = segment.LabelRules{Unite: uniteLabels, Coarsen: coarsenLabel}

// uniteLabels returns the union. A record that could be told counts for more than one that could not: claiming what the
// breach exposes as a whole would be claiming more than is known.
func uniteLabels(a, b []byte) []byte {
	x, errX := ParseLabel(a)
	y, errY := ParseLabel(b)
	if errX != nil || errY != nil {
		return nil // not ours: nothing is told
	}
	if len(x.Sites)+len(y.Sites) == 0 && x.Day == y.Day {
		return Label{
			Classes:   x.Classes | y.Classes,
			Day:       x.Day,
			Spellings: x.Spellings | y.Spellings,
		}.AppendEncoded(nil)
	}
	sites := slices.Concat(x.Sites, y.Sites)
	slices.Sort(sites)
	sites = slices.Compact(sites)
	return Label{
		Classes:   x.Classes | y.Classes,
		Day:       max(x.Day, y.Day),
		Sites:     sites[:min(len(sites), mostSites)],
		Spellings: x.Spellings | y.Spellings,
	}.AppendEncoded(nil)
}

// coarsenLabel drops the sites, then the day, then the spellings: classes alone are few.
func coarsenLabel(text []byte) []byte {
	l, err := ParseLabel(text)
	switch {
	case err != nil:
		return nil
	case len(l.Sites) > 0:
		l.Sites = nil
	case l.Day != 0:
		l.Day = 0
	default:
		l.Spellings = 0
	}
	return l.AppendEncoded(nil)
}

// Tally is what an import counted.
type Tally struct {
	// Bytes were read from the inputs, Scanned after unpacking.
	Bytes   int64 `json:"bytes"`
	Scanned int64 `json:"scanned"`
	// Streams are the files, members of archives included.
	Streams int64 `json:"streams"`
	// Found counts identifiers by type, repetitions included.
	Found map[string]int64 `json:"found"`
	// Told is how many of them stood in a record that could be told, and Classes counts what stood in those.
	Told    int64            `json:"told,omitempty"`
	Classes map[string]int64 `json:"classes,omitempty"`
	// Distinct is the size of the set, e-mail domains included.
	Distinct int64 `json:"distinct"`
	// Pairs is how many pairs of an identifier and a password there are.
	Pairs int64 `json:"pairs,omitempty"`
	// Measured is nil until the published breach was compared with those before it.
	Measured *Measured `json:"measured,omitempty"`
	// Problems counts inputs that could not be read to their end: broken or refused archives.
	Problems int64 `json:"problems"`
	// Read, Partly and Unread count the inputs by how much of them was read; Reasons counts why not all, in plain words
	// that name no file.
	Read    int64            `json:"read"`
	Partly  int64            `json:"partly"`
	Unread  int64            `json:"unread"`
	Reasons map[string]int64 `json:"reasons,omitempty"`
	// LeftOut counts values of vendors' exports that are none of their kind.
	LeftOut int64 `json:"left_out,omitempty"`
}

// Measured is what is counted of a breach once it is published. E-mail domains count as values, like everywhere in
// segments.
type Measured struct {
	// Known is how many of its values a breach published before it has, and From how many each of those has that share
	// some.
	Known int64            `json:"known"`
	From  map[string]int64 `json:"from,omitempty"`
}

// reasonsKept bounds how many reasons are told apart.
const reasonsKept = 32

// CountReason counts a reason n times.
func (t *Tally) CountReason(reason string, n int64) {
	if n == 0 {
		return
	}
	if t.Reasons == nil {
		t.Reasons = map[string]int64{}
	}
	if _, known := t.Reasons[reason]; !known && len(t.Reasons) >= reasonsKept {
		reason = "other reasons"
	}
	t.Reasons[reason] += n
}

// AddTally sums up what parts counted; Distinct is no sum.
func (t *Tally) AddTally(other Tally) {
	t.Bytes, t.Scanned, t.Streams = t.Bytes+other.Bytes, t.Scanned+other.Scanned, t.Streams+other.Streams
	t.Problems, t.LeftOut = t.Problems+other.Problems, t.LeftOut+other.LeftOut
	t.Read, t.Partly, t.Unread = t.Read+other.Read, t.Partly+other.Partly, t.Unread+other.Unread
	if t.Found == nil {
		t.Found = map[string]int64{}
	}
	for kind, n := range other.Found {
		t.Found[kind] += n
	}
	t.AddClasses(&other)
	for reason, n := range other.Reasons {
		t.CountReason(reason, n)
	}
}

// AddClasses sums up what stood in records.
func (t *Tally) AddClasses(other *Tally) {
	t.Told += other.Told
	if t.Classes == nil && len(other.Classes) > 0 {
		t.Classes = map[string]int64{}
	}
	for class, n := range other.Classes {
		t.Classes[class] += n
	}
}

// CountClasses adds a record's count of classes, a number for each in the order of the vocabulary.
func (t *Tally) CountClasses(told int64, counts []int64) {
	more := Tally{Told: told, Classes: map[string]int64{}}
	for i, e := range cyber.AllExposed() {
		if counts[i] > 0 {
			more.Classes[string(e)] = counts[i]
		}
	}
	t.AddClasses(&more)
}

// ReadVerdict says how much of the inputs was read.
func (t *Tally) ReadVerdict() string {
	switch {
	case t.Partly == 0 && t.Unread == 0:
		return "read"
	case t.Read == 0 && t.Partly == 0:
		return "not read"
	}
	return "partly read"
}

// DoubtReason says why a breach is not to be published unasked, or nothing: one without an identifier, or of which most
// could not be read, would tell people that they are safe.
func (t *Tally) DoubtReason() *fault.Rule {
	var found int64
	for _, n := range t.Found {
		found += n
	}
	switch {
	case found == 0:
		return &fault.NothingFound
	case t.Unread > t.Read+t.Partly:
		return &fault.MostUnreadable
	}
	return nil
}
