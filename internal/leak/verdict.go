package leak

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
)

// Hit is a watched value that a breach holds, before it is a finding.
type Hit struct {
	Asset cyber.AssetID
	cyber.Seen
}

// Watched is a watched value with all that was found of it, locked against changes by other transactions.
type Watched struct {
	cyber.Asset
	// Person is whose value it is: the same for every digest of one person.
	Person string
	// Same is equal for equal values.
	Same string
	// OpenBreaches is what the value's row says of its open findings: see cyber.JoinBreachNames.
	OpenBreaches string
	// Findings are all of the value's, oldest first.
	Findings []cyber.Finding
	// ExactSpelling says that another spelling of a Gmail mailbox does not count.
	ExactSpelling bool
	// Sites are those of the partner, and WatchedSites those that the operator watches for it.
	Sites, WatchedSites []string
}

// countsFor reports whether what a breach holds counts for the value: always, unless another spelling of its mailbox
// leaked and only its own counts.
func (w *Watched) countsFor(t cyber.Trace) bool {
	if !w.ExactSpelling || t.Spellings == 0 || w.Kind != identifier.Email {
		return true
	}
	normal, err := identifier.ParseEmail(w.Value)
	return err != nil || t.Spellings&identifier.SpellingOf(normal) != 0
}

// judgeSites says of a finding whose credentials were taken: those for a site of the partner, or for a watched one, the
// site itself or a host under it.
func (w *Watched) judgeSites(f *cyber.Finding) {
	f.OwnSite = f.Breach.Basis == cyber.BasisRow && isAnyUnder(f.Trace.Sites, w.Sites)
	f.WatchedSite = f.Breach.Basis == cyber.BasisRow && isAnyUnder(f.Trace.Sites, w.WatchedSites)
	f.Severity = cyber.SeverityOf(*f)
}

// isAnyUnder reports whether a host is, or is below, one of the sites.
func isAnyUnder(hosts, sites []string) bool {
	return slices.ContainsFunc(hosts, func(host string) bool {
		return slices.ContainsFunc(
			sites,
			func(site string) bool { return host == site || strings.HasSuffix(host, "."+site) },
		)
	})
}

// Verdict is what a look at watched values comes to: what is to be kept, and who is to be told.
type Verdict struct {
	Found  []cyber.Finding
	Closed []cyber.Finding
	// Judged are findings of which something else is said of their sites than before.
	Judged   []cyber.Finding
	Restated []Restated
	News     []cyber.News
}

// Restated is a value whose row has to say something else from now on.
type Restated struct {
	cyber.Asset
	Before       cyber.Status
	OpenBreaches string
}

// HasMoved reports whether the status is another one, which is news to the partner.
func (r Restated) HasMoved() bool { return r.Status != r.Before }

// Judge decides what hits, edits and withdrawals come to for watched values. A decision needs rows under a lock, so the
// store that holds them is given a Judge and keeps its verdicts: no rule lives in the store.
type Judge struct{}

// DiscoverFindings judges hits: a value has one finding of a breach, however often it is hit; what the person knew is
// quiet; and a person hears once of everything that is news. Hits in breaches that are not published any more, and of
// values that are gone, count for nothing.
func (Judge) DiscoverFindings(
	values []*Watched,
	hits []Hit,
	published map[string]cyber.Breach,
	newID func() (cyber.FindingID, error),
	now time.Time,
) (Verdict, error) {
	var v Verdict
	byID := make(map[cyber.AssetID]*Watched, len(values))
	for _, w := range values {
		byID[w.ID] = w
	}
	for _, h := range hits {
		b, ok := published[h.Breach]
		w := byID[h.Asset]
		if !ok || w == nil || w.findingIndex(b.Name) >= 0 || !w.countsFor(h.Trace) {
			continue
		}
		id, err := newID()
		if err != nil {
			return v, err
		}
		b = b.ForTrace(h.Trace)
		f := cyber.Finding{
			ID: id, Partner: w.Partner, Asset: w.ID, Kind: w.Kind, Breach: b, Trace: h.Trace, FoundAt: now,
		}
		w.judgeSites(&f)
		f.Quiet = cyber.IsKnownFinding(f, w.Findings)
		v.Found = append(v.Found, f)
		w.Findings = append(w.Findings, f)
	}
	v.Restated = restateAll(values)
	v.News = gatherNews(values, v.Found)
	return v, nil
}

// CloseFindings judges the open findings that which picks: they are resolved, and the values say what is left.
func (Judge) CloseFindings(
	values []*Watched,
	which func(cyber.Finding) bool,
	why cyber.Resolution,
	now time.Time,
) Verdict {
	var v Verdict
	for _, w := range values {
		for i := range w.Findings {
			if f := &w.Findings[i]; f.Open() && which(*f) {
				f.Resolution, f.ResolvedAt = why, now
				v.Closed = append(v.Closed, *f)
			}
		}
	}
	v.Restated = restateAll(values)
	return v
}

// RejudgeSites judges the findings of values again after the sites of their partner changed. What becomes a credential
// for one of them is news, although the finding is not.
func (Judge) RejudgeSites(values []*Watched) Verdict {
	var v Verdict
	var told []cyber.Finding
	for _, w := range values {
		for i := range w.Findings {
			f := &w.Findings[i]
			before := *f
			if w.judgeSites(f); f.OwnSite == before.OwnSite && f.WatchedSite == before.WatchedSite {
				continue
			}
			v.Judged = append(v.Judged, *f)
			if f.Open() && (f.OwnSite && !before.OwnSite || f.WatchedSite && !before.WatchedSite) {
				loud := *f
				loud.Quiet = false
				told = append(told, loud)
			}
		}
	}
	v.News = gatherNews(values, told)
	return v
}

// RestateValues judges values whose breaches may have been edited.
func (Judge) RestateValues(values []*Watched) Verdict { return Verdict{Restated: restateAll(values)} }

// findingIndex returns the place of the finding of a breach, or -1.
func (w *Watched) findingIndex(breach string) int {
	return slices.IndexFunc(w.Findings, func(f cyber.Finding) bool { return f.Breach.Name == breach })
}

// restateAll has every value say what its findings come to.
func restateAll(values []*Watched) []Restated {
	var list []Restated
	for _, w := range values {
		before, status, open := w.Status, cyber.ComputeStatus(w.Findings), cyber.JoinBreachNames(w.Findings)
		if status == before && open == w.OpenBreaches {
			continue
		}
		w.Status, w.OpenBreaches = status, open
		list = append(list, Restated{Asset: w.Asset, Before: before, OpenBreaches: open})
	}
	return list
}

// gatherNews gathers what is to be told, person by person in the order of their values.
func gatherNews(values []*Watched, found []cyber.Finding) []cyber.News {
	told := make(map[cyber.AssetID][]cyber.Finding, len(values))
	for _, f := range found {
		if !f.Quiet {
			told[f.Asset] = append(told[f.Asset], f)
		}
	}
	var list []cyber.News
	place := map[string]int{}
	for _, w := range values {
		if len(told[w.ID]) == 0 {
			continue
		}
		i, ok := place[w.Person]
		if !ok {
			i = len(list)
			place[w.Person] = i
			list = append(list, cyber.News{Partner: w.Partner, User: w.User, Status: map[cyber.AssetID]cyber.Status{}})
		}
		list[i].Found = append(list[i].Found, told[w.ID]...)
		list[i].Status[w.ID] = w.Status
	}
	return list
}

// Union is one value that stood under both digests of a person, before anybody knew that they were one person's: the
// value that was added first stays, under the id that listings show, and takes over what only the other one knew.
type Union struct {
	Gone, Into cyber.AssetID
	// Moved are the findings that change over, Closed those of the value that stays which the person had resolved under
	// the other digest.
	Moved  []cyber.Finding
	Closed []cyber.Finding
	// Twins are the findings that both had of one breach: what the person said of the steps of the first is said of the
	// second.
	Twins []Twin
}

// Twin is a finding that goes, and the one that stays in its place.
type Twin struct{ Gone, Into cyber.FindingID }

// UniteValues leaves each value of a person once. It returns the values that stay, in their order, and what becomes of
// the others.
func (Judge) UniteValues(values []*Watched) ([]*Watched, []Union) {
	type key struct{ person, same string }
	first := make(map[key]*Watched, len(values))
	for _, w := range values {
		k := key{w.Person, w.Same}
		if other := first[k]; other == nil || isEarlier(w, other) {
			first[k] = w
		}
	}
	stay, unions := make([]*Watched, 0, len(first)), []Union(nil)
	for _, w := range values {
		if into := first[key{w.Person, w.Same}]; into != w {
			unions = append(unions, into.absorbTwin(w))
		} else {
			stay = append(stay, w)
		}
	}
	return stay, unions
}

// isEarlier reports whether a was added before b.
func isEarlier(a, b *Watched) bool {
	return cmp.Or(a.AddedAt.Compare(b.AddedAt), cmp.Compare(a.ID, b.ID)) < 0
}

// absorbTwin takes over what hangs on a twin.
func (w *Watched) absorbTwin(gone *Watched) Union {
	u := Union{Gone: gone.ID, Into: w.ID}
	for _, f := range gone.Findings {
		i := w.findingIndex(f.Breach.Name)
		if i < 0 {
			f.Asset = w.ID
			u.Moved, w.Findings = append(u.Moved, f), append(w.Findings, f)
			continue
		}
		own := &w.Findings[i]
		u.Twins = append(u.Twins, Twin{f.ID, own.ID})
		if own.Open() && !f.Open() {
			own.Resolution, own.ResolvedAt = f.Resolution, f.ResolvedAt
			u.Closed = append(u.Closed, *own)
		}
	}
	slices.SortStableFunc(
		w.Findings,
		func(a, b cyber.Finding) int { return cmp.Or(a.FoundAt.Compare(b.FoundAt), cmp.Compare(a.ID, b.ID)) },
	)
	return u
}

// TraceOfLabel returns the label in the words of the rules.
func (l Label) TraceOfLabel() cyber.Trace {
	return cyber.Trace{Told: l.IsOfRecord(), Classes: l.Classes, Sites: l.Sites, Day: l.Day, Spellings: l.Spellings}
}

// AppendTrace writes down what the store keeps of a trace besides its classes: spellings, sites, day and which
// passwords.
func AppendTrace(dst []byte, t cyber.Trace) []byte {
	label := Label{Classes: t.Classes, Sites: t.Sites, Day: t.Day, Spellings: t.Spellings}.AppendEncoded(nil)
	dst = append(binary.AppendUvarint(dst, uint64(len(label))), label...)
	for _, p := range t.Passwords {
		dst = append(dst, byte(p>>16), byte(p>>8), byte(p))
	}
	return dst
}

// ParseTrace reads what AppendTrace wrote.
func ParseTrace(text []byte) (cyber.Trace, error) {
	size, n := binary.Uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) || (uint64(len(text)-n)-size)%3 != 0 {
		return cyber.Trace{}, ErrLabel.Note("no trace")
	}
	label, err := ParseLabel(text[n : n+int(size)])
	if err != nil {
		return cyber.Trace{}, err
	}
	t := label.TraceOfLabel()
	for tags := text[n+int(size):]; len(tags) > 0; tags = tags[3:] {
		t.Passwords = append(t.Passwords, uint32(tags[0])<<16|uint32(tags[1])<<8|uint32(tags[2]))
	}
	return t, nil
}

// volume is what is read of one breach: its identifiers and, if it has any, its pairs.
type volume struct {
	reader, pairs *segment.Reader
	keys          Pairs
}

// closeFiles lets go of both.
func (v volume) closeFiles() error {
	err := v.reader.Close()
	if v.pairs != nil {
		err = errors.Join(err, v.pairs.Close())
	}
	return err
}

// traceValue returns what the records of the breach say of a value. A segment of the old kind, without labels, has no
// such facts.
func (v volume) traceValue(fingerprint uint64) (h Held, err error) {
	label, found, err := v.reader.LookUp(fingerprint)
	if err != nil || !found {
		return h, err
	}
	h.Found = true
	h.Trace, err = v.traceOfLabel(fingerprint, label)
	return h, err
}

// findHits returns those values that the breach holds, with what its records say of them.
func (v volume) findHits(breach string, values []Candidate) ([]Hit, error) {
	hits := make([]Hit, 0, len(values))
	for _, c := range values {
		held, err := v.traceValue(c.Fingerprint)
		if err != nil {
			return nil, err
		}
		if held.Found {
			hits = append(hits, Hit{Asset: c.Asset, Seen: cyber.Seen{Breach: breach, Trace: held.Trace}})
		}
	}
	return hits, nil
}

func (v volume) traceOfLabel(fingerprint uint64, id segment.LabelID) (cyber.Trace, error) {
	text, err := v.reader.LabelBytes(id)
	if err != nil {
		return cyber.Trace{}, err
	}
	label, err := ParseLabel(text)
	if err != nil {
		return cyber.Trace{}, fmt.Errorf("label of a segment: %w", err)
	}
	t := label.TraceOfLabel()
	if v.pairs != nil && t.Classes&passwordClass != 0 {
		if t.Passwords, err = v.passwords(fingerprint); err != nil {
			return cyber.Trace{}, fmt.Errorf("pairs of a segment: %w", err)
		}
	}
	return t, nil
}

// passwordClass is what a credential exposes at least.
var passwordClass = cyber.NewClasses([]cyber.Exposed{cyber.ExposedPassword})

// mostPasswords bounds the passwords known of one value in one breach: an address with more is not one person's.
const mostPasswords = 256

// passwords tells apart those that stood beside a value; nil when there are none, or too many.
func (v volume) passwords(fingerprint uint64) (tags []uint32, err error) {
	first, last := v.keys.PairRange(fingerprint)
	for key, err := range v.pairs.KeysInRange(first, last) {
		if err != nil {
			return nil, err
		}
		if len(tags) == mostPasswords {
			return nil, nil
		}
		tags = append(tags, uint32(key-first))
	}
	return tags, nil
}

// Explanation is what a published breach says of one value, and what was known of it before.
type Explanation struct {
	// Found says that the breach holds the value; nothing else is known if not.
	Found bool
	// Breach is the breach as far as it concerns the value.
	Breach cyber.Breach
	Trace  cyber.Trace
	// Earlier are the breaches published before it that hold the value, oldest first.
	Earlier []Before
	// News says that the breach tells something that none of them told.
	News bool
}

// Before is an earlier breach as far as it concerns a value.
type Before struct {
	Breach cyber.Breach
	Trace  cyber.Trace
	// SamePassword says that a password stood beside the value in both.
	SamePassword bool
}

// ExplainSighting says what the breach of tells of a value that was seen somewhere, by the same rule that decides
// whether people are alerted.
func ExplainSighting(of Record, all []Record, seen cyber.Sighting) Explanation {
	traces := map[string]cyber.Trace{}
	for _, s := range seen.Breaches {
		traces[s.Breach] = s.Trace
	}
	trace, found := traces[of.Name]
	if !found {
		return Explanation{}
	}
	e := Explanation{Found: true, Breach: of.ForTrace(trace), Trace: trace}
	var told []cyber.Finding
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Record) int { return a.PublishedAt.Compare(b.PublishedAt) })
	for _, r := range all {
		t, holds := traces[r.Name]
		if !holds || r.Name == of.Name || r.State != Published || !r.PublishedAt.Before(of.PublishedAt) {
			continue
		}
		shared := slices.ContainsFunc(t.Passwords, func(p uint32) bool { return slices.Contains(trace.Passwords, p) })
		e.Earlier = append(e.Earlier, Before{r.ForTrace(t), t, shared})
		told = append(told, cyber.Finding{Breach: r.ForTrace(t), Trace: t})
	}
	e.News = !cyber.IsKnownFinding(cyber.Finding{Breach: e.Breach, Trace: trace}, told)
	return e
}
