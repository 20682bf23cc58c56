package subscription

import "testing"

// TestEditExpiry: the last day of a subscription may be moved to today, not to a day that is over or before the first.
func TestEditExpiry(t *testing.T) {
	const today = Day(20_000)
	for text, wrong := range map[string]bool{
		today.String():       false,
		(today + 1).String(): false,
		(today - 1).String(): true,
		(today - 9).String(): true, // before the start
		"":                   false,
	} {
		s := Subscription{Start: today - 5}
		problems := Edit{Expiry: &text}.applyToSubscription(&s, today)
		if (len(problems) > 0) != wrong {
			t.Errorf("%q on %s: %+v", text, today, problems)
		}
	}
}
