package api

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/platform/fault"
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
