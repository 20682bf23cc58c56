package cyber

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// The risk model. docs/risk-model.md explains it to people.

// exposedWeight is how many points a class of data is worth to a criminal, and whether it stays true for life.
var exposedWeight = map[Exposed]struct {
	points  float64
	forever bool
}{
	ExposedPassword:     {40, false},
	ExposedCard:         {40, false},
	ExposedCookies:      {35, false},
	ExposedDocument:     {25, true},
	ExposedFinancial:    {25, false},
	ExposedCPF:          {20, true},
	ExposedPasswordHash: {20, false},
	ExposedHealth:       {20, true},
	ExposedBirthDate:    {8, true},
	ExposedAddress:      {8, false},
	ExposedPhone:        {6, false},
	ExposedName:         {4, true},
	ExposedEmail:        {4, false},
	ExposedUsername:     {4, false},
	ExposedIP:           {2, false},
	ExposedOther:        {3, false},
}

// sourceFactor is how dangerous data of a source is: a stealer's log is fresh and whole, a combolist mostly copied.
var sourceFactor = map[SourceKind]float64{
	SourceStealer: 1.5, SourcePhish: 1.3, SourceBreach: 1, SourcePaste: 0.8, SourceCombolist: 0.7,
}

// ageFactor is what is left of data that people change, by the years since the breach.
var ageFactor = [...]struct {
	years  int
	factor float64
}{{1, 1}, {3, 0.8}, {5, 0.6}, {math.MaxInt32, 0.4}}

const (
	// furtherShare is what each class after the strongest counts.
	furtherShare = 0.25
	// identityBonus is for a government id together with a name, birth date or address: enough to open an account.
	identityBonus = 10
	unverified    = 0.8
	fabricated    = 0.1
	spamList      = 0.2
	// breachCeiling is the most that one breach can be worth: no single one makes 100.
	breachCeiling = 75
)

// The shares of the assessment score; they add up to 100.
const (
	shareDevices = 25
	shareAnswers = 35
	shareAlerts  = 15
	// alertPart is the share of open alerts when nothing usable was exposed.
	alertPart = 5
)

// shareWatched is for each kind of value that is not monitored, 25 together, in the order they are recommended.
var shareWatched = [...]struct {
	kind   identifier.Kind
	points float64
}{{identifier.CPF, 8}, {identifier.Email, 8}, {identifier.Phone, 5}, {identifier.Card, 4}}

// riskPoints returns what one breach is worth, 0 to breachCeiling.
func (b Breach) riskPoints(now time.Time) float64 {
	age := breachAgeFactor(b.Date, now)
	strongest, further := 0.0, 0.0
	for _, e := range b.Exposes {
		w, ok := exposedWeight[e]
		if !ok {
			w = exposedWeight[ExposedOther]
		}
		points := w.points
		if !w.forever {
			points *= age
		}
		if points > strongest {
			strongest, points = points, strongest
		}
		further += points
	}
	points := strongest + furtherShare*further
	if b.Has(ExposedCPF, ExposedDocument) && b.Has(ExposedName, ExposedBirthDate, ExposedAddress) {
		points += identityBonus
	}
	if f, ok := sourceFactor[b.Kind]; ok {
		points *= f
	}
	if !b.Verified {
		points *= unverified
	}
	if b.Fabricated {
		points *= fabricated
	}
	if b.SpamList {
		points *= spamList
	}
	return min(points, breachCeiling)
}

// breachAgeFactor returns the factor for a breach of that day; a breach without a date counts as new.
func breachAgeFactor(date, now time.Time) float64 {
	for _, step := range ageFactor {
		if date.IsZero() || step.years == math.MaxInt32 || now.Before(date.AddDate(step.years, 0, 0)) {
			return step.factor
		}
	}
	return 1
}

// Score is a person's risk: 0 is best, 100 worst.
type Score struct {
	Breach, Assessment float64
	// Looks says on how many of the person's values the score rests: while some wait, the risk may be larger.
	Looks PersonLooks
	// Recommendations are in the order of what they win.
	Recommendations []Recommendation
}

// Mends names what a recommendation is about.
type Mends string

// What can be mended.
const (
	MendStealer  Mends = "stealer"
	MendPassword Mends = "password"
	MendCard     Mends = "card"
	MendSession  Mends = "session"
	MendIdentity Mends = "identity"
	MendMoney    Mends = "financial"
	MendHash     Mends = "password_hash"
	MendHealth   Mends = "health"
	MendPhish    Mends = "phish"
	MendContact  Mends = "contact"
	MendDevice   Mends = "device"
	MendWatch    Mends = "watch"
	MendAnswer   Mends = "answer"
)

// ListMends lists everything that can be mended.
func ListMends() []Mends {
	return []Mends{
		MendStealer,
		MendPassword,
		MendCard,
		MendSession,
		MendIdentity,
		MendMoney,
		MendHash,
		MendHealth,
		MendPhish,
		MendContact,
		MendDevice,
		MendWatch,
		MendAnswer,
	}
}

// Recommendation is something to do, what it mends and what it wins.
type Recommendation struct {
	Mends Mends
	// Breach is the title of the breach.
	Breach string
	// asset is the person's value in the breach.
	asset *PostureAsset
	// Kind is what to watch.
	Kind identifier.Kind
	// Text is the catalogue's own sentence, for answers, and Language what it was translated to.
	Text     string
	Language partner.Language
	// Wins is by how much the two scores together would fall.
	Wins float64
}

// Value returns the person's value in the breach, masked; empty when the recommendation is not about one.
func (r Recommendation) Value() string {
	if r.asset == nil {
		return ""
	}
	return identifier.MaskValue(r.asset.Kind, r.asset.Value)
}

// maxRecommendations keeps the list within what a person reads.
const maxRecommendations = 20

// computeScore computes the score. It is deterministic, a new finding never lowers it, and resolving one never raises
// it.
func computeScore(p *Posture, s *catalogueIndex) Score {
	found := p.joinExposures()
	breach, wins := breachScore(found)
	status, usable := p.worstStatus(), 0
	for _, e := range found {
		if e.usable {
			usable++
		}
	}
	var list []Recommendation
	for i, e := range found {
		others := usable
		if e.usable {
			others--
		}
		win := wins[i] + alertShare(status) - alertShare(statusOfRest(len(found)-1, others))
		list = append(list, Recommendation{Mends: e.mends, Breach: e.Title, asset: e.assets[0], Wins: win})
	}
	assessment := alertShare(status)
	for _, gap := range postureGaps(p, s) {
		assessment += gap.Wins
		list = append(list, gap)
	}
	return Score{
		Breach:          roundToTenth(breach),
		Assessment:      roundToTenth(min(assessment, 100)),
		Looks:           p.countLooks(),
		Recommendations: pickBestWins(list),
	}
}

// pickBestWins returns the recommendations that win most, the largest first; of equals the first.
func pickBestWins(list []Recommendation) []Recommendation {
	slices.SortStableFunc(list, func(a, b Recommendation) int { return cmp.Compare(b.Wins, a.Wins) })
	return list[:min(len(list), maxRecommendations)]
}

// breachScore joins the breaches as chances of harm are joined: 100 * (1 - product of (1 - points/100)). So each adds
// to what the others left, and their order does not matter. It also says what mending each alone would win.
func breachScore(found []*exposure) (score float64, wins []float64) {
	before, wins := make([]float64, len(found)+1), make([]float64, len(found)) // what the breaches up to each leave
	before[0] = 1
	for i, e := range found {
		before[i+1] = before[i] * (1 - e.points/100)
	}
	after := 1.0
	for i, e := range slices.Backward(found) {
		wins[i] = before[i] * after * e.points
		after *= 1 - e.points/100
	}
	return 100 * (1 - before[len(found)]), wins
}

// recommendedMend says what to do about a breach: the worst of what it exposed decides.
func (b Breach) recommendedMend() Mends {
	switch {
	case b.Kind == SourceStealer:
		return MendStealer
	case b.Has(ExposedPassword):
		return MendPassword
	case b.Has(ExposedCard):
		return MendCard
	case b.Has(ExposedCookies):
		return MendSession
	case b.Has(ExposedDocument, ExposedCPF):
		return MendIdentity
	case b.Has(ExposedFinancial):
		return MendMoney
	case b.Has(ExposedPasswordHash):
		return MendHash
	case b.Has(ExposedHealth):
		return MendHealth
	case b.Kind == SourcePhish:
		return MendPhish
	}
	return MendContact
}

// alertShare returns how many points of the assessment the worst status of the person's watched values adds.
func alertShare(s Status) float64 {
	switch s {
	case StatusCompromised:
		return shareAlerts
	case StatusAlert:
		return alertPart
	case StatusMonitored:
	}
	return 0
}

// statusOfRest returns the worst status that so many breaches leave, so many of them usable against the person: see
// StatusOf.
func statusOfRest(breaches, usable int) Status {
	switch {
	case usable > 0:
		return StatusCompromised
	case breaches > 0:
		return StatusAlert
	}
	return StatusMonitored
}

// postureGaps lists what is missing beyond breaches; Wins of all of them and the share of alerts are the assessment
// score.
func postureGaps(p *Posture, s *catalogueIndex) []Recommendation {
	var gaps []Recommendation
	if !p.isProtected(DeviceAll) {
		gaps = append(gaps, Recommendation{Mends: MendDevice, Wins: shareDevices})
	}
	for _, w := range shareWatched {
		if !p.watchesKind(w.kind) {
			gaps = append(gaps, Recommendation{Mends: MendWatch, Kind: w.kind, Wins: w.points})
		}
	}
	for i := range s.items {
		q := s.items[i].Question
		if q == nil {
			continue
		}
		if risk := q.Risk(p.Answers[s.items[i].ID]); risk > 0 {
			gaps = append(
				gaps,
				Recommendation{
					Mends:    MendAnswer,
					Text:     q.Mends,
					Language: s.items[i].Language,
					Wins:     shareAnswers * float64(risk) / float64(s.weight),
				},
			)
		}
	}
	return gaps
}

// roundToTenth rounds to one decimal.
func roundToTenth(x float64) float64 { return math.Round(x*10) / 10 }

// ErrCoverageNotFound means that nothing covers a person.
var ErrCoverageNotFound = fault.New(fault.NotFound, "coverage.not_found")

// Entitlement is a plan that is in force for a person.
type Entitlement struct {
	plan.Plan
	// From and Until are the first and the last day of the subscription, at 00:00 UTC; Until is zero where it has no
	// end, and both are zero where the plan does not come from a subscription.
	From, Until time.Time
}

// CoveredFrom returns the first covered day, after the waiting period; zero where the start of that is unknown.
func (e Entitlement) CoveredFrom() time.Time {
	if e.From.IsZero() {
		return time.Time{}
	}
	return e.From.AddDate(0, 0, e.Coverage.WaitingDays)
}

// Entitled is what a person may build on: the plans of their subscriptions in force, and the partner's plan for
// everybody.
type Entitled struct {
	Subscribed []Entitlement
	// Default has at most one plan: what covers people without a subscription.
	Default []Entitlement
}

// ListEntitlements lists what is in force, best first: the highest limit, the older plan where two are alike.
// subscribed tells a person's own subscriptions from the partner's default.
func (e Entitled) ListEntitlements() (list []Entitlement, subscribed bool) {
	list = e.Subscribed
	if len(list) == 0 {
		list = e.Default
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Entitlement) int {
		switch {
		case a.Coverage.Limit != b.Coverage.Limit:
			return cmp.Compare(b.Coverage.Limit, a.Coverage.Limit)
		case !a.CreatedAt.Equal(b.CreatedAt):
			return a.CreatedAt.Compare(b.CreatedAt)
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return list, len(e.Subscribed) > 0
}

// BestPlan returns the one plan in force: the first of All.
func (e Entitled) BestPlan() (best plan.Plan, subscribed, found bool) {
	list, subscribed := e.ListEntitlements()
	if len(list) == 0 {
		return plan.Plan{}, false, false
	}
	return list[0].Plan, subscribed, true
}

// CoverStore knows what people are entitled to.
type CoverStore interface {
	LoadEntitled(ctx context.Context, id partner.ID, u partner.UserHash) (Entitled, error)
}

// Cover answers for insurance.
type Cover struct{ store CoverStore }

// NewCover joins the rules to a store.
func NewCover(store CoverStore) *Cover { return &Cover{store: store} }

// Origin says why a cover is in force for a person.
type Origin string

// The origins.
const (
	OriginSubscription Origin = "subscription"
	OriginDefault      Origin = "default"
	OriginDemo         Origin = "demo"
)

// ListCover returns everything that covers a person, best first, and why: the plans of their subscriptions in force,
// else the partner's default, else, at a sandbox partner, the demo's. A plan without coverage is passed over: it must
// not hide what the partner gives to everybody.
func (c *Cover) ListCover(ctx context.Context, who partner.Caller, u partner.UserHash) ([]Entitlement, Origin, error) {
	e, err := c.store.LoadEntitled(ctx, who.Partner, u)
	if err != nil {
		return nil, "", err
	}
	insuresNothing := func(e Entitlement) bool { return e.Coverage.IsNone() }
	e.Subscribed = slices.DeleteFunc(slices.Clone(e.Subscribed), insuresNothing)
	e.Default = slices.DeleteFunc(slices.Clone(e.Default), insuresNothing)
	list, subscribed := e.ListEntitlements()
	switch {
	case subscribed:
		return list, OriginSubscription, nil
	case len(list) > 0:
		return list, OriginDefault, nil
	case who.Mode.Has(partner.DemoCover):
		return []Entitlement{{Plan: plan.Plan{Coverage: plan.DemoCoverage()}}}, OriginDemo, nil
	}
	return nil, "", ErrCoverageNotFound.With("userhash", fault.NoPlanInForce)
}
