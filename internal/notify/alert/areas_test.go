package alert

import (
	"errors"
	"testing"
)

// TestAreasAllow: who may not read events of an area may not have them pushed either.
func TestAreasAllow(t *testing.T) {
	t.Parallel()
	cyber, subscriptions, nothing := Areas{Cyber: true}, Areas{Subscriptions: true}, Areas{}
	for _, c := range []struct {
		of    Areas
		types []string
		ok    bool
	}{
		{Everything, nil, true},
		{Everything, []string{"subscription.ended", "case.rated"}, true},
		{Everything, []string{"nothing"}, false},
		{cyber, nil, false},
		{cyber, []string{"monitoring.leak_detected", "webhook.test"}, true},
		{cyber, []string{"case.rated", "subscription.ended"}, false},
		{subscriptions, []string{"subscription.ended"}, true},
		{subscriptions, []string{"epp.key_expiring"}, false},
		{nothing, []string{"webhook.test"}, true},
		{nothing, []string{"subscription.ended"}, false},
		{nothing, nil, false},
	} {
		if err := c.of.CheckTypes(c.types); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrTypes) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
