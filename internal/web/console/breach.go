package console

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// breachPage is the data of the page of one breach.
type breachPage struct {
	breachForm
	recentJobs
	Found []choiceCount
	// Reasons are why inputs were not read.
	Reasons []choiceCount
	// Nowhere are classes that it is said to expose and that were not found, Unnamed the other way round.
	Nowhere, Unnamed []string
	// MostFrom is the breach that shares most with this one, New the share of it that none before had.
	MostFrom, New string
	// Hits counts the people that the breach has hit, by partner; All is the sum.
	Hits  []leak.Hits
	All   leak.Hits
	Names map[partner.ID]string
}

// Final reports whether the figures are those of the whole breach, and not of an import that goes on.
func (p breachPage) Final() bool { return p.State != leak.Importing }

// KindName returns where the data came from, in words.
func (p breachPage) KindName() string { return labelOf(kindOptions, string(p.Kind)) }

// Exposed returns what it is said to expose, in words.
func (p breachPage) Exposed() []string { return exposedLabels(p.Exposes) }

// choiceCount is a label with a count, a line of a small table.
type choiceCount struct {
	Label string
	Count int64
}

// breachKinds are the jobs that a breach's page shows.
var breachKinds = []string{
	intake.KindImport,
	intake.KindRenew,
	leak.KindMatch,
	leak.KindWithdraw,
	leak.KindRestate,
	leak.KindVerify,
}

// showBreach shows a breach. While its first import runs there is no record yet, and the page shows the job's figures.
func showBreach(c *Console, r *request) (answer, error) {
	page, err := c.gatherBreach(r.Context(), r.viewer, r.PathValue("name"))
	return newView("breach", page.Title, page, err)
}

func (c *Console) gatherBreach(ctx context.Context, who viewer, name string) (breachPage, error) {
	jobs, err := c.Rules.Jobs.ListJobsAbout(ctx, name, breachKinds, perPage)
	if err != nil {
		return breachPage{}, err
	}
	rec, err := c.Rules.Breaches.FindBreach(ctx, name)
	if err != nil {
		if len(jobs) == 0 {
			return breachPage{}, err
		}
		// Its import has only just begun.
		rec = leak.Record{Breach: cyber.Breach{Name: name, Title: name}, State: leak.Importing}
	}
	page := breachPage{breachForm: breachForm{Record: rec}, recentJobs: recentJobs{c.newJobRows(jobs)}}
	if rec.State == leak.Importing { // the record has no figures yet: those of the job are the only ones
		for i := range page.Jobs {
			if p, told := page.Jobs[i].importing(); told {
				rec.Tally = leak.Tally{Bytes: p.Read, Scanned: p.Scanned, Found: p.Found}
				break
			}
		}
		page.Tally = rec.Tally
	}
	for _, o := range exposedOptions {
		if n := rec.Tally.Found[o.Value]; n > 0 {
			page.Found = append(page.Found, choiceCount{o.Label, n})
		}
	}
	if page.Final() {
		nowhere, unnamed := rec.Tally.CompareClasses(rec.Exposes)
		page.Nowhere, page.Unnamed = exposedLabels(nowhere), exposedLabels(unnamed)
	}
	if m := rec.Tally.Measured; m != nil {
		page.MostFrom, _ = m.LargestOverlap()
		page.New = formatShare(rec.Tally.Distinct-min(m.Known, rec.Tally.Distinct), rec.Tally.Distinct)
	}
	page.Names, err = c.partnerNames(ctx, who)
	if err != nil {
		return page, err
	}
	var changed time.Time
	for _, j := range jobs {
		if j.FinishedAt.After(changed) {
			changed = j.FinishedAt
		}
	}
	page.Hits, err = c.Rules.Breaches.CountHits(ctx, rec.Breach, changed)
	if err != nil {
		return page, err
	}
	page.All.Severities = map[cyber.Severity]int64{}
	for _, h := range page.Hits {
		for severity, n := range h.Severities {
			page.All.Severities[severity] += n
		}
		page.All.People += h.People
		page.All.Open += h.Open
		page.All.Resolved += h.Resolved
		page.All.Withdrawn += h.Withdrawn
		page.All.Alerted += h.Alerted
	}
	for _, reason := range slices.Sorted(maps.Keys(rec.Tally.Reasons)) {
		page.Reasons = append(page.Reasons, choiceCount{reasonText(reason), rec.Tally.Reasons[reason]})
	}
	// No class has the names of these kinds.
	for _, k := range []identifier.Kind{identifier.Card, identifier.PixKey, identifier.CNPJ} {
		if n := rec.Tally.Found[k.String()]; n > 0 {
			page.Found = append(page.Found, choiceCount{kindWords[k], n})
		}
	}
	return page, nil
}

// exposedLabels returns the labels of classes of exposed data; a class without a label is shown as it is.
func exposedLabels(list []cyber.Exposed) []string {
	labels := make([]string, len(list))
	for i, e := range list {
		labels[i] = labelOf(exposedOptions, string(e))
	}
	return labels
}

// joinExposed returns what leaked within a sentence: small letters, but for abbreviations.
func joinExposed(list []cyber.Exposed) string {
	labels := exposedLabels(list)
	for i, label := range labels {
		if label != strings.ToUpper(label) {
			labels[i] = strings.ToLower(label[:1]) + label[1:]
		}
	}
	return strings.Join(labels, ", ")
}

// editBreach shows the form that changes what is told of a breach.
func editBreach(c *Console, r *request) (answer, error) {
	rec, err := c.Rules.Breaches.FindBreach(r.Context(), r.PathValue("name"))
	return newView("breach-edit", "Editar "+rec.Title, breachForm{Record: rec}, err)
}

// saveBreach changes the description of a breach. Its name and the time it was added stay.
func saveBreach(c *Console, r *request) (answer, error) {
	name := r.PathValue("name")
	form := newFormReader(r)
	var given cyber.Breach
	parseBreachForm(form, &given)
	next := redirect{joinPath("breaches", name), "breach.saved"}
	return c.changeAndRedirect(r, "breach.edit", next, func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Breaches.EditBreach(ctx, name, func(b *cyber.Breach) {
			given.Name, given.AddedAt = b.Name, b.AddedAt
			*b = given
		})
		return name, "", form.joinFaults(err)
	})
}

// retractBreach withdraws a breach and, by a job, its findings. The operator has to type the name of the breach.
func retractBreach(c *Console, r *request) (answer, error) {
	name := r.PathValue("name")
	if r.trimmedField("confirm") != name {
		return nil, errForm.With("confirm", fault.NameOfTheBreach)
	}
	next := redirect{joinPath("breaches", name), "breach.retracted"}
	return c.recordAndRun(r, "breach.retract", name, "", next, func() error {
		_, err := c.Rules.Breaches.Retract(r.Context(), name)
		return err
	})
}

// verifyBreach starts a job that reads the segments of a breach in full and checks them.
func verifyBreach(c *Console, r *request) (answer, error) {
	name := r.PathValue("name")
	next := redirect{joinPath("breaches", name), "job.started"}
	return c.recordAndRun(r, "breach.verify", name, "", next, func() error {
		return c.Rules.Breaches.Verify(r.Context(), name)
	})
}
