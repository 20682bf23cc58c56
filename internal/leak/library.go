package leak

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
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

var _ cyber.Corpora = (*Library)(nil)
