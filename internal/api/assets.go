package api

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
)

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
func (s *Server) addAssets(r *request) (any, error) {
	var in assetList
	if err := r.decodeBody(&in); err != nil {
		return nil, err
	}
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
