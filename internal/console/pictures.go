package console

import (
	"fmt"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// Each function draws the pictures of one page, from counts that are kept beside the tables. Pictures of the whole service
// are for those who run it: a partner's people do not see them.

var severityNames = map[cyber.Severity]string{
	cyber.SeverityLow: "Baixa", cyber.SeverityMedium: "Média", cyber.SeverityHigh: "Alta", cyber.SeverityCritical: "Crítica",
}

// pictureOverview draws what happened over time: findings by severity and by what they expose, alerts, enrolments and
// deliveries; and how scores are spread.
func (c *Console) pictureOverview(r *request, now map[operator.Figure]int64) error {
	names := []operator.Figure{operator.AlertsOfDay, operator.SubscriptionsOfDay, operator.DeliveriesOfDay}
	series := make([]pictureSeries, 0, len(cyber.Severities()))
	for i, s := range cyber.Severities() {
		names = append(names, operator.FindingsOfSeverity(string(s)))
		series = append(series, pictureSeries{Label: severityNames[s], Class: fmt.Sprintf("c%d", i)})
	}
	for _, o := range exposedOptions {
		names = append(names, operator.FindingsOfClass(o.Value))
	}
	counts, err := c.Rules.Figures.FiguresByDay(r.Context(), "", parsePeriod(r), names...)
	if err != nil {
		return err
	}
	bySeverity := make([][]operator.DayCount, len(series))
	for i, s := range cyber.Severities() {
		bySeverity[i] = counts[operator.FindingsOfSeverity(string(s))]
	}
	var classes, bands []pictured
	for _, o := range exposedOptions {
		classes = append(classes, pictured{label: o.Label, short: o.Label, values: []int64{sumOfDays(counts[operator.FindingsOfClass(o.Value)])}})
	}
	for i := range operator.ScoreBands {
		bands = append(bands, pictured{fmt.Sprintf("%d a %d", i*10, i*10+10), fmt.Sprint(i * 10), []int64{now[operator.ScoreBandFigure(i)]}})
	}
	one := func(title, label, class string, name operator.Figure) picture {
		return pictureOverTime(title, []pictureSeries{{Label: label, Class: class}}, counts[name])
	}
	r.addPictures(
		pictureOverTime("Ocorrências por gravidade", series, bySeverity...),
		one("Alertas enviados", "Alertas", "c0", operator.AlertsOfDay),
		one("Novas assinaturas", "Assinaturas", "c1", operator.SubscriptionsOfDay),
		one("Entregas", "Entregas", "c0", operator.DeliveriesOfDay),
		newPicture("Ocorrências pelo que expõem", "Classe", []pictureSeries{{Label: "Ocorrências", Class: "c3"}}, largestColumns(classes, 6)),
		newPicture("Pontuação das pessoas (amostra; maior é pior)", "Pontuação", []pictureSeries{{Label: "Pessoas da amostra", Class: "c0"}}, bands),
	)
	return nil
}

// sumOfDays returns the total of days.
func sumOfDays(days []operator.DayCount) (n int64) {
	for _, d := range days {
		n += d.Count
	}
	return n
}

// sizeBands part breaches by how many values they hold.
var sizeBands = []struct {
	below        int64
	label, short string
}{
	{1_000, "Menos de mil valores", "< mil"}, {100_000, "De mil a 100 mil", "< 100 mil"}, {10_000_000, "De 100 mil a 10 milhões", "< 10 mi"},
	{1 << 62, "10 milhões ou mais", "≥ 10 mi"},
}

// pictureBreaches draws the breaches of the period by size and by how much of them was new.
func (c *Console) pictureBreaches(r *request, all []leak.Record) {
	if r.who.Partner != "" {
		return
	}
	since := c.Now().AddDate(0, 0, -parsePeriod(r))
	bands := make([]pictured, len(sizeBands))
	for i, b := range sizeBands {
		bands[i] = pictured{b.label, b.short, make([]int64, 2)}
	}
	var newest []pictured
	for _, rec := range all {
		if rec.State != leak.Published || rec.AddedAt.Before(since) {
			continue
		}
		known := int64(0)
		if rec.Tally.Measured != nil {
			known = min(rec.Tally.Measured.Known, rec.Tally.Distinct)
		}
		band := slices.IndexFunc(sizeBands, func(b struct {
			below        int64
			label, short string
		}) bool {
			return rec.Tally.Distinct < b.below
		})
		mostly := 0
		if known*2 > rec.Tally.Distinct {
			mostly = 1
		}
		bands[band].values[mostly]++
		if whole := rec.Tally.Distinct; whole > 0 && len(newest) < 12 {
			newest = append(newest, pictured{rec.Title, "", []int64{100 - known*100/whole, known * 100 / whole}})
		}
	}
	novelty := newPicture("Novidade dos mais recentes, em %", "Vazamento", []pictureSeries{{Label: "Novo", Class: "c2"}, {Label: "Já conhecido", Class: "c0"}}, newest)
	novelty.Lead, novelty.NoTotals = "De cada vazamento, quanto nenhum anterior tinha.", true
	r.addPictures(newPicture("Vazamentos por tamanho", "Tamanho", []pictureSeries{{Label: "Com maioria nova", Class: "c2"}, {Label: "Com maioria já conhecida", Class: "c0"}}, bands), novelty)
}

// pictureWebhook draws how an endpoint does: what arrived, how long that took, and what waits.
func (c *Console) pictureWebhook(r *request, endpoint string) error {
	counts, err := c.Rules.Figures.FiguresByDay(r.Context(), endpoint, parsePeriod(r), operator.ArrivedOfDay, operator.GivenUpOfDay, operator.TravelOfDay)
	if err != nil {
		return err
	}
	waiting, err := c.Rules.Figures.FiguresByPart(r.Context(), operator.Backlog, 0)
	if err != nil {
		return err
	}
	arrived, lost := counts[operator.ArrivedOfDay], counts[operator.GivenUpOfDay]
	health := pictureOverTime("Entregas deste destino", []pictureSeries{{Label: "Chegaram", Class: "c1"}, {Label: "Falharam", Class: "c3"}}, arrived, lost)
	n := waiting[endpoint]
	health.Lead = fmt.Sprintf("Taxa de sucesso: %s. Na fila agora: %s %s.", formatShare(sumOfDays(arrived), sumOfDays(arrived)+sumOfDays(lost)), groupedNumber(n), pluralWord(n, "entrega", "entregas"))
	seconds := make([]operator.DayCount, len(arrived))
	for i, d := range counts[operator.TravelOfDay] {
		seconds[i] = operator.DayCount{Day: d.Day, Count: meanDuration(d.Count, arrived[i].Count).Milliseconds()}
	}
	travel := newPicture("Tempo até chegar, em ms", "Dia", []pictureSeries{{Label: "Média do dia", Class: "c0"}}, dailyColumns(seconds))
	travel.NoTotals = true
	travel.Lead = "Do evento até a resposta do destino, em média: " + formatDuration(meanDuration(sumOfDays(counts[operator.TravelOfDay]), sumOfDays(arrived))) + "."
	r.addPictures(health, travel)
	return nil
}

// dailyColumns makes a column of each day: means cannot be added up to weeks.
func dailyColumns(days []operator.DayCount) (list []pictured) {
	for _, d := range days {
		list = append(list, pictured{d.Day.Format("02/01/2006"), d.Day.Format("02/01"), []int64{d.Count}})
	}
	return list
}

// pictureCases draws cases opened, and those resolved in time and late.
func (c *Console) pictureCases(r *request) error {
	if r.who.Partner != "" {
		return nil
	}
	counts, err := c.Rules.Figures.FiguresByDay(r.Context(), "", parsePeriod(r), operator.CasesOpenedOfDay, operator.CasesInTimeOfDay, operator.CasesLateOfDay)
	if err != nil {
		return err
	}
	inTime, late := counts[operator.CasesInTimeOfDay], counts[operator.CasesLateOfDay]
	solved := pictureOverTime("Casos resolvidos: prazo", []pictureSeries{{Label: "No prazo", Class: "c1"}, {Label: "Fora do prazo", Class: "c3"}}, inTime, late)
	solved.Lead = "Resolvidos no prazo: " + formatShare(sumOfDays(inTime), sumOfDays(inTime)+sumOfDays(late)) + ". Casos sem prazo não contam."
	r.addPictures(pictureOverTime("Casos abertos", []pictureSeries{{Label: "Abertos", Class: "c0"}}, counts[operator.CasesOpenedOfDay]), solved)
	return nil
}

// picturePartners draws who enrolled how many people.
func (c *Console) picturePartners(r *request, all []partner.Partner) error {
	if r.who.Partner != "" {
		return nil
	}
	counts, err := c.Rules.Figures.FiguresByPart(r.Context(), operator.SubscriptionsOfDay, parsePeriod(r))
	if err != nil {
		return err
	}
	var columns []pictured
	for _, p := range all {
		columns = append(columns, pictured{p.Name, truncateName(p.Name, 9), []int64{counts[string(p.ID)]}})
	}
	r.addPictures(newPicture("Novas assinaturas por parceiro", "Parceiro", []pictureSeries{{Label: "Assinaturas", Class: "c0"}}, largestColumns(columns, 6)))
	return nil
}

// truncateName shortens a name to what stands below a column.
func truncateName(name string, most int) string {
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}
