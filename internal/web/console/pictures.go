package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
)

// pictures are those of a page, over one period.
type pictures struct {
	List    []picture
	Periods []listLink
}

// span is a number of days with its name.
type span struct {
	days  int
	label string
}

// periods are what pictures can be asked over, in days.
var periods = []span{{7, "7 dias"}, {30, "30 dias"}, {90, "90 dias"}, {365, "1 ano"}}

const defaultPeriod = 30

// parsePeriod reads over how many days the pictures of a page are.
func parsePeriod(r *request) int {
	days, _ := strconv.Atoi(r.URL.Query().Get("dias")) // anything else is the usual period
	if slices.ContainsFunc(periods, func(p span) bool { return p.days == days }) {
		return days
	}
	return defaultPeriod
}

// addPictures hands pictures to the page that is answered; a page without any has no choice of a period either.
func (r *request) addPictures(list ...picture) {
	if len(list) == 0 {
		return
	}
	days, path := parsePeriod(r), r.URL.Path
	if r.Method == http.MethodPost { // an action that shows its page again
		path = path[:strings.LastIndexByte(path, '/')]
	}
	r.pictures = &pictures{List: list}
	for _, p := range periods {
		q := url.Values{}
		for name, values := range r.URL.Query() {
			if name != "done" {
				q[name] = values
			}
		}
		q.Set("dias", strconv.Itoa(p.days))
		link := path + "?" + q.Encode() + "#graficos"
		r.pictures.Periods = append(r.pictures.Periods, listLink{p.label, link, p.days == days})
	}
}

// pictureOverTime returns a picture of days, or of weeks when there are more days than columns can be told apart.
func pictureOverTime(title string, series []pictureSeries, counts ...[]operator.DayCount) picture {
	return pictureDays(title, series, nil, counts...)
}

// pictureDays is pictureOverTime; path returns the list of what a series counts from one day to another, both included.
func pictureDays(
	title string, series []pictureSeries, path func(series int, from, to time.Time) string,
	counts ...[]operator.DayCount,
) picture {
	each, first := 1, "Dia"
	if len(counts[0]) > 92 {
		each, first = 7, "Semana que começa em"
	}
	var columns []pictured
	for i := 0; i < len(counts[0]); i += each {
		day, end := counts[0][i].Day, counts[0][min(i+each, len(counts[0]))-1].Day
		c := pictured{label: day.Format("02/01/2006"), short: day.Format("02/01"), values: make([]int64, len(counts))}
		for j, days := range counts {
			for _, d := range days[i:min(i+each, len(days))] {
				c.values[j] += d.Count
			}
			if path != nil {
				c.paths = append(c.paths, path(j, day, end))
			}
		}
		columns = append(columns, c)
	}
	return newPicture(title, first, series, columns)
}

// largestColumns keeps the columns with the most, the largest first.
func largestColumns(columns []pictured, most int) []pictured {
	slices.SortStableFunc(columns, func(a, b pictured) int { return cmp.Compare(b.values[0], a.values[0]) })
	columns = slices.DeleteFunc(columns, func(c pictured) bool { return c.values[0] == 0 })
	return columns[:min(len(columns), most)]
}

func sumOfDays(days []operator.DayCount) (n int64) {
	for _, d := range days {
		n += d.Count
	}
	return n
}
