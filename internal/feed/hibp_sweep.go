package feed

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
)

const (
	leastBatch = 100 // questions between two places from which a walk goes on: a minute's, within bounds
	mostBatch  = 20_000
	mostAtOnce = 64 // calls under way: 12,000 a minute with answers that take a third of a second
	walkBatch  = 1000
	settleMost = 200 // values of a partner that are settled in one transaction
)

// hibpSweep asks the account API about all watched e-mail addresses once. It goes on where an earlier run stopped.
type hibpSweep struct {
	fs     *Feeds
	f      *Feed
	pace   *pacer
	atOnce int
	batch  int
	// domains are those that the holder of the key has proven to own; byDomain says that those are asked about.
	domains  []string
	byDomain bool
	// rest is how all other addresses are asked about; empty: they are not.
	rest By

	mu sync.Mutex
	// known are breaches by the service's name for them; kept are those of ours that are in the store.
	known map[string]cyber.Breach
	kept  map[string]bool
}

// runHIBP asks about every watched address, at the rate that the key allows, and begins again when it is through.
func (fs *Feeds) runHIBP(ctx context.Context, f *Feed) error {
	s := &hibpSweep{fs: fs, f: f, known: map[string]cyber.Breach{}, kept: map[string]bool{}}
	s.setPace(f.Settings.PerMinute)
	if err := s.plan(ctx); err != nil {
		return err
	}
	if s.byDomain && !f.State.DomainsDone {
		if err := s.askDomains(ctx); err != nil {
			return fmt.Errorf("by domain: %w", err)
		}
		f.State.DomainsDone = true
		if err := s.save(ctx); err != nil {
			return err
		}
	}
	var err error
	switch s.rest {
	case ByRange:
		err = s.askRanges(ctx)
	case ByAddress:
		err = s.askAddresses(ctx)
	case ByAuto, ByDomain:
	}
	if err != nil {
		return fmt.Errorf("by %s: %w", s.rest, err)
	}
	f.State.After, f.State.AfterPartner = "", ""
	f.State.Cells, f.State.Cell, f.State.Watched, f.State.DomainsDone = 0, 0, 0, false
	return nil
}

// setPace keeps to a rate; zero is the smallest there is.
func (s *hibpSweep) setPace(perMinute int) {
	if perMinute <= 0 {
		perMinute = hibpPerMinute
	}
	s.pace, s.batch = newPacer(perMinute), min(max(leastBatch, perMinute), mostBatch)
	s.atOnce = min(max(1, perMinute/100), mostAtOnce)
}

// plan decides how to ask, by the feed's settings and by what the key allows.
func (s *hibpSweep) plan(ctx context.Context) error {
	by := s.f.Settings.By
	if by == ByAddress {
		s.rest = ByAddress
		return nil
	}
	var plan hibpPlan
	if _, err := s.get(ctx, "/subscription/status", &plan, maxHIBPAnswer); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if s.f.Settings.PerMinute == 0 {
		s.setPace(plan.Rpm)
	}
	var all []hibpBreach
	if _, err := s.get(ctx, "/breaches", &all, maxDomainAnswer); err != nil {
		return fmt.Errorf("breaches: %w", err)
	}
	for _, h := range all {
		s.learn(h)
	}
	switch by {
	case ByRange:
		if !plan.IncludesKAnon {
			return ErrInvalid.With("by: the plan of this key does not include searches by range")
		}
		s.rest = ByRange
		return nil
	case ByDomain:
	case "", ByAuto, ByAddress:
		if s.rest = ByAddress; plan.IncludesKAnon {
			s.rest = ByRange
		}
	}
	return s.provenDomains(ctx)
}

func (s *hibpSweep) provenDomains(ctx context.Context) error {
	var proven []hibpDomain
	if _, err := s.get(ctx, "/subscribeddomains", &proven, maxHIBPAnswer); err != nil {
		return fmt.Errorf("domains: %w", err)
	}
	for _, d := range proven {
		s.domains = append(s.domains, strings.ToLower(d.DomainName))
	}
	slices.Sort(s.domains)
	s.byDomain = true
	return nil
}

// proven says whether an address is of a domain that is asked about as a whole.
func (s *hibpSweep) proven(address string) bool {
	_, is := slices.BinarySearch(s.domains, address[strings.LastIndexByte(address, '@')+1:])
	return is && s.byDomain
}

// learn takes what the service tells of a breach.
func (s *hibpSweep) learn(h hibpBreach) {
	b, ok := h.breach(s.fs.Now())
	if !ok || h.IsSensitive {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[h.Name] = b
}

// save keeps how far the walk has come.
func (s *hibpSweep) save(ctx context.Context) error {
	_, err := s.fs.Store.UpdateFeed(ctx, s.f.Name, func(kept *Feed) error { kept.State = s.f.State; return nil })
	return err
}

// walk calls fn with every watched address, in lower case.
func (s *hibpSweep) walk(ctx context.Context, fn func(a cyber.Asset, address string)) error {
	var of partner.ID
	var after cyber.AssetID
	for {
		assets, err := s.fs.Store.WatchedEmails(ctx, of, after, walkBatch)
		if err != nil || len(assets) == 0 {
			return err
		}
		for _, a := range assets {
			fn(a, lowered(a.Value))
			of, after = a.Partner, a.ID
		}
	}
}

// lowered is an address as the service knows it.
func lowered(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// sightings are what was told of values, until they are settled.
type sightings struct {
	mu   sync.Mutex
	hits map[partner.ID][]leak.Hit
}

// see takes breaches of a value by the service's names.
func (s *sightings) see(of partner.ID, asset cyber.AssetID, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hits == nil {
		s.hits = map[partner.ID][]leak.Hit{}
	}
	for _, name := range names {
		s.hits[of] = append(s.hits[of], leak.Hit{Asset: asset, Seen: cyber.Seen{Breach: name}})
	}
}

// settle keeps what was told. Breaches of which nothing is known are left out.
func (s *hibpSweep) settle(ctx context.Context, seen *sightings) error {
	for of, hits := range seen.hits {
		known := hits[:0]
		for _, h := range hits {
			ours, err := s.keep(ctx, h.Breach)
			if err != nil {
				return err
			}
			if h.Breach = ours; ours != "" {
				known = append(known, h)
			}
		}
		for len(known) > 0 {
			n := min(settleMost, len(known))
			for n < len(known) && known[n].Asset == known[n-1].Asset { // a person is told of all of them at once
				n++
			}
			if err := s.fs.Breaches.SettleAssets(ctx, of, known[:n]); err != nil {
				return err
			}
			known = known[n:]
		}
	}
	return nil
}

// keep sees to it that a breach is in the store, and returns our name for it; empty when nothing is known of it.
func (s *hibpSweep) keep(ctx context.Context, name string) (string, error) {
	b, ok := s.known[name]
	if !ok || s.kept[b.Name] {
		return b.Name, nil
	}
	b.AddedAt = s.fs.Now()
	err := s.fs.Breaches.InsertBreach(ctx, leak.Record{Breach: b, State: leak.Published, PublishedAt: b.AddedAt})
	if err != nil && !errors.Is(err, leak.ErrBreachExists) {
		return "", err
	}
	s.kept[b.Name] = true
	return b.Name, nil
}

// askAddresses asks about one address after the other, several at once where the rate allows that.
func (s *hibpSweep) askAddresses(ctx context.Context) error {
	for {
		assets, err := s.fs.Store.WatchedEmails(ctx, s.f.State.AfterPartner, s.f.State.After, s.batch)
		if err != nil || len(assets) == 0 {
			return err
		}
		if err := s.askBatch(ctx, assets); err != nil {
			return err
		}
		last := assets[len(assets)-1]
		s.f.State.AfterPartner, s.f.State.After = last.Partner, last.ID
		s.f.State.Items += int64(len(assets))
		if err := s.save(ctx); err != nil {
			return err
		}
	}
}

func (s *hibpSweep) askBatch(ctx context.Context, assets []cyber.Asset) error {
	watchers := map[string][]cyber.Asset{} // the same address may be watched by several
	for _, a := range assets {
		if address := lowered(a.Value); !s.proven(address) {
			watchers[address] = append(watchers[address], a)
		}
	}
	var seen sightings
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(s.atOnce)
	for address, of := range watchers {
		group.Go(func() error {
			var breaches []hibpBreach
			if _, err := s.get(asking, "/breachedaccount/"+url.PathEscape(address)+"?truncateResponse=false", &breaches, maxHIBPAnswer); err != nil {
				return err
			}
			names := make([]string, len(breaches))
			for i, h := range breaches {
				s.learn(h)
				names[i] = h.Name
			}
			for _, a := range of {
				seen.see(a.Partner, a.ID, names)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.settle(ctx, &seen)
}
