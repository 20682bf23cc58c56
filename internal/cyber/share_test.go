package cyber

import (
	"errors"
	"testing"
)

// TestTakingKey: who may take another key from a pool that all partners share.
func TestTakingKey(t *testing.T) {
	t.Parallel()
	other := func(used int64) []Share { return []Share{{Used: used}} }
	for name, c := range map[string]struct {
		t    Taking
		free int64
		want error
	}{
		"the only partner takes the last":     {Taking{Share: Share{Used: 99}, ByAll: 99}, 1, nil},
		"the pool is empty":                   {Taking{Share: Share{Used: 99}, ByAll: 99}, 0, ErrPoolEmpty},
		"half of all that there is":           {Taking{Share: Share{Used: 50}, ByAll: 60, Others: other(10)}, 42, nil},
		"more than half":                      {Taking{Share: Share{Used: 50}, ByAll: 60, Others: other(10)}, 40, ErrShareUsed},
		"a few, and the other has its floor":  {Taking{Share: Share{Used: 9}, ByAll: 19, Others: other(10)}, 1, nil},
		"the floor of another that took none": {Taking{Share: Share{Used: 40}, ByAll: 90, Others: []Share{{Used: 50}, {}}}, 10, ErrPoolEmpty},
		"one more than that floor":            {Taking{Share: Share{Used: 40}, ByAll: 89, Others: []Share{{Used: 49}, {}}}, 11, nil},
		"its own floor":                       {Taking{Share: Share{Used: 9}, ByAll: 90, Others: []Share{{Used: 81}, {}}}, 10, nil},
		"floors of a small pool":              {Taking{Share: Share{Used: 2}, ByAll: 2, Others: other(0)}, 2, nil},
		"and no more of it":                   {Taking{Share: Share{Used: 3}, ByAll: 3, Others: other(0)}, 1, ErrPoolEmpty},
		"a floor that a quota bounds":         {Taking{Share: Share{Used: 39}, ByAll: 41, Others: []Share{{Quota: 2, Used: 2}}}, 59, nil},
		"up to the quota":                     {Taking{Share: Share{Used: 19, Quota: 20}, ByAll: 30, Others: other(11)}, 1, nil},
		"beyond the quota":                    {Taking{Share: Share{Used: 20, Quota: 20}, ByAll: 20}, 1000, ErrShareUsed},
		"what is left is reserved for others": {Taking{Share: Share{Used: 5}, ByAll: 5, Others: []Share{{Reserved: 8}}}, 8, ErrPoolEmpty},
		"one more is left than that":          {Taking{Share: Share{Used: 5}, ByAll: 5, Others: []Share{{Reserved: 8}}}, 9, nil},
		"what is left is its own":             {Taking{Share: Share{Used: 5, Reserved: 6}, ByAll: 5, Others: []Share{{Reserved: 8}}}, 8, nil},
		"its reservation is used":             {Taking{Share: Share{Used: 6, Reserved: 6}, ByAll: 6, Others: []Share{{Reserved: 8}}}, 8, ErrPoolEmpty},
		"reserved beyond the quota":           {Taking{Share: Share{Used: 25, Quota: 20, Reserved: 30}, ByAll: 35, Others: other(10)}, 1, nil},
	} {
		if err := c.t.CheckKey(c.free); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		// However many more are free, the answer is that of as many as are counted.
		if counted := c.t.MostCounted(); c.free >= counted {
			if err := c.t.CheckKey(counted); !errors.Is(err, c.want) {
				t.Errorf("%s: counted up to %d: %v, want %v", name, counted, err, c.want)
			}
		}
	}
}

// TestTakingAppointment: a partner holds its share of the coming appointments and no more.
func TestTakingAppointment(t *testing.T) {
	t.Parallel()
	other := []Share{{}}
	for name, c := range map[string]struct {
		t           Taking
		held, inAll int64
		ok          bool
	}{
		"the only partner": {Taking{}, 39, 40, true},
		"half of them":     {Taking{Others: other}, 19, 40, true},
		"more than half":   {Taking{Others: other}, 20, 40, false},
		"within the quota": {Taking{Share: Share{Quota: 30}, Others: other}, 29, 40, true},
		"beyond the quota": {Taking{Share: Share{Quota: 30}, Others: other}, 30, 40, false},
	} {
		if err := c.t.Appointment(
			c.held,
			c.inAll,
		); (err == nil) != c.ok ||
			err != nil && !errors.Is(err, ErrShareUsed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
