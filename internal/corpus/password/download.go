package password

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// DefaultBase is the public range service of Have I Been Pwned.
const DefaultBase = "https://api.pwnedpasswords.com"

// Download says what to download.
type Download struct {
	Algorithm Algorithm
	// Base is the address of the service; empty means DefaultBase.
	Base string
	// Parallel is how many requests run at once; 0 means 32.
	Parallel int
	Client   *http.Client
	// Force lets fewer hashes replace more, as of an import.
	Force bool
	// Progress, if set, is called now and then, by one goroutine at a time. It counts ranges.
	Progress func(Progress)
	// Wait pauses between attempts and Chance spreads the pauses; nil means the clock and the usual random source.
	Wait   func(context.Context, time.Duration) error
	Chance func() float64

	ranges int // how many ranges there are; tests have fewer
}

// A download asks for each prefix of five hexadecimal digits.
const (
	allRanges       = 1 << 20
	defaultParallel = 32
	requestTimeout  = time.Minute
)

// setDefaults fills in what was left open.
func (d *Download) setDefaults() {
	d.Base = strings.TrimRight(cmp.Or(d.Base, DefaultBase), "/")
	d.Parallel, d.ranges = cmp.Or(max(0, d.Parallel), defaultParallel), cmp.Or(d.ranges, allRanges)
	if d.Client == nil {
		t := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // this program never replaces it
		t.MaxIdleConnsPerHost = d.Parallel
		d.Client = &http.Client{Transport: t, Timeout: requestTimeout}
	}
	if d.Wait == nil {
		d.Wait = job.PauseStep
	}
	if d.Chance == nil {
		d.Chance = rand.Float64
	}
}

// downloader is a download under way.
type downloader struct {
	lib     *Library
	job     Download
	before  entry    // the corpus in force at the start
	tags    []string // its entity tags by range, or none
	journal *journal
}

// DownloadCorpus replaces the corpus of an algorithm by what a range service has. An interrupted download goes on where
// it stopped, and one that follows another asks only for the ranges that changed since. The corpus in force stays until
// the new one is complete; imports may run meanwhile.
func (l *Library) DownloadCorpus(ctx context.Context, job Download) (Corpus, error) {
	job.setDefaults()
	if u, err := url.Parse(job.Base); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return Corpus{}, ErrInput.With("", fault.RangeAddress)
	}
	if err := job.checkReach(ctx); err != nil {
		return Corpus{}, err
	}
	m, err := l.readManifest()
	if err != nil {
		return Corpus{}, err
	}
	d := &downloader{lib: l, job: job, before: m.Corpora[job.Algorithm.String()]}
	d.tags = l.loadTags(d.before, job.Base, job.ranges)
	head := journalHead{Algorithm: job.Algorithm.String(), Base: job.Base, Ranges: job.ranges}
	if d.tags != nil {
		head.Digest = d.before.Digest
	}
	if d.journal, err = openJournal(l.filePath(job.Algorithm.String()+".download"), head); err != nil {
		return Corpus{}, err
	}
	defer d.journal.file.Close()
	if err := d.fetchAllRanges(ctx); err != nil {
		return Corpus{}, err
	}
	return d.publishCorpus(ctx)
}

// reachTime is how long the service may take over the first answer of all.
const reachTime = 10 * time.Second

// checkReach asks once before the download begins: a wrong address or a closed way out is told at once, and not after
// all attempts at the first range. Any answer will do.
func (d *Download) checkReach(ctx context.Context) error {
	asked, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	req, err := http.NewRequestWithContext(asked, http.MethodHead, d.Base+"/", nil)
	if err != nil {
		return ErrInput.With("", fault.RangeAddress)
	}
	res, err := d.Client.Do(req)
	if err != nil {
		return errors.Join(ctx.Err(), ErrRangeServer.Because(err).With("", fault.RangeUnreachable, req.URL.Host))
	}
	return res.Body.Close()
}

// fetchAllRanges brings every range into the journal and reports progress.
func (d *downloader) fetchAllRanges(ctx context.Context) error {
	p := Progress{Total: int64(d.job.ranges), Done: int64(d.journal.count)}
	var recording sync.Mutex
	group, fetching := errgroup.WithContext(ctx)
	group.SetLimit(d.job.Parallel)
	for _, n := range d.journal.missingRanges() {
		if fetching.Err() != nil {
			break
		}
		group.Go(func() error {
			tag := ""
			if d.tags != nil {
				tag = d.tags[n]
			}
			a, err := d.fetchRange(fetching, n, tag)
			if err != nil {
				return err
			}
			recording.Lock()
			defer recording.Unlock()
			if err := d.journal.addRange(a); err != nil {
				return err
			}
			p.Done++
			p.Hashes += uint64(len(a.keys))
			p.Bytes += a.bytes
			if d.job.Progress != nil {
				d.job.Progress(p)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// publishCorpus builds the corpus from the journal and, for ranges that did not change, from the corpus in force.
func (d *downloader) publishCorpus(ctx context.Context) (Corpus, error) {
	r, err := d.lib.beginReplacement(d.job.Algorithm, d.job.Base)
	if err != nil {
		return Corpus{}, err
	}
	defer r.abandonFiles()
	var old *openCorpus
	if d.tags != nil {
		if r.manifest.Corpora[d.job.Algorithm.String()].Digest != d.before.Digest {
			return Corpus{}, errors.Join(ErrBusy.With("", fault.CorpusReplaced), d.journal.removeJournal())
		}
		if old, err = d.lib.openCorpus(d.before); err != nil {
			return Corpus{}, err
		}
		defer old.closeFiles()
	}
	tags := &tagTable{Base: d.job.Base}
	var keys, widely []uint64
	for n := range uint32(d.job.ranges) {
		if keys, widely, err = d.keysOfRange(n, old, keys[:0], widely[:0]); err != nil {
			return Corpus{}, err
		}
		if err := r.addHashKeys(keys, widely); err != nil {
			return Corpus{}, err
		}
		tags.Tags = append(tags.Tags, d.journal.done[n].tag)
	}
	r.tags = tags
	// A service takes hashes back now and then: what it had before is no other, larger corpus.
	isUpdate := r.manifest.Corpora[d.job.Algorithm.String()].Source == d.job.Base
	r.mayShrink = d.job.Force || isUpdate
	c, err := r.publishReplacement(ctx)
	if err != nil {
		return Corpus{}, err
	}
	return c, d.journal.removeJournal()
}

func (d *downloader) keysOfRange(n uint32, old *openCorpus, keys, widely []uint64) (_, _ []uint64, err error) {
	if !d.journal.done[n].unchanged {
		return d.journal.keysOfRange(n, keys, widely)
	}
	if old == nil {
		return keys, widely, ErrRangeServer.With("", fault.RangeUnknown, n)
	}
	first := uint64(n) << 20
	if keys, err = collectRange(keys, old.all, first); err != nil {
		return keys, widely, err
	}
	widely, err = collectRange(widely, old.wide, first)
	return keys, widely, err
}

// collectRange appends the keys of a range of a corpus.
func collectRange(dst []uint64, r *segment.Reader, first uint64) ([]uint64, error) {
	for k, err := range r.KeysInRange(first, first|0xfffff) {
		if err != nil {
			return dst, err
		}
		dst = append(dst, k)
	}
	return dst, nil
}
