package subject

import (
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// statementOf returns what is held, partner by partner, in the form of the JSON statement. Lists are made and so never
// nil, which JSON would call null. Values are unmasked, as the person has a right to all of them.
func statementOf(all []Held) []heldView {
	views := make([]heldView, len(all))
	for i, h := range all {
		views[i] = viewHeld(h)
	}
	return views
}

// viewHeld returns what one partner holds as the statement shows it.
func viewHeld(h Held) heldView {
	view := heldView{
		Partner: partnerRef{
			ID:      string(h.Partner.ID),
			Name:    h.Partner.Name,
			Officer: h.Partner.Settings.Officer,
		},
		Subscriptions: make([]heldSubscription, len(h.Subscriptions)),
		Watched:       make([]heldAsset, len(h.Assets)),
		Findings:      make([]heldFinding, len(h.Findings)),
		Cases:         make([]heldCase, len(h.Cases)),
		Devices:       make([]heldDevice, len(h.Devices)),
		Answers:       make([]heldAnswer, len(h.Answers)),
		Scores:        make([]heldScore, len(h.Scores)),
		Events:        make([]heldEvent, len(h.Events)),
		Others:        make([]string, len(h.Others)),
		StoredAnswers: h.StoredAnswers,
	}
	for i, s := range h.Subscriptions {
		view.Subscriptions[i] = viewHeldSubscription(s)
	}
	for i, a := range h.Assets {
		view.Watched[i] = viewHeldAsset(a)
	}
	for i, f := range h.Findings {
		view.Findings[i] = viewHeldFinding(f, h.Steps)
	}
	for i, c := range h.Cases {
		view.Cases[i] = viewHeldCase(c)
	}
	for i, d := range h.Devices {
		view.Devices[i] = heldDevice{
			string(d.ID),
			string(d.System),
			d.Name,
			d.Key,
			formatTime(d.IssuedAt),
			formatTime(d.ValidUntil),
			formatTime(d.EndedAt),
		}
	}
	for i, a := range h.Answers {
		view.Answers[i] = heldAnswer{string(a.Content), a.Value, formatTime(a.At)}
	}
	for i, s := range h.Scores {
		day := s.Date().Format(time.DateOnly)
		view.Scores[i] = heldScore{day, float64(s.Breach) / 10, float64(s.Assessment) / 10}
	}
	for i, e := range h.Events {
		view.Events[i] = viewHeldEvent(e)
	}
	for i, user := range h.Others {
		view.Others[i] = string(user)
	}
	return view
}

// statusUnlooked is the status of a value that was not looked for in past breaches yet: it is neither found nor clean.
const statusUnlooked = "nao_verificado"

// viewHeldAsset returns a watched value with its changes of status.
func viewHeldAsset(a Watched) heldAsset {
	history := make([]string, len(a.History))
	for i, c := range a.History {
		history[i] = formatTime(c.At) + " " + string(c.Before) + " -> " + string(c.Then)
	}
	status := string(a.Status)
	if a.IsUnlooked() {
		status = statusUnlooked
	}
	return heldAsset{
		string(a.ID),
		a.Kind.String(),
		a.Value,
		string(a.User),
		status,
		formatTime(a.AddedAt),
		history,
	}
}

// viewHeldCase returns a case with its course.
func viewHeldCase(c Case) heldCase {
	moves := make([]heldMove, len(c.Moves))
	for i, m := range c.Moves {
		moves[i] = heldMove{string(m.Kind), string(m.From), string(m.To), m.Actor, m.Note, formatTime(m.At)}
	}
	return heldCase{
		string(c.ID),
		string(c.Service),
		string(c.Status),
		append([]string{}, c.Appointments...),
		append([]string{}, c.Answers...),
		formatTime(c.CreatedAt),
		moves,
	}
}

// viewHeldEvent returns an event with its deliveries.
func viewHeldEvent(e Event) heldEvent {
	deliveries := make([]string, len(e.Deliveries))
	for i, d := range e.Deliveries {
		deliveries[i] = strings.TrimSpace(d.Endpoint + " " + d.State + " " + formatTime(d.At))
	}
	return heldEvent{e.ID, e.Type, formatTime(e.At), e.Body, deliveries}
}

// viewHeldSubscription returns a subscription as the statement shows it.
func viewHeldSubscription(s subscription.Subscription) heldSubscription {
	b := s.Beneficiary
	return heldSubscription{
		Plan:        string(s.Plan),
		Start:       s.Start.String(),
		Expiry:      s.Expiry.String(),
		Name:        b.Name,
		CPF:         b.CPF,
		BirthDate:   b.BirthDate,
		Gender:      b.Gender,
		Email:       b.Email,
		Phone:       b.Phone,
		PrimaryCard: b.PrimaryCard,
		UserCard:    b.UserCard,
		Address:     addressLine(b.Address),
		Holder:      s.Holder,
		InternalID:  s.InternalID,
		Metadata:    s.Metadata,
		CreatedAt:   formatTime(s.CreatedAt),
		SuspendedAt: formatTime(s.SuspendedAt),
		EndedAt:     formatTime(s.EndedAt),
	}
}

// viewHeldFinding returns a finding with the steps that the person marked.
func viewHeldFinding(f cyber.Finding, marks []cyber.StepMark) heldFinding {
	plan := cyber.NewFindingPlan(f, marks)
	exposes := make([]string, len(f.Breach.Exposes))
	for i, class := range f.Breach.Exposes {
		exposes[i] = string(class)
	}
	steps := []heldStep{}
	for _, m := range marks {
		if m.Finding != f.ID {
			continue
		}
		held := heldStep{Step: string(m.Step), State: string(m.State), At: formatTime(m.At)}
		if s, ok := plan.Step(m.Step); ok {
			held.What = s.What(partner.Portuguese)
		}
		steps = append(steps, held)
	}
	return heldFinding{
		ID:         string(f.ID),
		Asset:      string(f.Asset),
		Type:       f.Kind.String(),
		Breach:     f.Breach.Name,
		Title:      f.Breach.Title,
		Date:       f.Breach.Date.Format(time.DateOnly),
		Exposes:    exposes,
		Basis:      string(f.Basis()),
		Sites:      f.Trace.Sites,
		TakenOn:    formatDay(f.Trace.TakenOn()),
		LeakedAs:   f.LeakedAs(),
		Severity:   string(f.Severity),
		FoundAt:    formatTime(f.FoundAt),
		Resolution: string(f.Resolution),
		Steps:      steps,
	}
}

// addressLine returns an address in one line, without the parts that are empty.
func addressLine(a subscription.Address) string {
	parts := []string{
		strings.TrimSpace(a.Street + " " + a.Number),
		a.Complement,
		a.Neighborhood,
		strings.Trim(a.City+"/"+a.State, "/"),
		a.Zipcode,
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// formatDay writes a day; nothing of the zero time.
func formatDay(t time.Time) string {
	day, _, _ := strings.Cut(formatTime(t), "T")
	return day
}
