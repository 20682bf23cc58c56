package cyber

import (
	"context"
	"errors"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// MaxBulk is the most values, or people, that one request names.
const MaxBulk = 1000

// BulkItem is a value to be watched, as it was sent.
type BulkItem struct{ User, Kind, Value string }

// BulkRefusal is an item that is not watched, and why.
type BulkRefusal struct {
	// Item is its place in the request, from 0.
	Item int
	Why  *fault.Error
}

// BulkResult is what became of a list of values.
type BulkResult struct {
	// Decided is how many items, from the first, are either watched or refused for good: all of them, unless the
	// service failed on the way. What comes after them is neither.
	Decided int
	Refused []BulkRefusal
	// Waiting is how many of the watched items wait for their first look.
	Waiting int
}

// Watched returns how many of the decided items are watched.
func (r BulkResult) Watched() int { return r.Decided - len(r.Refused) }

// assetsAtOnce is how many values of a list one transaction takes. Single writes wait for it on SQLite, whose one
// writer takes a tenth of a millisecond for a value.
const assetsAtOnce = 250

// AddAssets adds values, each by the rules of a single one; one that is refused stops nothing. They are stored in
// batches, each of them whole or not at all; when one fails the result says which are. First looks begin after the
// request, so that a list of values does not hold the partner's tokens locked.
func (m *Monitoring) AddAssets(ctx context.Context, who Owner, items []BulkItem) (BulkResult, error) {
	var result BulkResult
	list := *m
	list.salts = &saltOfList{inner: m.salts}
	for result.Decided < len(items) {
		rest := items[result.Decided:]
		batch := rest[:min(len(rest), assetsAtOnce)]
		refused, waiting, err := list.addBatch(ctx, who, batch)
		if err != nil {
			return result, err
		}
		for _, r := range refused {
			result.Refused = append(result.Refused, BulkRefusal{result.Decided + r.Item, r.Why})
		}
		result.Decided += len(batch)
		result.Waiting += waiting
	}
	return result, nil
}

// saltOfList opens the salt of a list's partner once, and not for each CPF.
type saltOfList struct {
	inner Salts
	salt  string
}

// OpenSalt returns the salt of the one partner that the list belongs to.
func (s *saltOfList) OpenSalt(ctx context.Context, id partner.ID) (string, error) {
	if s.salt == "" {
		salt, err := s.inner.OpenSalt(ctx, id)
		if err != nil {
			return "", err
		}
		s.salt = salt
	}
	return s.salt, nil
}

// addBatch adds some values in one transaction and returns those that are refused, and how many of the others wait.
func (m *Monitoring) addBatch(
	ctx context.Context, who Owner, items []BulkItem,
) (refused []BulkRefusal, waiting int, err error) {
	var list []NewAsset
	var places []int // of the values of the list among the items
	for i, item := range items {
		a, err := m.checkBulkItem(ctx, who, item)
		if err != nil {
			why, ok := itemFault(err)
			if !ok {
				return nil, 0, err
			}
			refused = append(refused, BulkRefusal{i, why})
			continue
		}
		list = append(list, a)
		places = append(places, i)
	}
	if len(list) == 0 {
		return refused, 0, nil
	}
	added, err := m.store.InsertAssets(ctx, who.Partner, list, MaxAssets)
	if err != nil {
		return nil, 0, err
	}
	for i, a := range added {
		if a.Waits {
			waiting++
		}
		if a.Refused == nil {
			continue
		}
		why, ok := itemFault(a.Refused)
		if !ok {
			return nil, 0, a.Refused
		}
		refused = append(refused, BulkRefusal{places[i], why})
	}
	slices.SortFunc(refused, func(a, b BulkRefusal) int { return a.Item - b.Item })
	return refused, waiting, nil
}

// itemFault tells faults of an item from those of the service, which are not reported of an item.
func itemFault(err error) (*fault.Error, bool) {
	var why *fault.Error
	if !errors.As(err, &why) {
		return nil, false
	}
	switch why.Kind {
	case fault.Invalid, fault.Conflict, fault.NotFound, fault.RateLimited:
		return why, true
	default:
		return nil, false
	}
}

// checkBulkItem checks one value of a list.
func (m *Monitoring) checkBulkItem(ctx context.Context, who Owner, item BulkItem) (NewAsset, error) {
	user, err := partner.ParseUserHash("userHash", item.User)
	if err != nil {
		return NewAsset{}, err
	}
	return m.checkNewAsset(ctx, AssetRequest{Owner: who, User: user, Type: item.Kind, Value: item.Value})
}
