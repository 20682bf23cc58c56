package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
)

// A picture is a chart that the server draws: columns of stacked counts, with the same numbers as a table behind it.
// The drawing stretches to the width that it has and its labels are text beside it, so that they can be read on a
// telephone.
type picture struct {
	Title string
	// Lead says in words what the picture shows; it is also its name for screen readers.
	Lead    string
	Series  []pictureSeries
	Columns []pictureColumn
	Lines   []gridLine
	// Ticks stand below the columns: one for each column if IsCellwise, otherwise spread from the first to the last.
	Ticks      []string
	IsCellwise bool
	// First names what the columns are: days, weeks, partners.
	First string
	Width int
	// NoTotals says that the columns cannot be added up: they are means, hundredths of a whole, or overlap.
	NoTotals bool
	// Total is the sum of all columns, Span says over how many days.
	Total int64
	Span  string
	// Path leads to the rows that the total counts, if they have a list.
	Path string
}

// pictureSeries is one colour of a picture. Path leads to the rows that its total counts, if they have a list.
type pictureSeries struct {
	Label string
	Class string
	Total int64
	// Before is the total of as many days before, where the page compares them.
	Before int64
	Path   string
	// BeforePath leads to the rows of the days before.
	BeforePath string
}

// pictureColumn is one column of a bar chart; Values are its figures, Parts the rectangles that show them.
type pictureColumn struct {
	Label  string
	X      float64
	Values []int64
	// Paths lead to the rows of each value; nil where they have no list.
	Paths []string
	Parts []picturePart
}

// PathOf returns the list of the rows that a value counts; empty without one.
func (c pictureColumn) PathOf(i int) string {
	if c.Paths == nil || c.Values[i] == 0 {
		return ""
	}
	return c.Paths[i]
}

// picturePart is one rectangle of a column, with its text for the pointer in Title.
type picturePart struct {
	Y, H  float64
	Class string
	Title string
}

// gridLine is a horizontal line of a chart with the value that it stands for.
type gridLine struct {
	Y     float64
	Value int64
}

func roundToTenth(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }

// niceCeiling returns the least of 2, 4, 10, 20, 40, 100, ... that is not below n: halves of it are whole numbers.
func niceCeiling(n int64) int64 {
	for scale := int64(1); ; scale *= 10 {
		for _, m := range []int64{2, 4, 10} {
			if m*scale >= n {
				return m * scale
			}
		}
	}
}

// Geometry of a picture, in the units of its view box. The page stretches both, each by its own.
const (
	pictureHeight = 100
	columnStep    = 10
	columnMargin  = 1.5
	// partGap is left between the parts of a column, and leastPart is how high one is that would hardly be seen.
	partGap   = 0.8
	leastPart = 1.5
	// leastCells is for how many columns there is room at least, so that one alone is no wall. Up to mostCells each has
	// its word below it; more have spreadTicks words in all.
	leastCells  = 6
	mostCells   = 10
	spreadTicks = 5
)

// pictured is a column before it is drawn.
type pictured struct {
	label, short string
	values       []int64
	// paths lead to the rows of each value; nil where they have no list.
	paths []string
}

// newPicture lays columns out. The first series stands at the bottom of each.
func newPicture(title, first string, series []pictureSeries, columns []pictured) picture {
	p := picture{
		Title:  title,
		First:  first,
		Series: slices.Clone(series),
		Width:  columnStep * max(leastCells, len(columns)),
	}
	var peak int64
	for _, c := range columns {
		var sum int64
		for i, v := range c.values {
			sum += v
			p.Series[i].Total += v
		}
		p.Total += sum
		peak = max(peak, sum)
	}
	top := niceCeiling(peak)
	for _, value := range []int64{top, top / 2, 0} {
		y := pictureHeight * (1 - float64(value)/float64(top))
		p.Lines = append(p.Lines, gridLine{Y: y, Value: value})
	}
	for i, c := range columns {
		one := pictureColumn{Label: c.label, X: columnStep*float64(i) + columnMargin, Values: c.values, Paths: c.paths}
		y := float64(pictureHeight)
		for j, of := range series {
			h := pictureHeight * float64(c.values[j]) / float64(top)
			if c.values[j] > 0 {
				h = max(h, leastPart) // one among thousands must still be seen
			}
			y -= h
			one.Parts = append(one.Parts, picturePart{
				Y:     roundToTenth(max(y, 0)),
				H:     roundToTenth(max(h-partGap, min(h, partGap))),
				Class: of.Class,
				Title: c.label + ", " + of.Label + ": " + groupedNumber(c.values[j]),
			})
		}
		p.Columns = append(p.Columns, one)
	}
	p.Ticks, p.IsCellwise = pictureTicks(columns)
	totals := make([]string, len(p.Series))
	for i, s := range p.Series {
		totals[i] = s.Label + ": " + groupedNumber(s.Total)
	}
	p.Lead = strings.Join(totals, ", ")
	return p
}

// pictureTicks returns the words below the columns, and whether each column has one.
func pictureTicks(columns []pictured) (ticks []string, isCellwise bool) {
	if len(columns) <= mostCells {
		for _, c := range columns {
			ticks = append(ticks, c.short)
		}
		return append(ticks, make([]string, max(0, leastCells-len(columns)))...), true
	}
	for i := range spreadTicks {
		ticks = append(ticks, columns[i*(len(columns)-1)/(spreadTicks-1)].short)
	}
	return ticks, false
}

// Empty reports whether there is nothing to draw.
func (p picture) Empty() bool {
	return !slices.ContainsFunc(p.Series, func(s pictureSeries) bool { return s.Total != 0 })
}

// FromTop returns the series in the order in which a column shows them, from its top down.
func (p picture) FromTop() []pictureSeries {
	list := slices.Clone(p.Series)
	slices.Reverse(list)
	return list
}

// pictures are those of a page, over one period.
type pictures struct {
	List    []picture
	Periods []period
}

// period is a link that shows a chart over another span of time.
type period struct {
	Label, Path string
	Current     bool
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
		r.pictures.Periods = append(r.pictures.Periods, period{p.label, link, p.days == days})
	}
}

// pictureOverTime returns a picture of days, or of weeks when there are more days than columns can be told apart.
func pictureOverTime(title string, series []pictureSeries, counts ...[]operator.DayCount) picture {
	return pictureDays(title, series, nil, counts...)
}

// pictureDays is pictureOverTime; path returns the list of what a series counts from one day to another, both included.
func pictureDays(
	title string,
	series []pictureSeries,
	path func(series int, from, to time.Time) string,
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

// formatShare writes a part of a whole as a percentage; "—" of nothing.
func formatShare(part, whole int64) string {
	if whole == 0 {
		return "—"
	}
	return formatTenths(part*1000/whole) + "%"
}

// formatTenths writes a number of tenths with a comma.
func formatTenths(n int64) string { return fmt.Sprintf("%d,%d", n/10, n%10) }

// largestColumns keeps the columns with the most, the largest first.
func largestColumns(columns []pictured, most int) []pictured {
	slices.SortStableFunc(columns, func(a, b pictured) int { return cmp.Compare(b.values[0], a.values[0]) })
	columns = slices.DeleteFunc(columns, func(c pictured) bool { return c.values[0] == 0 })
	return columns[:min(len(columns), most)]
}

// meanDuration returns how long one of n took.
func meanDuration(micros, n int64) time.Duration {
	if n == 0 {
		return 0
	}
	return time.Duration(micros/n) * time.Microsecond
}

// Each function draws the pictures of one page, from counts that are kept beside the tables. Pictures of the whole
// service are for those who run it: a partner's people do not see them.

var severityNames = map[cyber.Severity]string{
	cyber.SeverityLow:      "Baixa",
	cyber.SeverityMedium:   "Média",
	cyber.SeverityHigh:     "Alta",
	cyber.SeverityCritical: "Crítica",
}

// pictureOverview draws what was found over some days: by severity, beside as many days before, and what the partners
// were alerted of; then what it exposes, and how scores are spread.
func (c *Console) pictureOverview(found findingFigures, now map[operator.Figure]int64) []picture {
	var classes, bands []pictured
	for _, o := range exposedOptions {
		fits := func(g cyber.FindingGroup) bool { return slices.Contains(g.Exposes, cyber.Exposed(o.Value)) }
		classes = append(classes, pictured{
			label:  o.Label,
			short:  o.Label,
			values: []int64{cyber.CountFindings(found.Groups, fits)},
			paths:  []string{found.Path("class", o.Value)},
		})
	}
	for i := range operator.ScoreBands {
		bands = append(bands, pictured{
			label:  fmt.Sprintf("%d a %d", i*10, i*10+10),
			short:  fmt.Sprint(i * 10),
			values: []int64{now[operator.ScoreBandFigure(i)]},
		})
	}
	alertPath := func(_ int, from, to time.Time) string {
		return findingsPath("alerted", "1", "from", from.Format(time.DateOnly), "to", to.Format(time.DateOnly))
	}
	alerted := found.byDay(c.Now(), func(g cyber.FindingGroup) bool { return g.Alerted })
	alerts := pictureDays("Alertas enviados", []pictureSeries{{Label: "Alertas"}}, alertPath, alerted)
	alerts.Span, alerts.Path = nameOfPeriod(found.Days), found.Path("alerted", "1")
	ofClasses := []pictureSeries{{Label: "Ocorrências"}}
	exposed := newPicture("Ocorrências pelo que expõem", "Dado", ofClasses, largestColumns(classes, 6))
	exposed.NoTotals = true // one finding exposes several
	exposed.Lead = "De " + countWithWord(found.Total(), "ocorrência", "ocorrências") + " em " +
		nameOfPeriod(found.Days) + ", quantas expõem cada dado; uma só pode expor vários."
	ofPeople := []pictureSeries{{Label: "Pessoas da amostra"}}
	return []picture{
		c.pictureSeverities(found),
		alerts,
		exposed,
		newPicture("Pontuação das pessoas (amostra; maior é pior)", "Pontuação", ofPeople, bands),
	}
}

// pictureSeverities draws the findings of some days by severity, the critical ones at the bottom, and counts those of
// as many days before.
func (c *Console) pictureSeverities(found findingFigures) picture {
	all := cyber.Severities()
	slices.Reverse(all)
	series := make([]pictureSeries, len(all))
	bySeverity := make([][]operator.DayCount, len(all))
	for i, s := range all {
		fits := func(g cyber.FindingGroup) bool { return g.Severity == s }
		series[i] = pictureSeries{
			Label:      severityNames[s],
			Class:      string(s),
			Before:     cyber.CountFindings(found.Before, fits),
			Path:       found.Path("severity", string(s)),
			BeforePath: found.PathBefore("severity", string(s)),
		}
		bySeverity[i] = found.byDay(c.Now(), fits)
	}
	path := func(i int, from, to time.Time) string {
		return findingsPath("severity", string(all[i]),
			"from", from.Format(time.DateOnly), "to", to.Format(time.DateOnly))
	}
	p := pictureDays("Ocorrências por gravidade", series, path, bySeverity...)
	p.Span, p.Path = nameOfPeriod(found.Days), found.Path()
	return p
}

// nameOfPeriod returns the words for a number of days.
func nameOfPeriod(days int) string {
	for _, p := range periods {
		if p.days == days {
			return p.label
		}
	}
	return ""
}

func sumOfDays(days []operator.DayCount) (n int64) {
	for _, d := range days {
		n += d.Count
	}
	return n
}

// sizeBand is a range of sizes up to a bound.
type sizeBand struct {
	below        int64
	label, short string
}

// sizeBands part breaches by how many values they hold.
var sizeBands = []sizeBand{
	{1_000, "Menos de mil valores", "< mil"},
	{100_000, "De mil a 100 mil", "< 100 mil"},
	{10_000_000, "De 100 mil a 10 milhões", "< 10 mi"},
	{1 << 62, "10 milhões ou mais", "≥ 10 mi"},
}

// pictureBreaches draws the breaches of the last days by size and by how much of them was new.
func (c *Console) pictureBreaches(v viewer, all []leak.Record, days int) []picture {
	if v.who.Partner != "" {
		return nil
	}
	since := c.Now().AddDate(0, 0, -days)
	var bands, newest []pictured
	for _, b := range sizeBands {
		bands = append(bands, pictured{label: b.label, short: b.short, values: make([]int64, 2)})
	}
	for _, rec := range all {
		if rec.State != leak.Published || rec.AddedAt.Before(since) {
			continue
		}
		known := int64(0)
		if rec.Tally.Measured != nil {
			known = min(rec.Tally.Measured.Known, rec.Tally.Distinct)
		}
		band := slices.IndexFunc(sizeBands, func(b sizeBand) bool { return rec.Tally.Distinct < b.below })
		mostly := 0
		if known*2 > rec.Tally.Distinct {
			mostly = 1
		}
		bands[band].values[mostly]++
		if whole := rec.Tally.Distinct; whole > 0 && len(newest) < 12 {
			newest = append(newest, pictured{
				label:  rec.Title,
				values: []int64{100 - known*100/whole, known * 100 / whole},
			})
		}
	}
	bySize := []pictureSeries{
		{Label: "Com maioria nova", Class: "c2"},
		{Label: "Com maioria já conhecida"},
	}
	byNovelty := []pictureSeries{{Label: "Novo", Class: "c2"}, {Label: "Já conhecido"}}
	novelty := newPicture("Novidade dos mais recentes, em %", "Vazamento", byNovelty, newest)
	novelty.Lead, novelty.NoTotals = "De cada vazamento, quanto nenhum anterior tinha.", true
	return []picture{newPicture("Vazamentos por tamanho", "Tamanho", bySize, bands), novelty}
}

// pictureWebhook draws how an endpoint does: what arrived, how long that took, and what waits.
func (c *Console) pictureWebhook(ctx context.Context, endpoint string, days int) ([]picture, error) {
	names := []operator.Figure{operator.ArrivedOfDay, operator.GivenUpOfDay, operator.TravelOfDay}
	counts, err := c.Rules.Figures.FiguresByDay(ctx, endpoint, days, names...)
	if err != nil {
		return nil, err
	}
	waiting, err := c.Rules.Figures.FiguresByPart(ctx, operator.Backlog, 0)
	if err != nil {
		return nil, err
	}
	arrived, lost := counts[operator.ArrivedOfDay], counts[operator.GivenUpOfDay]
	ofDeliveries := []pictureSeries{{Label: "Chegaram", Class: "c1"}, {Label: "Falharam", Class: "c3"}}
	health := pictureOverTime("Entregas deste destino", ofDeliveries, arrived, lost)
	n := waiting[endpoint]
	health.Lead = fmt.Sprintf(
		"Taxa de sucesso: %s. Na fila agora: %s %s.",
		formatShare(sumOfDays(arrived), sumOfDays(arrived)+sumOfDays(lost)),
		groupedNumber(n),
		pluralWord(n, "entrega", "entregas"),
	)
	var means []pictured // a column of each day: means cannot be added up to weeks
	for i, d := range counts[operator.TravelOfDay] {
		mean := meanDuration(d.Count, arrived[i].Count).Milliseconds()
		means = append(means, pictured{
			label:  d.Day.Format("02/01/2006"),
			short:  d.Day.Format("02/01"),
			values: []int64{mean},
		})
	}
	travel := newPicture("Tempo até chegar, em ms", "Dia", []pictureSeries{{Label: "Média do dia"}}, means)
	travel.NoTotals = true
	mean := meanDuration(sumOfDays(counts[operator.TravelOfDay]), sumOfDays(arrived))
	travel.Lead = "Do evento até a resposta do destino, em média: " + formatDuration(mean) + "."
	return []picture{health, travel}, nil
}

// pictureCases draws cases opened, and those resolved in time and late.
func (c *Console) pictureCases(ctx context.Context, v viewer, days int) ([]picture, error) {
	if v.who.Partner != "" {
		return nil, nil
	}
	names := []operator.Figure{operator.CasesOpenedOfDay, operator.CasesInTimeOfDay, operator.CasesLateOfDay}
	counts, err := c.Rules.Figures.FiguresByDay(ctx, "", days, names...)
	if err != nil {
		return nil, err
	}
	inTime, late := counts[operator.CasesInTimeOfDay], counts[operator.CasesLateOfDay]
	ofOpened := []pictureSeries{{Label: "Abertos"}}
	ofSolved := []pictureSeries{{Label: "No prazo", Class: "c1"}, {Label: "Fora do prazo", Class: "c3"}}
	solved := pictureOverTime("Casos resolvidos: prazo", ofSolved, inTime, late)
	share := formatShare(sumOfDays(inTime), sumOfDays(inTime)+sumOfDays(late))
	solved.Lead = "Resolvidos no prazo: " + share + ". Casos sem prazo não contam."
	opened := pictureOverTime("Casos abertos", ofOpened, counts[operator.CasesOpenedOfDay])
	return []picture{opened, solved}, nil
}

// picturePartners draws who enrolled how many people.
func (c *Console) picturePartners(ctx context.Context, v viewer, all []partnerRow, days int) ([]picture, error) {
	if v.who.Partner != "" {
		return nil, nil
	}
	counts, err := c.Rules.Figures.FiguresByPart(ctx, operator.SubscriptionsOfDay, days)
	if err != nil {
		return nil, err
	}
	var columns []pictured
	for _, p := range all {
		columns = append(columns, pictured{
			label:  p.Name,
			short:  truncateName(p.Name, 24),
			values: []int64{counts[string(p.ID)]},
		})
	}
	series := []pictureSeries{{Label: "Assinaturas"}}
	return []picture{newPicture("Novas assinaturas por parceiro", "Parceiro", series, largestColumns(columns, 6))}, nil
}

// truncateName shortens a name to what stands below a column.
func truncateName(name string, most int) string {
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}
