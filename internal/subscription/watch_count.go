package subscription

import (
	"fmt"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/plan"
)

// WatchCount is how many values subscriptions have watched. A value that two of them name counts twice.
type WatchCount struct{ Email, CPF, Phone int }

// addCount adds other values.
func (c *WatchCount) addCount(more WatchCount) {
	c.Email += more.Email
	c.CPF += more.CPF
	c.Phone += more.Phone
}

// countWatch counts the values of one subscription.
func countWatch(w plan.Watch) (c WatchCount) {
	if w.HasKind(identifier.Email) {
		c.Email = 1
	}
	if w.HasKind(identifier.CPF) {
		c.CPF = 1
	}
	if w.HasKind(identifier.Phone) {
		c.Phone = 1
	}
	return c
}

// String writes the counts as `email=2, cpf=2`, in a fixed order; empty where nothing is watched.
func (c WatchCount) String() string {
	var parts []string
	add := func(k identifier.Kind, n int) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", k, n))
		}
	}
	add(identifier.Email, c.Email)
	add(identifier.CPF, c.CPF)
	add(identifier.Phone, c.Phone)
	return strings.Join(parts, ", ")
}
