// Package feed brings dumps by itself: continuous sources that are looked at now and then, each as a job. Feeds runs them
// and hands what came to intake.
//
// A source is foreign: what it sends is bounded, what it answers is kept short, and its failure is the feed's and not
// the service's.
package feed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/bucket"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// Kind is where a feed gets its dumps.
type Kind string

// The kinds of feeds.
const (
	Folder Kind = "folder" // a folder or bucket into which dumps and manifests are dropped
	List   Kind = "list"   // an address that answers with a list of dumps
	HIBP   Kind = "hibp"   // the account API of Have I Been Pwned
)

// Feed is a continuous source.
type Feed struct {
	Name   string
	Kind   Kind
	Target string
	// Secret is an API key; sealed at rest, never shown.
	Secret   string
	Settings Settings
	Paused   bool
	Every    time.Duration
	// State is the feed's note to itself: positions and tags, nothing personal.
	State State
	// Failures in a row, and why the last run failed.
	Failures int64
	Error    string
	NextAt   time.Time
	LastAt   time.Time
	Created  time.Time
}

// Settings are the limits of a feed; zero means the default.
type Settings struct {
	// PerMinute bounds the calls to an API; zero: what the plan of the key allows.
	PerMinute int `json:"per_minute,omitempty"`
	// Mapping says how the records of what comes are read, as it was written: see stated.ParseMapping.
	Mapping string `json:"mapping,omitempty"`
	// Vendor says that manifests in the folder are a vendor's: an operator approves their titles and descriptions before
	// anyone else reads them. What a list says always is.
	Vendor bool `json:"vendor,omitempty"`
	// NoPairs keeps nothing of passwords beside identifiers; a manifest can ask for the same.
	NoPairs bool `json:"no_pairs,omitempty"`
}

// State is where a feed stands.
type State struct {
	Tag string `json:"tag,omitempty"` // of a list, so that it is fetched only when it changed
	// Cell is how far a walk over ranges of hashes has come. Cells are large on purpose: an exact position among the
	// hashes would store part of a person's hash.
	Cell  int64 `json:"cell,omitempty"`
	Items int64 `json:"items"` // taken so far
	// Orphans are files of a folder that no manifest speaks of.
	Orphans int64 `json:"orphans,omitempty"`
	// LeftOut are values of exports that are none of their kind, and Quarantined files that ended two readers.
	LeftOut     int64 `json:"left_out,omitempty"`
	Quarantined int64 `json:"quarantined,omitempty"`
	// SucceededAt is when a run last ended without failing.
	SucceededAt time.Time `json:"succeeded_at,omitzero"`
}

// FreshAsOf returns when the feed last succeeded; one that never did is as old as its row.
func (f Feed) FreshAsOf() time.Time {
	if f.State.SucceededAt.IsZero() {
		return f.Created
	}
	return f.State.SucceededAt
}

// KindRun is the kind of job that runs a feed.
const KindRun = "feed.run"

// Faults of feeds.
var (
	ErrNotFound = fault.New(fault.NotFound, "feed.not_found")
	ErrInvalid  = fault.New(fault.Invalid, "feed.invalid")
	ErrExists   = fault.New(fault.Conflict, "feed.exists")
)

// Breaches keeps what feeds bring.
type Breaches interface {
	ListBreaches(ctx context.Context) ([]leak.Record, error)
	// InsertBreach keeps a new breach; leak.ErrBreachExists when the name is taken.
	InsertBreach(ctx context.Context, r leak.Record) error
	RetractBreach(ctx context.Context, name string) (leak.Record, error)
	// TellHits makes findings, statuses and events of what a source told of some values of a partner: see leak.Store.
	TellHits(ctx context.Context, id partner.ID, hits []leak.Hit) (int, error)
}

// Jobs takes work that is due.
type Jobs interface {
	EnqueueJob(ctx context.Context, kind, subject string, args any) (job.ID, error)
}

// Store keeps feeds and what they have taken.
type Store interface {
	ListFeeds(ctx context.Context) ([]Feed, error)
	FeedByName(ctx context.Context, name string) (Feed, error)
	InsertFeed(ctx context.Context, f Feed) error
	UpdateFeed(ctx context.Context, name string, change func(*Feed) error) (Feed, error)
	// IsTaken tells whether a feed has taken an item before; Take remembers it and what became of it.
	IsTaken(ctx context.Context, feed, item string) (bool, error)
	MarkTaken(ctx context.Context, feed, item, breach string) error
	DeleteFeed(ctx context.Context, name string) error
	// WatchedEmails returns e-mail addresses that live partners watch, by partner and id, behind one of a partner.
	WatchedEmails(ctx context.Context, of partner.ID, after cyber.AssetID, limit int) ([]cyber.Asset, error)
}

// Feeds runs continuous sources.
type Feeds struct {
	Store    Store
	Breaches Breaches
	Jobs     Jobs
	Importer *intake.Importer
	// Client calls out: it dials only what the guard allows.
	Client *http.Client
	Now    func() time.Time
	// Observe, if set, is told of every run.
	Observe func(f Feed, took time.Duration, err error)
}

const (
	leastEvery   = time.Minute
	firstBackoff = time.Minute
	mostBackoff  = 6 * time.Hour
)

// RunNow runs a feed in this process, unless a server is at it.
func (fs *Feeds) RunNow(ctx context.Context, runner *job.Runner, worker, name string) (Feed, error) {
	if _, err := fs.Store.FeedByName(ctx, name); err != nil {
		return Feed{}, err
	}
	hold, err := runner.BeginJob(ctx, worker, KindRun, name, struct{}{})
	if errors.Is(err, job.ErrExists) {
		return Feed{}, intake.ErrBusy.With("name", fault.FeedRunning)
	}
	if err != nil {
		return Feed{}, err
	}
	if err := hold.RunStep(ctx, fs.Run); err != nil {
		return Feed{}, err
	}
	return fs.Store.FeedByName(ctx, name)
}

// AddFeed registers a feed; it runs at once.
func (fs *Feeds) AddFeed(ctx context.Context, f Feed) (Feed, error) {
	f.Created, f.NextAt, f.Every = fs.Now(), fs.Now(), cmp.Or(f.Every, time.Hour)
	if err := checkFeed(&f); err != nil {
		return f, err
	}
	return f, fs.Store.InsertFeed(ctx, f)
}

// CheckTarget reports whether a feed's folder can be read, or its address answers, from this machine: a slip of the pen
// is told when the feed is saved and not after its first run. Buckets and vendors' APIs are left to the first run,
// which has their keys.
func (fs *Feeds) CheckTarget(ctx context.Context, f Feed) error {
	switch {
	case f.Kind == Folder && filepath.IsAbs(f.Target):
		_, err := os.ReadDir(f.Target)
		return fault.When(err != nil, ErrInvalid.With("target", fault.FolderUnreadable).Because(err))
	case f.Kind == List && strings.HasPrefix(f.Target, "http"):
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.Target, nil)
		if err != nil {
			return ErrInvalid.With("target", fault.HTTPSAddress).Because(err)
		}
		res, err := fs.Client.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		return fault.When(
			err != nil || res.StatusCode >= http.StatusBadRequest,
			ErrInvalid.With("target", fault.AddressSilent).Because(err),
		)
	}
	return nil
}

// CheckAccess reports whether a bucket can be listed or a vendor's API takes the key, from this machine and with its
// credentials.
func (fs *Feeds) CheckAccess(ctx context.Context, f Feed) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var err error
	switch {
	case f.Kind == HIBP:
		err = fs.newHIBPSweep(&f).checkKey(ctx)
	case f.Kind == Folder && !filepath.IsAbs(f.Target):
		b, openErr := fs.openFolder(f.Target)
		if err = openErr; err == nil {
			_, err = b.List(ctx, accessProbe)
		}
	}
	var refusal *fault.Error
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	return ErrInvalid.Because(err).Note("target: %s", failureReason(err))
}

// accessProbe is a name that no dump has, so that the list of a large bucket is one short answer.
const accessProbe = ".vigia-access-"

// checkTime is how long an address may take to answer when its feed is saved.
const checkTime = 10 * time.Second

// checkFeed refuses a feed whose name, interval or target does not fit its kind.
func checkFeed(f *Feed) error {
	_, mapping := f.Settings.parseMapping()
	u, err := url.Parse(f.Target)
	isWeb := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	isFolder := filepath.IsAbs(f.Target) || strings.HasPrefix(f.Target, "s3://") ||
		strings.HasPrefix(f.Target, "file://")
	return errors.Join(
		mapping,
		fault.When(!leak.ValidName(f.Name) || len(f.Name) > 40, ErrInvalid.With("name", fault.FeedName)),
		fault.When(f.Every < leastEvery, ErrInvalid.With("every", fault.AtLeastAMinute)),
		fault.When(f.Kind == Folder && !isFolder, ErrInvalid.With("target", fault.FolderOrBucket)),
		fault.When(f.Kind == List && !isWeb, ErrInvalid.With("target", fault.HTTPSAddress)),
		fault.When(f.Kind == HIBP && !isWeb, ErrInvalid.With("target", fault.APIAddress)),
		fault.When(
			!slices.Contains([]Kind{Folder, List, HIBP}, f.Kind),
			ErrInvalid.With("kind", fault.OneOf, "folder, list, hibp"),
		),
	)
}

// Shown returns where a feed gets its dumps as people may read it: an address can hold a secret.
func (f Feed) Shown() string { return intake.ShownAddress(f.Target) }

// PauseFeed stops a feed, or lets it go on.
func (fs *Feeds) PauseFeed(ctx context.Context, name string, paused bool) (Feed, error) {
	return fs.Store.UpdateFeed(ctx, name, func(f *Feed) error {
		f.Paused = paused
		if !paused {
			f.NextAt = fs.Now()
		}
		return nil
	})
}

// StartFeed puts a job in the queue for a feed now, due or not, paused or not.
func (fs *Feeds) StartFeed(ctx context.Context, name string) error {
	if _, err := fs.Store.FeedByName(ctx, name); err != nil {
		return err
	}
	_, err := fs.Jobs.EnqueueJob(ctx, KindRun, name, struct{}{})
	if errors.Is(err, job.ErrExists) {
		return intake.ErrBusy.With("name", fault.FeedRunning)
	}
	return err
}

// Schedule puts a job in the queue for every feed that is due.
func (fs *Feeds) Schedule(ctx context.Context) error {
	all, err := fs.Store.ListFeeds(ctx)
	if err != nil {
		return err
	}
	now := fs.Now()
	for _, f := range all {
		if f.Paused || f.NextAt.After(now) {
			continue
		}
		if _, err := fs.Jobs.EnqueueJob(
			ctx,
			KindRun,
			f.Name,
			struct{}{},
		); err != nil &&
			!errors.Is(err, job.ErrExists) {
			return err
		}
	}
	return nil
}

// Run runs jobs of KindRun: one run of a feed. A source that fails is retried with a growing backoff; its failure is
// recorded with the feed and does not fail the job.
func (fs *Feeds) Run(ctx context.Context, run *job.Run) error {
	f, err := fs.Store.FeedByName(ctx, run.Subject)
	if err != nil {
		return err
	}
	start := fs.Now()
	failed := fs.runOneFeed(ctx, &f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fs.Observe != nil {
		fs.Observe(f, fs.Now().Sub(start), failed)
	}
	_, err = fs.Store.UpdateFeed(ctx, f.Name, func(kept *Feed) error {
		kept.State, kept.LastAt = f.State, start
		if failed == nil {
			kept.Failures, kept.Error, kept.NextAt = 0, "", fs.Now().Add(kept.Every)
			kept.State.SucceededAt = fs.Now().UTC()
			return nil
		}
		kept.Failures, kept.Error = kept.Failures+1, failureReason(failed)
		kept.NextAt = fs.Now().Add(min(firstBackoff<<min(kept.Failures-1, 9), mostBackoff))
		return nil
	})
	return err
}

// addressEnd is what follows the question mark of an address, and what stands before its host: both can be secret.
var addressEnd = regexp.MustCompile(`://[^/@\s"]*@|\?[^\s"]*`)

// failureReason returns what is kept of a failure. Sources put what they like into errors, so it is short; addresses
// are cut where they may hold secrets.
func failureReason(err error) string {
	text := addressEnd.ReplaceAllStringFunc(fault.Keep(err), func(found string) string {
		if found[0] == '?' {
			return "?..."
		}
		return "://...@"
	})
	return strings.ToValidUTF8(text[:min(len(text), 600)], "")
}

// runOneFeed runs a feed by its kind.
func (fs *Feeds) runOneFeed(ctx context.Context, f *Feed) error {
	switch f.Kind {
	case Folder:
		return fs.runFolder(ctx, f)
	case List:
		return fs.fetchDumpList(ctx, f)
	case HIBP:
		return fs.sweepHIBP(ctx, f)
	}
	return ErrInvalid.With("kind", fault.UnknownKindOfFeed)
}

// manifest is what comes with a dump in a folder, and what a list holds.
type manifest struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Date        string   `json:"date"`
	Exposes     []string `json:"exposes"`
	Kind        string   `json:"kind"`
	Source      string   `json:"source"`
	Description string   `json:"description"`
	Verified    bool     `json:"verified"`
	Fabricated  bool     `json:"fabricated"`
	SpamList    bool     `json:"spam_list"`
	NoPairs     bool     `json:"no_pairs"`
	// Files are beside the manifest; URLs are fetched.
	Files []string `json:"files"`
	URLs  []string `json:"urls"`
	// IsVendors means that a vendor wrote it, and not the operator.
	IsVendors bool `json:"is_vendors,omitempty"`
}

// maxManifest bounds the list of files that a folder or bucket feed publishes.
const maxManifest = 4 << 20

// parseBreach returns the breach that a manifest describes.
func (m manifest) parseBreach() (cyber.Breach, error) {
	day, err := leak.ParseBreachDay(m.Date)
	return cyber.Breach{
		Name:           m.Name,
		Title:          m.Title,
		Date:           day,
		Exposes:        leak.ParseExposes(m.Exposes),
		Kind:           cyber.SourceKind(m.Kind),
		Source:         m.Source,
		Description:    m.Description,
		Verified:       m.Verified,
		Fabricated:     m.Fabricated,
		SpamList:       m.SpamList,
		HasVendorWords: m.IsVendors,
	}, err
}

// importItem imports what a manifest describes, unless the feed has taken that item before.
func (fs *Feeds) importItem(ctx context.Context, f *Feed, item string, m manifest, inputs []intake.Input) error {
	if taken, err := fs.Store.IsTaken(ctx, f.Name, item); err != nil || taken {
		return err
	}
	b, err := m.parseBreach()
	if err != nil {
		return err
	}
	if len(inputs) == 0 {
		return intake.ErrInput.With("files", fault.ManifestNamesNone)
	}
	b.Source = cmp.Or(b.Source, sourceOf(*f))
	by, err := f.Settings.parseMapping()
	if err != nil {
		return err
	}
	out, err := fs.Importer.ImportBreach(
		ctx,
		intake.Spec{Breach: b, Inputs: inputs, Mapping: by, NoPairs: m.NoPairs || f.Settings.NoPairs},
	)
	if err != nil && !errors.Is(err, leak.ErrBreachExists) &&
		!errors.Is(err, leak.ErrRetracted) { // those are an operator's decision, not a failure
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	f.State.Items++
	f.State.LeftOut += out.Tally.LeftOut
	f.State.Quarantined += out.Quarantined()
	return fs.Store.MarkTaken(ctx, f.Name, item, b.Name)
}

// runFolder looks for manifests, NAME.json, and imports the files they describe. A manifest is to be dropped after its
// files. Those that are not named by it are the ones called like the manifest, or in a folder of its name.
func (fs *Feeds) runFolder(ctx context.Context, f *Feed) error {
	b, err := fs.openFolder(f.Target)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	drops, err := b.List(ctx, "")
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	var failed error
	manifests := slices.DeleteFunc(
		slices.Clone(drops),
		func(d bucket.Object) bool { return !strings.HasSuffix(d.Key, ".json") || strings.Contains(d.Key, "/") },
	)
	for _, d := range manifests {
		if err := fs.takeDrop(ctx, f, b, d, drops); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", d.Key, err)) // the others are taken all the same
		}
	}
	f.State.Orphans, err = countOrphans(ctx, b, drops, manifests)
	return errors.Join(failed, err)
}

// countOrphans counts files that no manifest speaks of. A manifest is dropped last, so a file may be one for a while
// and that is no failure; one that stays so would be missed in silence.
func countOrphans(ctx context.Context, b bucket.Bucket, drops, manifests []bucket.Object) (int64, error) {
	left := slices.DeleteFunc(slices.Clone(drops), func(d bucket.Object) bool {
		return slices.ContainsFunc(
			manifests,
			func(m bucket.Object) bool { return m.Key == d.Key || isBeside(m.Key, d.Key) },
		)
	})
	for i := 0; len(left) > 0 && i < len(manifests); i++ {
		text, err := bucket.ReadAll(ctx, b, manifests[i].Key, maxManifest)
		if err != nil {
			return 0, err
		}
		var m manifest
		if json.Unmarshal(text, &m) != nil { // is told where it is taken
			continue
		}
		left = slices.DeleteFunc(left, func(d bucket.Object) bool {
			return slices.ContainsFunc(m.Files, func(name string) bool { return path.Clean(name) == d.Key })
		})
	}
	return int64(len(left)), nil
}

// isBeside reports whether a file is called like a manifest, or lies in a folder of its name.
func isBeside(manifest, file string) bool {
	base := strings.TrimSuffix(manifest, ".json")
	return strings.HasPrefix(file, base+".") || strings.HasPrefix(file, base+"/")
}

// openFolder opens the target of a folder feed: a path on this machine, or the address of a bucket.
func (fs *Feeds) openFolder(target string) (bucket.Bucket, error) {
	if filepath.IsAbs(target) {
		return bucket.NewFolderBucket(target)
	}
	return bucket.Open(target, fs.Client)
}

// takeDrop imports the dump that a manifest in the folder describes, once: a manifest that was taken before is passed
// over.
func (fs *Feeds) takeDrop(ctx context.Context, f *Feed, b bucket.Bucket, d bucket.Object, drops []bucket.Object) error {
	if taken, err := fs.Store.IsTaken(ctx, f.Name, d.Mark()); err != nil || taken {
		return err
	}
	if d.Size > maxManifest {
		return ErrInvalid.With("manifest", fault.LargerThan, maxManifest)
	}
	text, err := bucket.ReadAll(ctx, b, d.Key, maxManifest)
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return ErrInvalid.With("manifest", fault.NotJSON).Because(err)
	}
	m.Name, m.IsVendors = cmp.Or(m.Name, strings.TrimSuffix(d.Key, ".json")), m.IsVendors || f.Settings.Vendor
	var inputs []intake.Input
	for _, o := range drops {
		named := slices.ContainsFunc(m.Files, func(name string) bool { return path.Clean(name) == o.Key })
		beside := len(m.Files) == 0 && o.Key != d.Key && isBeside(d.Key, o.Key)
		if named || beside {
			inputs = append(inputs, dropInput(f.Target, b, o))
		}
	}
	return fs.importItem(ctx, f, d.Mark(), m, intake.JoinVolumes(inputs))
}

// dropInput reads a local file, or an object of a bucket, in place: archives that begin at their end need that.
func dropInput(target string, b bucket.Bucket, o bucket.Object) intake.Input {
	return intake.ReaderInput(o.Key, o.Mark(), o.Size, func(ctx context.Context) (io.ReadCloser, error) {
		if filepath.IsAbs(target) {
			return os.OpenInRoot(target, filepath.FromSlash(o.Key))
		}
		return intake.OpenObject(ctx, b, o), nil
	})
}

// fetchDumpList fetches a list of dumps and imports those that are new. A list that did not change is not sent again.
func (fs *Feeds) fetchDumpList(ctx context.Context, f *Feed) error {
	list, tag, err := fs.fetchList(ctx, f)
	if err != nil || list == nil {
		return err
	}
	var failed error
	for _, m := range list {
		m.IsVendors = true
		var inputs []intake.Input
		for _, u := range m.URLs {
			if strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://") {
				inputs = append(inputs, intake.AddressInput(fs.Client, u))
			}
		}
		failed = errors.Join(failed, fs.importItem(ctx, f, m.Name+" "+strings.Join(m.URLs, " "), m, inputs))
	}
	if failed == nil { // the next run looks at the whole list again otherwise
		f.State.Tag = tag
	}
	return failed
}

// answerTime bounds a call whose answer is small. The client itself is patient, because dumps are not.
const answerTime = time.Minute

// fetchAnswer asks a source for something small and returns its answer with at most so many bytes and one more of its
// body. Headers without a value are left out. No error repeats the address, which may be a person's or hold a secret.
func (fs *Feeds) fetchAnswer(
	ctx context.Context,
	address string,
	headers map[string]string,
	most int64,
) (status int, header http.Header, text []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, nil, ErrInvalid.With("target", fault.NotAnAddress)
	}
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := fs.Client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) { // its text holds the whole address
			err = ue.Err
		}
		return 0, nil, nil, err
	}
	defer func() { _ = res.Body.Close() }() // only read
	text, err = io.ReadAll(io.LimitReader(res.Body, most+1))
	return res.StatusCode, res.Header, text, err
}

// fetchList returns the list and its tag; no list when it did not change.
func (fs *Feeds) fetchList(ctx context.Context, f *Feed) (list []manifest, tag string, err error) {
	headers := map[string]string{"If-None-Match": f.State.Tag}
	if f.Secret != "" {
		headers["Authorization"] = "Bearer " + f.Secret
	}
	status, header, text, err := fs.fetchAnswer(ctx, f.Target, headers, maxManifest)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("fetch list: %w", err)
	case status == http.StatusNotModified:
		return nil, "", nil
	case status != http.StatusOK:
		return nil, "", fmt.Errorf("fetch list: answered %d", status)
	case len(text) > maxManifest:
		return nil, "", ErrInvalid.With("", fault.ListLargerThan, maxManifest)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, "", ErrInvalid.With("", fault.NoListOfDumps).Because(err)
	}
	return list, header.Get("ETag"), nil
}

// retryAfter reads how long a source asks to be left alone.
func retryAfter(h http.Header, otherwise time.Duration) time.Duration {
	var seconds int
	if _, err := fmt.Sscan(h.Get("Retry-After"), &seconds); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	return otherwise
}

// RemoveFeed forgets a feed and what it has taken. What it brought stays.
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

// sourceOf returns what the breaches of a feed name as their source.
func sourceOf(f Feed) string { return "feed " + f.Name }
