package password

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/segment"
)

// pollEvery is how often a Checker looks for a new corpus: well below the five seconds that we promise.
const pollEvery = time.Second

// Checker answers from the corpora in force and takes up new ones while it runs. It is safe for many goroutines.
type Checker struct {
	lib     *Library
	log     *slog.Logger
	current atomic.Pointer[snapshot]
	reload  sync.Mutex  // one reload at a time
	seen    os.FileInfo // the manifest that current was made from; guarded by reload
}

// NewChecker opens the corpora in force. Corpora that are missing or damaged are no error here: look-ups say so, and
// Health.
func NewChecker(lib *Library, log *slog.Logger) (*Checker, error) {
	c := &Checker{lib: lib, log: log}
	c.current.Store(&snapshot{})
	return c, c.ReloadCorpora()
}

// Run takes up new corpora until ctx ends.
func (c *Checker) Run(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			c.inspectFiles()
			if err := c.ReloadCorpora(); err != nil {
				c.log.Error("password corpora cannot be reloaded", "error", err)
			}
		}
	}
}

// ReloadCorpora takes up the corpora in force now. It is cheap when nothing changed.
func (c *Checker) ReloadCorpora() error {
	c.reload.Lock()
	defer c.reload.Unlock()
	info, err := os.Stat(c.lib.filePath(manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing imported yet
	}
	if err != nil {
		return err
	}
	isStale := slices.ContainsFunc(c.current.Load().corpora, func(o *openCorpus) bool { return o.stale.Load() })
	if c.seen != nil && os.SameFile(info, c.seen) && info.ModTime().Equal(c.seen.ModTime()) && !isStale {
		return nil
	}
	m, err := c.lib.readManifest()
	if err != nil {
		return err
	}
	old := c.current.Load()
	next := c.lib.openCorpora(m, old)
	c.seen = info
	if next.broken != nil {
		c.seen = nil // perhaps the manifest was replaced and its files removed since we read it: look again soon
	}
	c.current.Store(next)
	old.releaseReplaced(next)
	c.logChange(old, next)
	return nil
}

// logChange logs the corpora that a reload put in force, and a broken corpus once, not at every reload.
func (c *Checker) logChange(old, next *snapshot) {
	for _, o := range next.corpora {
		if old.corpusOf(o.entry.Algorithm) != o {
			c.log.Info(
				"password corpus in force",
				"algorithm",
				o.entry.Algorithm.String(),
				"entries",
				o.entry.Entries,
				"source",
				o.entry.Source,
			)
		}
	}
	if next.broken != nil && (old.broken == nil || old.broken.Error() != next.broken.Error()) {
		c.log.Error("a password corpus cannot be opened", "error", next.broken)
	}
}

// Close lets go of the files.
func (c *Checker) Close() {
	c.reload.Lock()
	defer c.reload.Unlock()
	c.seen = nil
	c.current.Swap(&snapshot{}).releaseReplaced(&snapshot{})
}

// CheckPrefix returns how widely the password is exposed whose SHA-1 or NTLM hash starts with prefix: ten hex digits,
// in any case. Only where sample is true the built-in list counts as a corpus. The error is ErrPrefix, ErrNoCorpus or
// ErrUnreadable.
func (c *Checker) CheckPrefix(prefix string, sample bool) (Answer, error) {
	key, err := ParsePrefix(prefix)
	if err != nil {
		return Answer{}, err
	}
	for {
		s := c.current.Load()
		counted := &s.imported
		if sample {
			counted = &s.every
		}
		found, err := counted.checkKey(key)
		// A reload may close a snapshot between our taking it and our asking it: the next one is there already.
		if errors.Is(err, segment.ErrClosed) && c.current.Load() != s {
			continue
		}
		return found, err
	}
}

// inspectFiles checks whether files of the corpora were changed in place by another program. Pages that were checked
// before can then no longer be trusted: the corpus answers nothing until the next reload opens it anew.
func (c *Checker) inspectFiles() {
	for _, o := range c.current.Load().corpora {
		if err := errors.Join(o.all.Unchanged(), o.wide.Unchanged()); err != nil && o.damage.CompareAndSwap(nil, &err) {
			o.stale.Store(true)
			c.log.Error(
				"files of a password corpus were changed in place",
				"algorithm",
				o.entry.Algorithm.String(),
				"error",
				err,
			)
		}
	}
}

// CheckHealth is nil when every corpus that should be in force is, and can be read as far as is known.
func (c *Checker) CheckHealth() error {
	s := c.current.Load()
	if s.broken != nil {
		return ErrUnreadable.Because(s.broken)
	}
	for _, o := range s.corpora {
		if damage := o.damage.Load(); damage != nil {
			return ErrUnreadable.Because(*damage)
		}
	}
	if len(s.corpora) == 0 {
		return ErrNoCorpus
	}
	return nil
}
