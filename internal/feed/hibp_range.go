package feed

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // ranges are of SHA-1: six characters of it hide an address among many, they do not prove one
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

const (
	prefixBytes = 3 // six characters in hexadecimal
	prefixes    = 1 << (8 * prefixBytes)
	// sliceMost is how many addresses are held in memory at once, some 15 MB.
	sliceMost = 1 << 17
	// domainsAtOnce is how many domains' addresses are held in memory for one walk over the watched ones.
	domainsAtOnce = 50
)

// hashed is a watched address by its hash.
type hashed struct {
	hash    [sha1.Size]byte
	partner partner.ID
	asset   cyber.AssetID
}

// prefix is where the range of the hash stands among all.
func (h *hashed) prefix() int64 {
	return int64(h.hash[0])<<16 | int64(h.hash[1])<<8 | int64(h.hash[2])
}

// askRanges asks by the first characters of hashes, in their order: addresses that share a range share a call, whoever
// watches them. The hashes are cut into cells, each of about as many addresses as are asked about between two places
// from which the walk goes on; a part of all cells is held in memory at a time.
func (s *hibpSweep) askRanges(ctx context.Context) error {
	st := &s.f.State
	if st.Cells == 0 {
		err := s.walk(ctx, func(_ cyber.Asset, address string) {
			if !s.proven(address) {
				st.Watched++
			}
		})
		if err != nil || st.Watched == 0 {
			return err
		}
		st.Cells = min((st.Watched+int64(s.batch)-1)/int64(s.batch), prefixes)
	}
	step := max(1, sliceMost*st.Cells/max(1, st.Watched))
	for st.Cell < st.Cells {
		end := min(st.Cell+step, st.Cells)
		some, err := s.between(ctx, st.Cell, end)
		if err != nil {
			return err
		}
		for st.Cell < end {
			n := 0
			for n < len(some) && s.cell(&some[n]) == st.Cell {
				n++
			}
			if err := s.askCell(ctx, some[:n]); err != nil {
				return err
			}
			some = some[n:]
			st.Cell, st.Items = st.Cell+1, st.Items+int64(n)
			if err := s.save(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *hibpSweep) cell(h *hashed) int64 { return h.prefix() * s.f.State.Cells / prefixes }

// between returns the watched addresses of some cells by their hashes.
func (s *hibpSweep) between(ctx context.Context, from, to int64) (some []hashed, err error) {
	err = s.walk(ctx, func(a cyber.Asset, address string) {
		if s.proven(address) {
			return
		}
		h := hashed{hash: sha1.Sum([]byte(address)), partner: a.Partner, asset: a.ID} //nolint:gosec // see the import
		if cell := s.cell(&h); cell >= from && cell < to {
			some = append(some, h)
		}
	})
	slices.SortFunc(some, func(a, b hashed) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	return some, err
}

// askCell asks about addresses that are sorted by their hashes.
func (s *hibpSweep) askCell(ctx context.Context, some []hashed) error {
	var seen sightings
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(s.atOnce)
	for len(some) > 0 {
		n := 1
		for n < len(some) && some[n].prefix() == some[0].prefix() {
			n++
		}
		alike := some[:n]
		some = some[n:]
		group.Go(func() error { return s.askRange(asking, alike, &seen) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.settle(ctx, &seen)
}

// askRange asks about the range that hashes have in common. What it answers of anybody else is forgotten at once.
func (s *hibpSweep) askRange(ctx context.Context, alike []hashed, seen *sightings) error {
	wanted := map[string][]hashed{}
	for _, h := range alike {
		rest := strings.ToUpper(hex.EncodeToString(h.hash[prefixBytes:]))
		wanted[rest] = append(wanted[rest], h)
	}
	var text json.RawMessage
	prefix := strings.ToUpper(hex.EncodeToString(alike[0].hash[:prefixBytes]))
	found, err := s.get(ctx, "/breachedaccount/range/"+prefix, &text, maxHIBPAnswer)
	if err != nil || !found {
		return err
	}
	answer, err := readRange(text, wanted)
	if err != nil {
		return err
	}
	for _, one := range answer {
		for _, h := range wanted[strings.ToUpper(one.HashSuffix)] {
			seen.see(h.partner, h.asset, one.Websites)
		}
	}
	return nil
}

// readRange reads the hashes of a range. Most have none that is wanted, and hundreds of others: those are looked through
// without being taken apart. What is no list of hashes is not taken for one without ours.
func readRange(text json.RawMessage, wanted map[string][]hashed) (answer []hibpSuffix, err error) {
	text = bytes.TrimSpace(text)
	if text[0] != '[' || len(bytes.TrimSpace(text[1:len(text)-1])) > 0 && !bytes.Contains(text, []byte(`"hashSuffix"`)) {
		return nil, errAnswer
	}
	for rest := range wanted {
		if bytes.Contains(text, []byte(rest)) || bytes.Contains(text, []byte(strings.ToLower(rest))) {
			if err := json.Unmarshal(text, &answer); err != nil {
				return nil, errAnswer
			}
			return answer, nil
		}
	}
	return nil, nil
}

// askDomains asks about the domains that the key has proven, a call for each.
func (s *hibpSweep) askDomains(ctx context.Context) error {
	for some := range slices.Chunk(s.domains, domainsAtOnce) {
		breached := map[string][]string{}
		for _, domain := range some {
			var aliases map[string][]string
			if _, err := s.get(ctx, "/breacheddomain/"+url.PathEscape(domain), &aliases, maxDomainAnswer); err != nil {
				return err
			}
			for alias, names := range aliases {
				breached[lowered(alias)+"@"+domain] = names
			}
		}
		var seen sightings
		err := s.walk(ctx, func(a cyber.Asset, address string) {
			if !slices.Contains(some, address[strings.LastIndexByte(address, '@')+1:]) {
				return
			}
			s.f.State.Items++
			if names := breached[address]; len(names) > 0 {
				seen.see(a.Partner, a.ID, names)
			}
		})
		if err != nil {
			return err
		}
		if err := s.settle(ctx, &seen); err != nil {
			return err
		}
	}
	return nil
}
