package subscription

import "github.com/vigiahq/vigia/internal/identifier"

// CheckItem holds a draft against the rules, for tests that read drafts: their reader stands on a higher floor.
func CheckItem(d *Draft, digits identifier.CheckDigits, today Day) (Subscription, []Problem) {
	c := checker{digits: digits, today: today}
	s := c.checkItem(d)
	return s, c.problems
}
