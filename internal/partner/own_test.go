package partner

import (
	"context"
	"errors"
	"testing"
)

// keysOfAll is a store that has a key for every partner.
type keysOfAll struct{ Store }

func (keysOfAll) ListKeys(_ context.Context, id ID) ([]Key, error) {
	return []Key{{ID: "key_1", Partner: id}}, nil
}

// TestOwnPartnerKeys: the store that a partner's own people work with lists the keys of no other partner.
func TestOwnPartnerKeys(t *testing.T) {
	var own Store = ownPartner{Store: keysOfAll{}, id: "pt_1"}
	if keys, err := own.ListKeys(t.Context(), "pt_1"); err != nil || len(keys) != 1 {
		t.Errorf("own keys: %v, %v", keys, err)
	}
	for _, id := range []ID{"pt_2", ""} {
		if keys, err := own.ListKeys(t.Context(), id); !errors.Is(err, ErrNotFound) || keys != nil {
			t.Errorf("keys of %q: %v, %v", id, keys, err)
		}
	}
}
