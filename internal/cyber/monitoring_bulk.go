package cyber

import (
	"context"
	"errors"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/partner"
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

// AddAssets adds values one by one, each by the rules of a single one; one that is refused stops nothing. First looks
// begin after the request, so that a list of values does not hold the partner's tokens locked. It returns how many are
// watched now.
func (m *Monitoring) AddAssets(ctx context.Context, who Owner, items []BulkItem) (taken int, refused []BulkRefusal, err error) {
	for i, item := range items {
		err := m.addBulkItem(ctx, who, item)
		var why *fault.Error
		switch {
		case err == nil:
			taken++
		case !errors.As(err, &why) || isServiceFault(why.Kind):
			return taken, refused, err
		default:
			refused = append(refused, BulkRefusal{i, why})
		}
	}
	return taken, refused, nil
}

// isServiceFault tells faults of the service from those of an item.
func isServiceFault(k fault.Kind) bool {
	return k != fault.Invalid && k != fault.Conflict && k != fault.NotFound && k != fault.RateLimited
}

// addBulkItem adds one value of a bulk.
func (m *Monitoring) addBulkItem(ctx context.Context, who Owner, item BulkItem) error {
	user, err := partner.ParseUserHash("userHash", item.User)
	if err != nil {
		return err
	}
	a, err := m.checkNewAsset(ctx, AssetRequest{Owner: who, User: user, Type: item.Kind, Value: item.Value})
	if err != nil {
		return err
	}
	_, err = m.store.InsertAsset(ctx, who.Partner, a, MaxAssets)
	return err
}
