package cyber

import (
	"errors"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestTakingKey: who may take another key from a pool that all partners share.
//
//vigia:shows a partner gets its share of a pool and what is reserved for it, and never what is reserved for others
//vigia:broken reservations of others not counted; half of a pool also for the only partner; a sandbox counted as live
func TestTakingKey(t *testing.T) {
	t.Parallel()
	live, sandbox := partner.Live, partner.Sandbox
	for name, c := range map[string]struct {
		t    Taking
		free int64
		want error
	}{
		"the only partner takes the last":     {Taking{Share: Share{Used: 99}, Mode: live, ByAll: 99}, 1, nil},
		"the pool is empty":                   {Taking{Share: Share{Used: 99}, Mode: live, ByAll: 99}, 0, ErrPoolEmpty},
		"half of all that there is":           {Taking{Share: Share{Used: 50}, Mode: live, ByAll: 60, Several: true}, 42, nil},
		"more than half":                      {Taking{Share: Share{Used: 50}, Mode: live, ByAll: 60, Several: true}, 40, ErrShareUsed},
		"a few are everybody's":               {Taking{Share: Share{Used: 9}, Mode: live, ByAll: 9, Several: true}, 1, nil},
		"a few are a sandbox's":               {Taking{Share: Share{Used: 9}, Mode: sandbox, ByAll: 9}, 1000, nil},
		"and no more":                         {Taking{Share: Share{Used: 10}, Mode: sandbox, ByAll: 10}, 1000, ErrShareUsed},
		"up to the quota":                     {Taking{Share: Share{Used: 19, Quota: 20}, Mode: live, ByAll: 19, Several: true}, 1, nil},
		"beyond the quota":                    {Taking{Share: Share{Used: 20, Quota: 20}, Mode: live, ByAll: 20}, 1000, ErrShareUsed},
		"what is left is reserved for others": {Taking{Share: Share{Used: 5}, Mode: live, ByAll: 5, Owed: 8, Several: true}, 8, ErrPoolEmpty},
		"one more is left than that":          {Taking{Share: Share{Used: 5}, Mode: live, ByAll: 5, Owed: 8, Several: true}, 9, nil},
		"what is left is its own":             {Taking{Share: Share{Used: 5, Reserved: 6}, Mode: live, ByAll: 5, Owed: 8, Several: true}, 8, nil},
		"its reservation is used":             {Taking{Share: Share{Used: 6, Reserved: 6}, Mode: live, ByAll: 6, Owed: 8, Several: true}, 8, ErrPoolEmpty},
		"reserved beyond the quota":           {Taking{Share: Share{Used: 25, Quota: 20, Reserved: 30}, Mode: live, ByAll: 25, Several: true}, 1, nil},
	} {
		if err := c.t.Key(c.free); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		// However many more are free, the answer is that of as many as are counted.
		if counted := c.t.Counted(); c.free >= counted {
			if err := c.t.Key(counted); !errors.Is(err, c.want) {
				t.Errorf("%s: counted up to %d: %v, want %v", name, counted, err, c.want)
			}
		}
	}
}

// TestTakingAppointment: a partner holds its share of the coming appointments and no more.
func TestTakingAppointment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		t           Taking
		held, inAll int64
		ok          bool
	}{
		"the only partner":    {Taking{Mode: partner.Live}, 39, 40, true},
		"half of them":        {Taking{Mode: partner.Live, Several: true}, 19, 40, true},
		"more than half":      {Taking{Mode: partner.Live, Several: true}, 20, 40, false},
		"within the quota":    {Taking{Share: Share{Quota: 30}, Mode: partner.Live, Several: true}, 29, 40, true},
		"beyond the quota":    {Taking{Share: Share{Quota: 30}, Mode: partner.Live, Several: true}, 30, 40, false},
		"a sandbox, as a few": {Taking{Mode: partner.Sandbox}, 10, 40, false},
	} {
		if err := c.t.Appointment(c.held, c.inAll); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrShareUsed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
