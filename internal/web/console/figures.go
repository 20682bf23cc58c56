package console

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// A figure of a page and the list that its link leads to ask the store with the same filter, so that the number is that
// of the rows. The rules are the same on every page:
//   - a finding that was retracted is counted as retracted and as nothing else;
//   - what a sandbox made up is in no figure and no list of all partners;
//   - an alert is a finding that the partner was told of, because it was not known before;
//   - days are those of Brasília.

// findingFigures are the findings of the last days that stand, parted by all that a page tells apart.
type findingFigures struct {
	// From is the first of the days, and Days how many they are, today included.
	From   time.Time
	Days   int
	Groups []cyber.FindingGroup
	// Before are those of as many days before.
	Before []cyber.FindingGroup
}

// gatherFindingFigures counts the findings of live partners over the last days. It counts rows, not what was counted on
// each day: a leak that is retracted later leaves every one of them.
func (c *Console) gatherFindingFigures(ctx context.Context, days int) (findingFigures, error) {
	f := findingFigures{From: firstOfDays(c.Now(), days), Days: days}
	groups, err := c.Rules.Review.GroupFindings(ctx, cyber.FindingFilter{
		LiveOnly: true,
		State:    cyber.FindingStanding,
		From:     firstOfDays(c.Now(), 2*days),
	}, 0)
	for _, g := range groups {
		if g.Day < partner.DayNumber(f.From) {
			f.Before = append(f.Before, g)
		} else {
			f.Groups = append(f.Groups, g)
		}
	}
	return f, err
}

// firstOfDays returns the beginning of the first of so many days, the last of which is today in Brasília.
func firstOfDays(now time.Time, days int) time.Time {
	y, m, d := now.In(brazil).Date()
	return time.Date(y, m, d+1-days, 0, 0, 0, 0, brazil)
}

// Total counts all of them.
func (f findingFigures) Total() int64 {
	return cyber.CountFindings(f.Groups, func(cyber.FindingGroup) bool { return true })
}

// Path returns the list of them, narrowed by further words: severity, high.
func (f findingFigures) Path(words ...string) string {
	return findingsPath(append([]string{"from", f.From.Format(time.DateOnly)}, words...)...)
}

// PathBefore returns the list of those of as many days before.
func (f findingFigures) PathBefore(words ...string) string {
	first := f.From.AddDate(0, 0, -f.Days).Format(time.DateOnly)
	last := f.From.AddDate(0, 0, -1).Format(time.DateOnly)
	return findingsPath(append([]string{"from", first, "to", last}, words...)...)
}

// byDay lays the findings that fits picks out over the days.
func (f findingFigures) byDay(now time.Time, fits func(cyber.FindingGroup) bool) []operator.DayCount {
	var counts []operator.DayCount
	for _, g := range f.Groups {
		if !fits(g) {
			continue
		}
		day := time.Unix(g.Day*86400, 0).UTC()
		if n := len(counts); n > 0 && counts[n-1].Day.Equal(day) {
			counts[n-1].Count += g.Count
		} else {
			counts = append(counts, operator.DayCount{Day: day, Count: g.Count})
		}
	}
	return operator.FillLastDays(counts, now, f.Days)
}

// findingsPath returns the list of the findings that stand, of all live partners, narrowed by names and words.
func findingsPath(words ...string) string {
	q := url.Values{"state": {allFindings}}
	for i := 0; i+1 < len(words); i += 2 {
		q.Set(words[i], words[i+1])
	}
	return "/findings?" + q.Encode()
}

// countLimit is up to how many rows a list is counted: behind that a page says that there are more.
const countLimit = 10_000

// countListed counts the findings under a filter, and returns them in groups; -1 and none when they are more than are
// counted.
func (c *Console) countListed(ctx context.Context, f filter) (int64, []cyber.FindingGroup, error) {
	asked := f.findingFilter(0)
	every := asked // the limit is on all that are looked at, of whatever severity and class
	every.Severities, every.Classes = nil, nil
	groups, err := c.Rules.Review.GroupFindings(ctx, every, countLimit+1)
	if err != nil {
		return 0, nil, err
	}
	if cyber.CountFindings(groups, func(cyber.FindingGroup) bool { return true }) > countLimit {
		return -1, nil, nil
	}
	groups = slices.DeleteFunc(groups, func(g cyber.FindingGroup) bool { return !g.Fits(asked) })
	return cyber.CountFindings(groups, func(cyber.FindingGroup) bool { return true }), groups, nil
}
