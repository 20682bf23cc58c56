package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/alert"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
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
	_, err := r.rules.Monitoring.AddAsset(r.ctx, cyber.AssetRequest{Owner: r.assetOwner(), User: r.user, Group: group, Type: in.Type, Value: in.Value})
	return done{http.StatusOK, msgMonitoringAdded}, err
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
	assets, err := r.rules.Monitoring.ListAssets(r.ctx, cyber.AssetScope{Partner: r.caller.Partner, User: r.user, Group: group})
	r.items = len(assets)
	var waiting int
	var newest time.Time
	items := showAll(assets, func(a cyber.Asset) assetItem {
		if a.Waits {
			waiting, newest = waiting+1, a.AddedAt
		}
		return assetItem{ID: string(a.ID), Type: a.Kind.String(), Value: a.Value, Status: string(a.Status)}
	})
	if err != nil || waiting == 0 {
		return items, err
	}
	// The contract's items have no member for it.
	status, err := r.rules.FirstLooks.LookStatusSince(r.ctx, r.caller.Partner, r.caller.Settings, newest)
	if err != nil {
		return nil, err
	}
	r.reply.Set(waitingHeader, strconv.Itoa(waiting))
	if !status.Until.IsZero() {
		r.reply.Set(untilHeader, status.Until.UTC().Format(alert.TimeFormat))
	}
	return items, nil
}

// The headers of a list tell how many of its values wait for their first look into past breaches, and when the last of
// them will have had it.
const (
	waitingHeader = "x-first-looks-waiting"
	untilHeader   = "x-first-looks-until"
)

// removeMonitoring stops watching a value of a kind in the contract.
func (s *Server) removeMonitoring(r *request) (any, error) {
	return forgetValue(r, cyber.ContractShows)
}

// removeExtra stops watching a value of a kind beyond the contract.
func (s *Server) removeExtra(r *request) (any, error) { return forgetValue(r, cyber.ExtraKinds) }

// forgetValue ends the watch on a value of a group's kinds.
func forgetValue(r *request, group cyber.Group) (any, error) {
	err := r.rules.Monitoring.DeleteAsset(r.ctx, cyber.AssetScope{Partner: r.caller.Partner, User: r.user, Group: group}, cyber.AssetID(r.id))
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
	end, err := s.beginList(r, len(in.Items))
	if err != nil {
		return nil, err
	}
	defer end()
	return r.runIdempotently(func(rules *Rules) (any, error) { return watchEach(r, rules, in.Items) })
}

// watchEach watches the items and answers with each refusal, including items whose JSON could not be read.
func watchEach(r *request, rules *Rules, raw []jsontext.Value) (any, error) {
	items, broken := assetItems(raw)
	taken, refused, err := rules.Monitoring.AddAssets(r.ctx, r.assetOwner(), items)
	if err != nil {
		return nil, err
	}
	answer := assetsAdded{Result: resultWord(taken, len(refused)), Added: taken, NotAdded: len(refused), Refused: make([]assetNotAdded, len(refused))}
	for i, f := range refused {
		why := error(f.Why)
		if broken[f.Item] != nil {
			why = broken[f.Item]
		}
		answer.Refused[i] = assetNotAdded{f.Item, messageOf(why, r.route.area.statusOfFault(why)), errorDetail(why)}
	}
	return answer, nil
}

// assetItems reads the items. One that is none stays empty, which every rule refuses, and broken says what it is.
func assetItems(raw []jsontext.Value) (items []cyber.BulkItem, broken map[int]error) {
	items, broken = make([]cyber.BulkItem, len(raw)), map[int]error{}
	for i, text := range raw {
		var one newAsset
		if err := json.Unmarshal(text, &one); err != nil {
			broken[i] = jsonFault(err)
			continue
		}
		items[i] = cyber.BulkItem{User: one.UserHash, Kind: one.Type, Value: one.Value}
	}
	return items, broken
}

// beginList lets a list of items in: few at once for each partner, each item paid for, a long one in a slot.
func (s *Server) beginList(r *request, items int) (end func(), err error) {
	pass, err := s.works.enterBulk(r.caller.Partner, int64(len(r.body)))
	if err != nil {
		return nil, err
	}
	if err := s.chargeItems(r, items); err != nil {
		pass.leaveBulk()
		return nil, err
	}
	if items > lightList {
		if err := r.takeHeavySlot(); err != nil {
			pass.leaveBulk()
			return nil, err
		}
	}
	return pass.leaveBulk, nil
}
