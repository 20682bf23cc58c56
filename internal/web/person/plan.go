package person

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// openSteps is how many steps stand open at a time: one who sees ten does none.
const openSteps = 3

// planView is one list of all that a person can do about their leaks. A step that several leaks ask for stands in it once.
type planView struct {
	// Now are the first steps, Later those behind them; Done are ticked or do not apply.
	Now, Later, Done []stepView
	Finished, All    int
	// Minutes is how long the rest takes.
	Minutes int
}

// stepView is a step against one or more findings as the page shows it.
type stepView struct {
	ID, What, Why, Link string
	Minutes             int
	Due                 time.Time
	// DueText says how much time is left, DueClass its colour.
	DueText, DueClass string
	Severity          cyber.Severity
	// Because are the leaks that ask for it.
	Because       []string
	Done, Skipped bool
	Essential     bool
}

// mergePlans merges the plans of a person's open findings, the gravest and most urgent steps first.
func (p *Pages) mergePlans(r *request) (view planView) {
	var list []stepView
	for _, plan := range callForPerson(r, p.Rules.Monitoring.ListPlans) {
		if !plan.Finding.Open() {
			continue
		}
		for _, s := range plan.Steps {
			// A step that several findings ask for is shown once, with the earliest due time and the gravest reason.
			at := slices.IndexFunc(list, func(v stepView) bool { return v.ID == string(s.ID) })
			if at < 0 {
				at = len(list)
				list = append(list, stepView{
					ID:        string(s.ID),
					What:      s.What(r.lang),
					Why:       s.Why(r.lang),
					Link:      s.Link,
					Minutes:   s.Minutes,
					Due:       s.Due,
					Severity:  plan.Finding.Severity,
					Done:      true,
					Skipped:   true,
					Essential: s.Essential,
				})
			}
			v := &list[at]
			if s.Due.Before(v.Due) {
				v.Due = s.Due
			}
			if severityRank(plan.Finding.Severity) > severityRank(v.Severity) {
				v.Severity, v.Why = plan.Finding.Severity, s.Why(r.lang)
			}
			if title := plan.Finding.Breach.Title; !slices.Contains(v.Because, title) {
				v.Because = append(v.Because, title)
			}
			// Done and Skipped begin as true: one finding where the step is still open is enough to keep it open.
			v.Done, v.Skipped = v.Done && s.State == cyber.StepDone, v.Skipped && s.State != cyber.StepTodo
		}
	}
	slices.SortStableFunc(list, func(a, b stepView) int {
		return cmp.Or(severityRank(b.Severity)-severityRank(a.Severity), a.Due.Compare(b.Due))
	})
	for _, v := range list {
		view.All++
		v.DueText, v.DueClass = r.describeDeadline(v.Due, p.Now())
		switch {
		case v.Done || v.Skipped:
			view.Finished++
			view.Done = append(view.Done, v)
			continue
		case len(view.Now) < openSteps:
			view.Now = append(view.Now, v)
		default:
			view.Later = append(view.Later, v)
		}
		view.Minutes += v.Minutes
	}
	return view
}

// describeDeadline says in words how much time is left, by days of Brazil's calendar.
func (r *request) describeDeadline(due, now time.Time) (text, class string) {
	midnight := func(t time.Time) time.Time {
		y, m, d := t.In(brazil).Date()
		return time.Date(y, m, d, 0, 0, 0, 0, brazil)
	}
	switch days := int(midnight(due).Sub(midnight(now)) / (24 * time.Hour)); {
	case days < -1:
		return sentenceIn(r.lang, "due.late", -days), "high"
	case days == -1:
		return r.sentence("due.yesterday"), "high"
	case days == 0:
		return r.sentence("due.today"), "mid"
	case days == 1:
		return r.sentence("due.tomorrow"), "soft"
	default:
		return sentenceIn(r.lang, "due.days", days), "soft"
	}
}

// markMergedStep keeps a tick for every leak that asks for the step, and looks at those leaks again: with the last step one is
// solved. The page that follows shows what stands now where the step stood.
func markMergedStep(p *Pages, r *request) (answer, error) {
	step := cyber.StepID(r.PathValue("step"))
	marked, solved := false, false
	for _, plan := range callForPerson(r, p.Rules.Monitoring.ListPlans) {
		if _, has := plan.Step(step); !has || !plan.Finding.Open() {
			continue
		}
		after := callForPerson(r, func(ctx context.Context, id partner.ID, user partner.UserHash) (cyber.Plan, error) {
			return p.Rules.Monitoring.MarkPlanStep(
				ctx,
				id,
				user,
				plan.Finding.ID,
				step,
				cyber.StepState(r.trimmedField("state")),
			)
		})
		if marked = true; len(after.Remaining()) > 0 {
			continue
		}
		checked := callForPerson(
			r,
			func(ctx context.Context, id partner.ID, user partner.UserHash) (cyber.Rechecked, error) {
				return p.Rules.Monitoring.RecheckFinding(ctx, id, user, plan.Finding.ID)
			},
		)
		solved = solved || !checked.Finding.Open()
	}
	if !marked {
		return nil, cyber.ErrStepNotFound
	}
	place, err := strconv.Atoi(r.trimmedField("at"))
	if err != nil || place < 0 || place >= openSteps {
		place = 0
	}
	to := "/p/steps?at=" + strconv.Itoa(place) + "#passo-" + strconv.Itoa(place)
	if solved {
		return redirect{to, "solved"}, nil
	}
	return redirect{to, "ticked"}, nil
}

// Reasons joins the leaks that ask for a step.
func (s stepView) Reasons() string { return strings.Join(s.Because, ", ") }

// A page names so many pieces of advice, the most urgent: more is not read on a phone.
const mostAdvice = 12

// stepsPage is what to do next.
type stepsPage struct {
	Plan planView
	// At is where the step stood that was just ticked; -1 when none was.
	At     int
	Advice []cyber.Advice
	More   int
}

// showSteps shows the steps against all findings together, and the advice of the catalogue.
func showSteps(p *Pages, r *request) (answer, error) {
	page := stepsPage{At: -1, Plan: p.mergePlans(r)}
	if at, err := strconv.Atoi(r.URL.Query().Get("at")); err == nil {
		page.At = at
	}
	list := callForPerson(r, p.Rules.Persons.InLanguage(r.lang).ListAdvice)
	page.More = max(0, len(list)-mostAdvice)
	page.Advice = list[:len(list)-page.More]
	return view{"steps", "steps.title", page}, nil
}

// answerQuestion stores the person's answer to a question of the catalogue.
func answerQuestion(p *Pages, r *request) (answer, error) {
	err := p.Rules.Persons.SaveAnswer(
		r.Context(),
		r.who.ID,
		r.session.User,
		cyber.ContentID(r.trimmedField("item")),
		r.trimmedField("value"),
	)
	return redirect{"/p/steps", "answered"}, err
}
