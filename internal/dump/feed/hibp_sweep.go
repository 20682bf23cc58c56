package feed

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
)

const (
	mostAtOnce = 64 // calls under way: 12,000 a minute with answers that take a third of a second
	walkBatch  = 1000
	settleMost = 200 // values of a partner that are settled in one transaction
	// prefixBytes of a hash are told to the service: six characters in hexadecimal.
	prefixBytes = 3
	// cells are equal parts of all hashes. A sweep that broke off goes on with the cell it was in.
	cells = 1 << 12
	// sliceMost is how many addresses are held in memory at once, some 15 MB.
	sliceMost = 1 << 17
)

// hibpSweep asks the account API about all watched e-mail addresses once, by the first characters of their hashes: some
// 400 other addresses share them, so the service does not learn which one is watched. It goes on where an earlier run
// stopped.
type hibpSweep struct {
	fs     *Feeds
	f      *Feed
	pace   *pacer
	atOnce int
	// known are breaches by the service's name for them; kept are those of ours that are in the store.
	known map[string]cyber.Breach
	kept  map[string]bool
}

// newHIBPSweep makes a sweep that keeps to the feed's rate.
func (fs *Feeds) newHIBPSweep(f *Feed) *hibpSweep {
	s := &hibpSweep{fs: fs, f: f, known: map[string]cyber.Breach{}, kept: map[string]bool{}}
	s.setCallRate(f.Settings.PerMinute)
	return s
}

// sweepHIBP asks about every watched address, at the rate that the key allows, and begins again when it is through.
func (fs *Feeds) sweepHIBP(ctx context.Context, f *Feed) error {
	s := fs.newHIBPSweep(f)
	if f.Secret == "" {
		return s.keepCatalogue(ctx)
	}
	if err := s.readPlan(ctx); err != nil {
		return err
	}
	for f.State.Cell < cells {
		emails, end, err := s.readEmails(ctx, f.State.Cell)
		if err != nil {
			return err
		}
		for len(emails) > 0 {
			f.State.Cell = emails[0].rangeCell()
			n := 1
			for n < len(emails) && emails[n].rangeCell() == f.State.Cell {
				n++
			}
			if err := s.askSharedRange(ctx, emails[:n]); err != nil {
				return err
			}
			emails = emails[n:]
			f.State.Cell, f.State.Items = f.State.Cell+1, f.State.Items+int64(n)
			if err := s.saveState(ctx); err != nil {
				return err
			}
		}
		f.State.Cell = end
	}
	f.State.Cell = 0
	return nil
}

// setCallRate keeps to a rate; zero is the smallest there is.
func (s *hibpSweep) setCallRate(perMinute int) {
	if perMinute <= 0 {
		perMinute = hibpPerMinute
	}
	s.pace, s.atOnce = newPacer(perMinute), min(max(1, perMinute/100), mostAtOnce)
}

// saveState keeps how far the sweep has come.
func (s *hibpSweep) saveState(ctx context.Context) error {
	_, err := s.fs.Store.UpdateFeed(ctx, s.f.Name, func(kept *Feed) error { kept.State = s.f.State; return nil })
	return err
}
