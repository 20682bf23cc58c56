package feed

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // ranges are of SHA-1: six characters of it hide an address among many
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
)

// hashedEmail is a watched address by its hash.
type hashedEmail struct {
	hash    [sha1.Size]byte
	partner partner.ID
	asset   cyber.AssetID
}

// rangeCell returns the part of all hashes that this one lies in.
func (h *hashedEmail) rangeCell() int64 { return int64(h.hash[0])<<4 | int64(h.hash[1])>>4 }

// hashPrefix returns the beginning of the hash that the service is asked for.
func (h *hashedEmail) hashPrefix() [prefixBytes]byte { return [prefixBytes]byte(h.hash[:]) }

// readEmails returns the watched addresses of as many cells, from the given one on, as may be held in memory, in the
// order of their hashes, and the cell behind the last of these.
func (s *hibpSweep) readEmails(ctx context.Context, from int64) (emails []hashedEmail, end int64, err error) {
	var of partner.ID
	var after cyber.AssetID
	end = cells
	for {
		assets, err := s.fs.Store.WatchedEmails(ctx, of, after, walkBatch)
		if err != nil {
			return nil, 0, err
		}
		if len(assets) == 0 {
			break
		}
		for _, a := range assets {
			of, after = a.Partner, a.ID
			address := strings.ToLower(strings.TrimSpace(a.Value))
			hash := sha1.Sum([]byte(address)) //nolint:gosec // see the import
			h := hashedEmail{hash: hash, partner: a.Partner, asset: a.ID}
			if h.rangeCell() >= from && h.rangeCell() < end {
				emails = append(emails, h)
			}
		}
		for len(emails) > sliceMost && end > from+1 {
			end = from + (end-from)/2
			emails = slices.DeleteFunc(emails, func(h hashedEmail) bool { return h.rangeCell() >= end })
		}
	}
	slices.SortFunc(emails, func(a, b hashedEmail) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	return emails, end, nil
}

// askSharedRange asks about addresses that are sorted by their hashes: those that share a range share a call.
func (s *hibpSweep) askSharedRange(ctx context.Context, emails []hashedEmail) error {
	var mu sync.Mutex
	hits := map[partner.ID][]leak.Hit{}
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(s.atOnce)
	for len(emails) > 0 {
		n := 1
		for n < len(emails) && emails[n].hashPrefix() == emails[0].hashPrefix() {
			n++
		}
		alike := emails[:n]
		emails = emails[n:]
		group.Go(func() error {
			return s.askRange(asking, alike, func(h hashedEmail, breach string) {
				mu.Lock()
				defer mu.Unlock()
				hits[h.partner] = append(hits[h.partner], leak.Hit{Asset: h.asset, Seen: cyber.Seen{Breach: breach}})
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for of, found := range hits {
		if err := s.keepHits(ctx, of, found); err != nil {
			return err
		}
	}
	return nil
}

// askRange asks about the range that hashes have in common. What it answers of anybody else is forgotten at once: most
// answers have none that is wanted and are looked through without being taken apart. What is no list of hashes is not
// taken for one without ours.
func (s *hibpSweep) askRange(ctx context.Context, alike []hashedEmail, see func(h hashedEmail, breach string)) error {
	var text json.RawMessage
	prefix := alike[0].hashPrefix()
	found, err := s.fetchJSON(
		ctx,
		"/breachedaccount/range/"+strings.ToUpper(hex.EncodeToString(prefix[:])),
		&text,
		maxHIBPAnswer,
	)
	if err != nil || !found {
		return err
	}
	if text = bytes.TrimSpace(text); text[0] != '[' ||
		len(bytes.TrimSpace(text[1:len(text)-1])) > 0 && !bytes.Contains(text, []byte(`"hashSuffix"`)) {
		return errAnswer
	}
	for _, h := range alike {
		rest := hex.EncodeToString(h.hash[prefixBytes:])
		if !bytes.Contains(text, []byte(rest)) && !bytes.Contains(text, []byte(strings.ToUpper(rest))) {
			continue
		}
		var answer []hibpSuffix
		if err := json.Unmarshal(text, &answer); err != nil {
			return errAnswer
		}
		for _, one := range answer {
			if strings.EqualFold(one.HashSuffix, rest) {
				for _, breach := range one.Websites {
					see(h, breach)
				}
			}
		}
	}
	return nil
}

// keepHits keeps what was told of values of a partner. Breaches of which nothing is known are left out.
func (s *hibpSweep) keepHits(ctx context.Context, of partner.ID, hits []leak.Hit) error {
	known := hits[:0]
	for _, h := range hits {
		b, ok := s.known[h.Breach]
		if !ok {
			continue
		}
		h.Breach = b.Name
		if err := s.keepBreach(ctx, b); err != nil {
			return err
		}
		known = append(known, h)
	}
	for len(known) > 0 {
		n := min(settleMost, len(known))
		for n < len(known) && known[n].Asset == known[n-1].Asset { // a person is told of all of them at once
			n++
		}
		if _, err := s.fs.Breaches.TellHits(ctx, of, known[:n]); err != nil {
			return err
		}
		known = known[n:]
	}
	return nil
}
