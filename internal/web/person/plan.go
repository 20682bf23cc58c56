package person

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// openSteps is how many steps stand open at a time: one who sees ten does none.
const openSteps = 1

// planView is one list of all that a person can do about their leaks. A step that several leaks ask for stands in it
// once.
type planView struct {
	// Now are the first steps, Later those behind them; Done are ticked or do not apply.
	Now, Later, Done []stepView
	// Finished counts those that are ticked, All those that apply.
	Finished, All int
	// Minutes is how long the rest takes.
	Minutes int
}

// stepView is a step against one or more findings as the page shows it.
type stepView struct {
	ID, Title, What, Why, Link string
	Minutes                    int
	Due                        time.Time
	// DueText says how much time is left, DueClass its colour.
	DueText, DueClass string
	Severity          cyber.Severity
	// Because are the leaks that ask for it.
	Because       []string
	Done, Skipped bool
	Essential     bool
	// Place is where it stands among the steps that are open.
	Place int
}

// Open returns how many steps are open.
func (p planView) Open() int { return len(p.Now) + len(p.Later) }

// mergePlans merges the plans of a person's open findings, the gravest and most urgent steps first.
func (p *Pages) mergePlans(ctx context.Context, v visitor) (planView, error) {
	plans, err := p.Rules.Monitoring.ListPlans(ctx, v.who.ID, v.session.User)
	if err != nil {
		return planView{}, err
	}
	var list []stepView
	for _, plan := range plans {
		if !plan.Finding.Open() {
			continue
		}
		for _, s := range plan.Steps {
			// A step that several findings ask for is shown once, with the earliest due time and the gravest reason.
			at := slices.IndexFunc(list, func(known stepView) bool { return known.ID == string(s.ID) })
			if at < 0 {
				at = len(list)
				list = append(list, stepView{
					ID:        string(s.ID),
					Title:     s.Title(v.lang),
					What:      s.What(v.lang),
					Why:       s.Why(v.lang),
					Link:      s.Link,
					Minutes:   s.Minutes,
					Due:       s.Due,
					Severity:  plan.Finding.Severity,
					Done:      true,
					Skipped:   true,
					Essential: s.Essential,
				})
			}
			step := &list[at]
			if s.Due.Before(step.Due) {
				step.Due = s.Due
			}
			if severityRank(plan.Finding.Severity) > severityRank(step.Severity) {
				step.Severity, step.Why = plan.Finding.Severity, s.Why(v.lang)
			}
			if title := plan.Finding.Breach.Title; !slices.Contains(step.Because, title) {
				step.Because = append(step.Because, title)
			}
			// Done and Skipped begin as true: one finding where the step is still open is enough to keep it open.
			step.Done = step.Done && s.State == cyber.StepDone
			step.Skipped = step.Skipped && s.State != cyber.StepTodo
		}
	}
	slices.SortStableFunc(list, func(a, b stepView) int {
		return cmp.Or(severityRank(b.Severity)-severityRank(a.Severity), a.Due.Compare(b.Due))
	})
	merged := planView{All: len(list)}
	for _, step := range list {
		step.DueText, step.DueClass = v.describeDeadline(step.Due, p.Now())
		step.Place = merged.Open()
		switch {
		case step.Done:
			merged.Finished++
			merged.Done = append(merged.Done, step)
			continue
		case step.Skipped: // what does not apply is neither done nor left
			merged.All--
			merged.Done = append(merged.Done, step)
			continue
		case len(merged.Now) < openSteps:
			merged.Now = append(merged.Now, step)
		default:
			merged.Later = append(merged.Later, step)
		}
		merged.Minutes += step.Minutes
	}
	return merged, nil
}

// describeDeadline says in words how much time is left, by days of Brazil's calendar.
func (v visitor) describeDeadline(due, now time.Time) (text, class string) {
	midnight := func(t time.Time) time.Time {
		y, m, d := t.In(brazil).Date()
		return time.Date(y, m, d, 0, 0, 0, 0, brazil)
	}
	switch days := int(midnight(due).Sub(midnight(now)) / (24 * time.Hour)); {
	case days < -1:
		return sentenceIn(v.lang, "due.late", -days), "high"
	case days == -1:
		return v.sentence("due.yesterday"), "high"
	case days == 0:
		return v.sentence("due.today"), "mid"
	case days == 1:
		return v.sentence("due.tomorrow"), "soft"
	default:
		return sentenceIn(v.lang, "due.days", days), "soft"
	}
}

// markMergedStep keeps a tick for every leak that asks for the step, and looks at those leaks again: with the last step
// one is solved. The page that follows shows what stands now where the step stood.
func markMergedStep(p *Pages, r *request) (answer, error) {
	step := cyber.StepID(r.PathValue("step"))
	state := cyber.StepState(r.trimmedField("state"))
	ctx, id, user := r.Context(), r.who.ID, r.session.User
	plans, err := p.Rules.Monitoring.ListPlans(ctx, id, user)
	if err != nil {
		return nil, err
	}
	marked, solved := false, false
	for _, plan := range plans {
		if _, has := plan.Step(step); !has || !plan.Finding.Open() {
			continue
		}
		after, err := p.Rules.Monitoring.MarkPlanStep(ctx, id, user, plan.Finding.ID, step, state)
		if err != nil {
			return nil, err
		}
		marked = true
		if len(after.Remaining()) > 0 {
			continue
		}
		checked, err := p.Rules.Monitoring.RecheckFinding(ctx, id, user, plan.Finding.ID)
		if err != nil {
			return nil, err
		}
		solved = solved || !checked.Finding.Open()
	}
	if !marked {
		return nil, cyber.ErrStepNotFound
	}
	place, err := strconv.Atoi(r.trimmedField("at"))
	if err != nil || place < 0 {
		place = 0
	}
	to := "/p/steps?at=" + strconv.Itoa(place) + "&step=" + url.QueryEscape(string(step)) +
		"#passo-" + strconv.Itoa(place)
	if solved {
		return redirect{to, "solved"}, nil
	}
	return redirect{to, "ticked"}, nil
}

// Reasons joins the leaks that ask for a step.
func (s stepView) Reasons() string { return strings.Join(s.Because, ", ") }
