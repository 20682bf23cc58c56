// Package feed brings dumps by itself: continuous sources that are looked at now and then, each as a job. Feeds runs
// them and hands what came to intake.
//
// A source is foreign: what it sends is bounded, what it answers is kept short, and its failure is the feed's and not
// the service's.
package feed

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
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
	// Vendor says that manifests in the folder are a vendor's: an operator approves their titles and descriptions
	// before anyone else reads them. What a list says always is.
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

// AddFeed registers a feed; it runs at once.
func (fs *Feeds) AddFeed(ctx context.Context, f Feed) (Feed, error) {
	f.Created, f.NextAt, f.Every = fs.Now(), fs.Now(), cmp.Or(f.Every, time.Hour)
	if err := checkFeed(&f); err != nil {
		return f, err
	}
	return f, fs.Store.InsertFeed(ctx, f)
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
