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

// WatchEach adds values one by one, each by the rules and out of the budgets of a single one; one that is refused stops
// nothing. Once the partner's hour or day is used up the rest is refused without being looked at: what is not asked
// tells nothing. It returns how many are watched now, and the last allowance that was told.
func (m *Monitoring) WatchEach(ctx context.Context, who Owner, items []BulkItem) (taken int, refused []BulkRefusal, left Allowance, err error) {
	var spent *fault.Error
	for i, item := range items {
		if spent != nil {
			refused = append(refused, BulkRefusal{i, spent})
			continue
		}
		kept, err := m.watchItem(ctx, who, item)
		if kept.Left != (Allowance{}) {
			left = kept.Left
		}
		var why *fault.Error
		switch {
		case err == nil:
			taken++
			continue
		case !errors.As(err, &why) || ownFault(why.Kind):
			return taken, refused, left, err
		case errors.Is(err, ErrAssetPace):
			spent = why
		}
		refused = append(refused, BulkRefusal{i, why})
	}
	return taken, refused, left, nil
}

// ownFault tells faults of the service from those of an item.
func ownFault(k fault.Kind) bool {
	return k != fault.Invalid && k != fault.Conflict && k != fault.NotFound && k != fault.RateLimited
}

func (m *Monitoring) watchItem(ctx context.Context, who Owner, item BulkItem) (Kept, error) {
	user, err := partner.ParseUserHash("userHash", item.User)
	if err != nil {
		return Kept{}, err
	}
	return m.WatchOf(ctx, who, user, ContractAdds, item.Kind, item.Value)
}
