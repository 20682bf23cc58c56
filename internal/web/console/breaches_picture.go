package console

import (
	"slices"

	"github.com/vigiahq/vigia/internal/leak"
)

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
func (c *Console) pictureBreaches(all []leak.Record, days int) []picture {
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
