package api

import (
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// newAsset is the body of POST /cyber/monitoring and of POST /cyber/monitoring/extra.
type newAsset struct {
	Value string `json:"value"`
	Type  string `json:"type"`
	personBody
}

// assetItem is an element of GET /cyber/monitoring/{userhash} and of GET /cyber/monitoring/extra/{userhash}.
type assetItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Value  string `json:"value"`
	Status string `json:"status"`
}

// done is the answer of operations that only report success.
type done struct {
	Status      int    `json:"status"`
	Description string `json:"description"`
}

// addMonitoring watches a value of a kind that the contract allows.
func (s *Server) addMonitoring(r *request, in newAsset) (any, error) {
	return watchValue(r, in, cyber.ContractAdds)
}

// addExtraAsset watches a value of the extension's kinds.
func (s *Server) addExtraAsset(r *request, in newAsset) (any, error) {
	return watchValue(r, in, cyber.ExtraKinds)
}

// watchValue adds a value of a group's kinds.
func watchValue(r *request, in newAsset, group cyber.Group) (any, error) {
	added, err := r.rules.Monitoring.AddAsset(
		r.ctx,
		cyber.AssetRequest{Owner: r.assetOwner(), User: r.user, Group: group, Type: in.Type, Value: in.Value},
	)
	if err != nil {
		return nil, err
	}
	waiting := 0
	if added.Waits {
		waiting = 1
	}
	return encodeAdded(done{http.StatusOK, msgMonitoringAdded}, waiting)
}

// encodeAdded encodes the answer to values that were added. Its header tells how many of them wait for their first
// look; the contract's body has no member for it. A repeat of the request is told the same.
func encodeAdded(value any, waiting int) (partner.Answer, error) {
	answer, err := encodeAnswer(value)
	if waiting > 0 {
		answer.Headers = map[string]string{waitingHeader: strconv.Itoa(waiting)}
	}
	return answer, err
}

// assetOwner returns whose values the request adds.
func (r *request) assetOwner() cyber.Owner {
	return cyber.NewOwner(r.caller.Partner, r.caller.Mode, r.caller.Settings)
}

// listMonitoring answers with a person's watched values of the kinds in the contract.
func (s *Server) listMonitoring(r *request) (any, error) { return watchedOf(r, cyber.ContractShows) }

// listExtra answers with a person's watched values of the kinds beyond the contract.
func (s *Server) listExtra(r *request) (any, error) { return watchedOf(r, cyber.ExtraKinds) }

// watchedOf answers with a person's watched values of a group of kinds.
func watchedOf(r *request, group cyber.Group) (any, error) {
	assets, err := r.rules.Monitoring.ListAssets(
		r.ctx,
		cyber.AssetScope{Partner: r.caller.Partner, User: r.user, Group: group},
	)
	r.items = len(assets)
	if err != nil {
		return nil, err
	}
	items := showAll(assets, func(a cyber.Asset) assetItem {
		return assetItem{ID: string(a.ID), Type: a.Kind.String(), Value: a.Value, Status: string(a.Status)}
	})
	return items, r.tellLooks(cyber.CountLooks(assets)) // the contract's items have no member for it
}

// The headers tell how many values that an answer shows, counts or adds wait for their first look into past breaches,
// and those of a list also when the last of them will have had it.
const (
	waitingHeader = "x-first-looks-waiting"
	untilHeader   = "x-first-looks-until"
)

// tellLooks sets the headers that say on how many looks an answer rests.
func (r *request) tellLooks(looks cyber.PersonLooks) error {
	if looks.Waiting == 0 {
		return nil
	}
	status, err := r.rules.FirstLooks.LookStatusSince(r.ctx, r.caller.Partner, r.caller.Settings, looks.Newest)
	if err != nil {
		return err
	}
	r.reply.Set(waitingHeader, strconv.Itoa(looks.Waiting))
	if !status.Until.IsZero() { // the last of them may have got its token meanwhile
		r.reply.Set(untilHeader, status.Until.UTC().Format(alert.TimeFormat))
	}
	return nil
}

// tellLooksOfUser sets the headers for all values of the person whom the request names.
func (r *request) tellLooksOfUser() error {
	looks, err := r.rules.FirstLooks.CountLooksOf(r.ctx, r.caller.Partner, r.user)
	if err != nil {
		return err
	}
	return r.tellLooks(looks)
}

// removeMonitoring stops watching a value of a kind in the contract.
func (s *Server) removeMonitoring(r *request) (any, error) {
	return forgetValue(r, cyber.ContractShows)
}

// removeExtra stops watching a value of a kind beyond the contract.
func (s *Server) removeExtra(r *request) (any, error) { return forgetValue(r, cyber.ExtraKinds) }

// forgetValue ends the watch on a value of a group's kinds.
func forgetValue(r *request, group cyber.Group) (any, error) {
	err := r.rules.Monitoring.DeleteAsset(
		r.ctx,
		cyber.AssetScope{Partner: r.caller.Partner, User: r.user, Group: group},
		cyber.AssetID(r.id),
	)
	return done{http.StatusOK, msgMonitoringRemoved}, err
}

// assetList is the body of POST /cyber/assets. What is wrong with an item is the item's own affair.
type assetList struct {
	Items []jsontext.Value `json:"items"`
}

// assetsAdded is its answer. It names items by their index alone, so that the answer kept under an idempotency key
// holds no personal data.
type assetsAdded struct {
	Result   string          `json:"result"`
	Added    int             `json:"totalAdded"`
	NotAdded int             `json:"totalNotAdded"`
	Refused  []assetNotAdded `json:"notAdded"`
}

// assetNotAdded is a refused item of a list of values to watch, by its index in the request.
type assetNotAdded struct {
	Item   int    `json:"item"`
	Error  string `json:"error"`
	Detail string `json:"detail"`
}

// addAssets starts to watch a list of values. Items that are refused do not keep the others from being added.
func (s *Server) addAssets(r *request, in assetList) (any, error) {
	if len(in.Items) == 0 || len(in.Items) > cyber.MaxBulk {
		return nil, errBodyInvalid.With("items", fault.OneTo, cyber.MaxBulk)
	}
	if err := s.beginList(r, len(in.Items)); err != nil {
		return nil, err
	}
	return r.runIdempotently(func(rules *Rules) (any, error) { return watchEach(r, rules, in.Items) })
}

// watchEach watches the items and answers with each refusal, including items whose JSON could not be read.
func watchEach(r *request, rules *Rules, raw []jsontext.Value) (any, error) {
	items, broken := assetItems(raw)
	result, err := rules.Monitoring.AddAssets(r.ctx, r.assetOwner(), items)
	if err != nil {
		return nil, r.listStopped(result, err)
	}
	answer := assetsAdded{
		Result:   resultWord(result.Watched(), len(result.Refused)),
		Added:    result.Watched(),
		NotAdded: len(result.Refused),
		Refused:  make([]assetNotAdded, len(result.Refused)),
	}
	for i, f := range result.Refused {
		why := error(f.Why)
		if broken[f.Item] != nil {
			why = broken[f.Item]
		}
		answer.Refused[i] = assetNotAdded{f.Item, messageOf(why, r.route.area.statusOfFault(why)), errorDetail(why)}
	}
	return encodeAdded(answer, result.Waiting)
}

// errListStopped means that the service failed in the middle of a list of values.
var errListStopped = fault.New(fault.Unavailable, "assets.stopped")

// listStopped returns what a partner is told when the service failed on the way. With an idempotency key the list is
// one transaction, and nothing of it was kept.
func (r *request) listStopped(result cyber.BulkResult, err error) error {
	if r.claim.Key != "" || result.Decided == 0 {
		return err
	}
	return errListStopped.With("items", fault.ItemsDecided, result.Decided, result.Watched()).Because(err)
}

// assetItems reads the items. One that is none stays empty, which every rule refuses, and broken says what it is.
func assetItems(raw []jsontext.Value) (items []cyber.BulkItem, broken map[int]error) {
	items, broken = make([]cyber.BulkItem, len(raw)), map[int]error{}
	for i, text := range raw {
		var one newAsset
		err := jsonFault(json.Unmarshal(text, &one))
		if err == nil {
			err = refuseUnknownMembers(text, reflect.TypeFor[newAsset]())
		}
		if err != nil {
			broken[i] = err
			continue
		}
		items[i] = cyber.BulkItem{User: one.UserHash, Kind: one.Type, Value: one.Value}
	}
	return items, broken
}

// beginList lets a list of items in: each item is paid for, and a long list takes a slot.
func (s *Server) beginList(r *request, items int) error {
	if err := s.chargeItems(r, items); err != nil {
		return err
	}
	if items > lightList {
		return r.takeHeavySlot()
	}
	return nil
}

// findingItem is an element of GET /cyber/findings/{userhash}.
type findingItem struct {
	ID         string          `json:"id"`
	AssetID    string          `json:"assetId"`
	AssetType  string          `json:"assetType"`
	Breach     breachItem      `json:"breach"`
	Exposed    []cyber.Exposed `json:"exposed"`
	Basis      cyber.Basis     `json:"basis"`
	Sites      []string        `json:"sites,omitempty"`
	TakenOn    string          `json:"takenOn,omitempty"`
	OwnSite    bool            `json:"ownSite,omitzero"`
	Watched    bool            `json:"watchedSite,omitzero"`
	LeakedAs   []string        `json:"leakedAs,omitempty"`
	Severity   string          `json:"severity"`
	State      string          `json:"state"`
	FoundAt    string          `json:"foundAt"`
	ResolvedAt string          `json:"resolvedAt,omitempty"`
	Reason     string          `json:"reason,omitempty"`
}

// breachItem is the breach of a finding in short.
type breachItem struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Date  string `json:"date"`
	Kind  string `json:"kind"`
}

// formatDayOrNothing writes a day; nothing of one that is not known.
func formatDayOrNothing(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// resolution is the body of POST /cyber/findings/{id}/resolve.
type resolution struct {
	personBody
	Reason string `json:"reason"`
}

// listFindings answers with all findings of a person.
func (s *Server) listFindings(r *request) (any, error) {
	findings, err := r.rules.Monitoring.ListFindings(r.ctx, r.caller.Partner, r.user)
	r.items = len(findings)
	if err != nil {
		return nil, err
	}
	return showAll(findings, func(f cyber.Finding) findingItem {
		item := findingItem{
			ID:        string(f.ID),
			AssetID:   string(f.Asset),
			AssetType: f.Kind.String(),
			Exposed:   f.Breach.Exposes,
			Basis:     f.Basis(),
			Sites:     f.Trace.Sites,
			TakenOn:   formatDayOrNothing(f.Trace.TakenOn()),
			OwnSite:   f.OwnSite,
			Watched:   f.WatchedSite,
			LeakedAs:  f.LeakedAs(),
			Breach: breachItem{
				f.Breach.Name,
				f.Breach.Title,
				f.Breach.Date.Format(time.DateOnly),
				string(f.Breach.Kind),
			},
			Severity: string(f.Severity),
			State:    findingState(f),
			FoundAt:  f.FoundAt.Format(alert.TimeFormat),
		}
		if !f.Open() {
			item.ResolvedAt, item.Reason = f.ResolvedAt.Format(alert.TimeFormat), string(f.Resolution)
		}
		return item
	}), r.tellLooksOfUser()
}

// resolveFinding closes a finding for the reason in the body.
func (s *Server) resolveFinding(r *request, in resolution) (any, error) {
	err := r.rules.Monitoring.ResolveFinding(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id), in.Reason)
	return done{http.StatusOK, msgFindingResolved}, err
}

// findingPlan is the answer of GET /cyber/findings/{id}/plan/{userhash}.
type findingPlan struct {
	FindingID string     `json:"findingId"`
	State     string     `json:"state"`
	Language  string     `json:"language"`
	Remaining int        `json:"remaining"`
	Steps     []planStep `json:"steps"`
}

// planStep is a step that a person can take against a finding.
type planStep struct {
	ID        string `json:"id"`
	What      string `json:"what"`
	Why       string `json:"why"`
	Link      string `json:"link,omitempty"`
	Minutes   int    `json:"minutes"`
	Essential bool   `json:"essential"`
	DueAt     string `json:"dueAt"`
	State     string `json:"state"`
	MarkedAt  string `json:"markedAt,omitempty"`
}

// findingState returns the word of the API for whether a finding is still open.
func findingState(f cyber.Finding) string {
	if f.Open() {
		return "open"
	}
	return "resolved"
}

// showFindingPlan answers with the plan of a finding.
func (s *Server) showFindingPlan(r *request) (any, error) {
	in, err := r.requestedLanguage()
	if err != nil {
		return nil, err
	}
	plan, err := r.rules.Monitoring.GetFindingPlan(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id))
	return findingPlan{
		FindingID: string(plan.Finding.ID),
		State:     findingState(plan.Finding),
		Language:  string(in),
		Remaining: len(plan.Remaining()),
		Steps: showAll(plan.Steps, func(st cyber.PlannedStep) planStep {
			return planStep{
				ID:        string(st.ID),
				What:      st.What(in),
				Why:       st.Why(in),
				Link:      st.Link,
				Minutes:   st.Minutes,
				Essential: st.Essential,
				DueAt:     formatMoment(st.Due),
				State:     string(st.State),
				MarkedAt:  formatMoment(st.MarkedAt),
			}
		}),
	}, err
}

// requestedLanguage returns the language in which the request asks for texts.
func (r *request) requestedLanguage() (partner.Language, error) {
	asked := r.query["lang"]
	if len(asked) == 0 {
		return partner.Portuguese, nil
	}
	if len(asked) > 1 || asked[0] == "" {
		return "", errQueryInvalid.With("lang", fault.OneOf, "pt-BR, es, en")
	}
	return partner.ParseLanguage(asked[0])
}

// stepMark is the body of POST /cyber/findings/{id}/steps/{step}.
type stepMark struct {
	personBody
	State string `json:"state"`
}

// markFindingStep keeps what a person says of a step.
func (s *Server) markFindingStep(r *request, in stepMark) (any, error) {
	step, err := r.idInPath("step", cyber.ErrStepNotFound)
	if err != nil {
		return nil, err
	}
	_, err = r.rules.Monitoring.MarkPlanStep(
		r.ctx,
		r.caller.Partner,
		r.user,
		cyber.FindingID(r.id),
		cyber.StepID(step),
		cyber.StepState(in.State),
	)
	return done{http.StatusOK, msgStepMarked}, err
}

// rechecked is the state of a finding after it was checked again, with the steps that remain.
type rechecked struct {
	FindingID string         `json:"findingId"`
	State     string         `json:"state"`
	Reason    string         `json:"reason,omitempty"`
	Status    cyber.Status   `json:"status"`
	Remaining []cyber.StepID `json:"remaining"`
}

// recheckFinding checks a finding again, to see whether the person's steps have settled it.
func (s *Server) recheckFinding(r *request, _ personBody) (any, error) {
	now, err := r.rules.Monitoring.RecheckFinding(r.ctx, r.caller.Partner, r.user, cyber.FindingID(r.id))
	return rechecked{
		FindingID: string(now.Finding.ID),
		State:     findingState(now.Finding),
		Reason:    string(now.Finding.Resolution),
		Status:    now.Status,
		Remaining: showAll(now.Remaining(), func(st cyber.PlannedStep) cyber.StepID { return st.ID }),
	}, err
}
