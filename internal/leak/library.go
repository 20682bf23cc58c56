package leak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Library holds the published segments open and answers where a fingerprint is. Load follows what is published and
// retracted; a library that was never loaded answers that it does not know.
type Library struct {
	store Store
	files *library.Files
	pairs Pairs
	log   *slog.Logger

	loading sync.Mutex
	current atomic.Pointer[snapshot]

	settling sync.Mutex
	// unsettled is the place behind the due looks that the last call of SettleDueLooks could not settle.
	unsettled DuePlace
}

// snapshot is one state of the library. It is replaced, never changed.
type snapshot struct {
	epoch int64
	// whole says that every published segment could be opened.
	whole    bool
	segments []openSegment
}

// openSegment is a published segment with its files open.
type openSegment struct {
	Segment
	volume
}

// NewLibrary makes a library that has nothing open yet. pairs are the keys of pairs.
func NewLibrary(store Store, files *library.Files, pairs Pairs, log *slog.Logger) *Library {
	return &Library{store: store, files: files, pairs: pairs, log: log}
}

// SetLogger sets where the library complains; before that nowhere.
func (l *Library) SetLogger(log *slog.Logger) { l.log = log }

// ProbeFingerprint returns the breaches that hold a fingerprint. Its epoch is 0 when not every segment could be asked:
// then the answer may lack breaches, and the value has to be probed again.
func (l *Library) ProbeFingerprint(fingerprint uint64) cyber.Sighting {
	for range 2 { // a snapshot that was replaced meanwhile has closed readers; the new one has not
		s := l.current.Load()
		if s == nil {
			return cyber.Sighting{}
		}
		seen, err := s.probeSegments(fingerprint)
		if errors.Is(err, segment.ErrClosed) {
			continue
		}
		if err != nil {
			l.log.Error("segment cannot answer", "cause", err.Error())
		}
		return seen
	}
	return cyber.Sighting{}
}

// probeSegments returns the breaches of the snapshot that hold a fingerprint.
func (s *snapshot) probeSegments(fingerprint uint64) (cyber.Sighting, error) {
	seen := cyber.Sighting{Epoch: s.epoch}
	if !s.whole {
		seen.Epoch = 0
	}
	var failed error
	for _, v := range s.segments {
		label, found, err := v.reader.LookUp(fingerprint)
		var trace cyber.Trace
		if err == nil && found {
			trace, err = v.traceOfLabel(fingerprint, label)
		}
		if err != nil {
			seen.Epoch, failed = 0, fmt.Errorf("breach %s: %w", v.Breach, err)
			continue
		}
		if found {
			seen.Breaches = append(seen.Breaches, cyber.Seen{Breach: v.Breach, Trace: trace})
		}
	}
	return seen, failed
}

// LoadPublished opens what was published since the last call and lets go of what was retracted. It is cheap when
// nothing changed.
func (l *Library) LoadPublished(ctx context.Context) error {
	l.loading.Lock()
	defer l.loading.Unlock()
	old := l.current.Load()
	if old != nil && old.whole {
		epoch, err := l.store.CorporaEpoch(ctx)
		if err != nil || epoch == old.epoch {
			return err
		}
	}
	segments, epoch, err := l.store.ListSegments(ctx)
	if err != nil {
		return fmt.Errorf("load segments: %w", err)
	}
	next := &snapshot{epoch: epoch, whole: true, segments: make([]openSegment, 0, len(segments))}
	kept := old.openFiles(l.files)
	var problems error
	for _, g := range segments {
		o := openSegment{Segment: g, volume: volume{keys: l.pairs}}
		if o.reader, err = kept.takeOrOpen(ctx, g.File, g.Digest); err == nil && g.Pairs != "" {
			o.pairs, err = kept.takeOrOpen(ctx, g.Pairs, g.PairsDigest)
		}
		if err != nil {
			next.whole = false
			problems = errors.Join(problems, fmt.Errorf("breach %s: %w", g.Breach, err))
		}
		if o.reader == nil {
			continue
		}
		next.segments = append(next.segments, o)
	}
	l.current.Store(next)
	for file, r := range kept.open { // retracted: no copy stays on this machine
		problems = errors.Join(problems, r.Close(), l.files.ForgetLocal(file))
	}
	return problems
}

// openFiles are the files that a snapshot has open, for the next one to take over.
type openFiles struct {
	files *library.Files
	open  map[string]*segment.Reader
}

// openFiles returns the files that a snapshot has open, so that the next one takes them over instead of opening them
// again. The snapshot may be nil.
func (s *snapshot) openFiles(files *library.Files) openFiles {
	f := openFiles{files, map[string]*segment.Reader{}}
	if s == nil {
		return f
	}
	for _, v := range s.segments {
		f.open[v.File] = v.reader
		if v.pairs != nil {
			f.open[v.Pairs] = v.pairs
		}
	}
	return f
}

// takeOrOpen takes over a file that is open, or opens it.
func (f openFiles) takeOrOpen(ctx context.Context, file, digest string) (*segment.Reader, error) {
	if r := f.open[file]; r != nil {
		delete(f.open, file)
		return r, nil
	}
	return f.files.Open(ctx, file, digest)
}

// Size tells how many segments are open and how many keys they hold.
func (l *Library) Size() (segments int, keys uint64) {
	if s := l.current.Load(); s != nil {
		for _, v := range s.segments {
			keys += v.reader.Count()
		}
		segments = len(s.segments)
	}
	return segments, keys
}

// CountPairs tells how many pairs of a value and a password are open.
func (l *Library) CountPairs() (keys uint64) {
	if s := l.current.Load(); s != nil {
		for _, v := range s.segments {
			if v.pairs != nil {
				keys += v.pairs.Count()
			}
		}
	}
	return keys
}

// Close lets go of everything; later probes know nothing.
func (l *Library) Close() error {
	l.loading.Lock()
	defer l.loading.Unlock()
	var errs error
	if s := l.current.Swap(nil); s != nil {
		for _, v := range s.segments {
			errs = errors.Join(errs, v.closeFiles())
		}
	}
	return errs
}

// VerifyBreach checks the segments of a published breach from the first byte to the last and returns how many
// identifiers it has.
func (l *Library) VerifyBreach(ctx context.Context, name string) (uint64, error) {
	r, err := l.publishedBreach(ctx, name)
	if err != nil {
		return 0, err
	}
	var identifiers uint64
	for i, f := range r.ListFiles() {
		keys, err := l.VerifyFile(ctx, f)
		if err != nil {
			return 0, err
		}
		if i == 0 { // the other files hold pairs
			identifiers = keys
		}
	}
	return identifiers, nil
}

// VerifyFile checks one file of a breach from the first byte to the last and returns how many keys it has.
func (l *Library) VerifyFile(ctx context.Context, f File) (keys uint64, err error) {
	reader, err := l.files.Open(ctx, f.Name, f.Digest)
	if err != nil {
		return 0, err
	}
	return reader.Count(), errors.Join(reader.VerifyAll(ctx), reader.Close())
}

// publishedBreach returns a breach whose segment can be asked.
func (l *Library) publishedBreach(ctx context.Context, name string) (Record, error) {
	r, err := l.store.BreachByName(ctx, name)
	if err != nil {
		return r, err
	}
	if r.State != Published || r.Segment == "" {
		return r, ErrBreachNotFound.With("name", fault.NoSegment)
	}
	return r, nil
}

// ExplainFingerprint tells what a published breach says of one value, given by its fingerprint, and what earlier
// breaches said of it.
func (l *Library) ExplainFingerprint(ctx context.Context, name string, fingerprint uint64) (Explanation, error) {
	of, err := l.publishedBreach(ctx, name)
	if err != nil {
		return Explanation{}, err
	}
	all, err := l.store.ListBreaches(ctx)
	if err != nil {
		return Explanation{}, err
	}
	if err := l.LoadPublished(ctx); err != nil {
		return Explanation{}, err
	}
	return ExplainSighting(of, all, l.ProbeFingerprint(fingerprint)), nil
}

// dueBatch bounds how many values are probed at a time, and how many of them are settled in one transaction.
const dueBatch = 200

// SettleDueLooks probes the values whose first look is due: those that got a token after they had to wait, and those
// added when not every segment could be asked, by a process that holds none open or while a new one was on its way. It
// returns how many are settled.
//
// Another process may publish a breach at any time, and what was probed before that is not kept. Then the library is
// loaded anew, and the same values are probed again. Values that cannot be settled all the same, because a segment is
// damaged or a row of their partner is, must not hold up those behind them: the call ends, and the next one goes on
// behind them.
func (l *Library) SettleDueLooks(ctx context.Context) (int, error) {
	l.settling.Lock()
	defer l.settling.Unlock()
	done := 0
	for {
		due, err := l.store.ListDueLooks(ctx, l.unsettled, dueBatch)
		if err != nil {
			return done, err
		}
		before := l.epoch()
		kept, err := l.settleBatch(ctx, due)
		done += kept
		isWhole := err == nil && kept == len(due)
		if err == nil && !isWhole {
			if err = l.LoadPublished(ctx); err == nil && l.epoch() != before {
				continue
			}
		}
		if len(due) < dueBatch { // the next call begins with those that waited longest
			l.unsettled = DuePlace{}
			return done, err
		}
		if !isWhole {
			last := due[len(due)-1]
			l.unsettled = DuePlace{Since: last.Since, Asset: last.Asset}
			return done, err
		}
	}
}

// epoch returns the epoch of the snapshot that is asked now; 0 when there is none.
func (l *Library) epoch() int64 {
	if s := l.current.Load(); s != nil {
		return s.epoch
	}
	return 0
}

// settleBatch probes values and keeps what it saw. It returns of how many the look is done. What fails for one partner
// does not stop the others.
func (l *Library) settleBatch(ctx context.Context, due []DueLook) (kept int, err error) {
	type group struct {
		partner partner.ID
		epoch   int64
	}
	var order []group
	looked, hits := map[group][]cyber.AssetID{}, map[group][]Hit{}
	for _, d := range due {
		seen := l.ProbeFingerprint(d.Fingerprint)
		if seen.Epoch == 0 && len(seen.Breaches) == 0 {
			continue
		}
		g := group{d.Partner, seen.Epoch}
		if looked[g] == nil {
			order = append(order, g)
		}
		looked[g] = append(looked[g], d.Asset)
		for _, b := range seen.Breaches {
			hits[g] = append(hits[g], Hit{Asset: d.Asset, Seen: b})
		}
	}
	for _, g := range order {
		n, failed := l.store.SettleLooks(ctx, g.partner, g.epoch, looked[g], hits[g])
		kept += n
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("settle first looks of %s: %w", g.partner, failed))
		}
	}
	return kept, err
}

// looksAtOnce is how many rounds of first looks are made before new breaches are looked for again.
const looksAtOnce = 10

// MakeFirstLooks looks up waiting values as far as their partners have tokens, some of each partner in turn.
func (l *Library) MakeFirstLooks(ctx context.Context, looks *cyber.FirstLooks) error {
	for range looksAtOnce {
		started, err := looks.StartLooks(ctx)
		if _, failed := l.SettleDueLooks(ctx); failed != nil {
			err = errors.Join(err, failed)
		}
		if err != nil || started == 0 {
			return err
		}
	}
	return nil
}

var _ cyber.Corpora = (*Library)(nil)
