package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// eventPage is the answer of GET /events.
type eventPage struct {
	Events  []eventItem `json:"events"`
	Next    string      `json:"next"`
	HasMore bool        `json:"hasMore"`
}

// eventItem is an event in the list of events.
type eventItem struct {
	ID string `json:"id"`
	// Body is what is pushed, byte for byte.
	Body jsontext.Value `json:"body"`
}

// defaultEventLimit is the length of a page of events where the request does not say.
const defaultEventLimit = 100

// listEvents answers with the events after a cursor, at most limit of them, and the cursor to go on with; or with the
// newest ones.
func (s *Server) listEvents(r *request) (any, error) {
	cursors := r.query["after"]
	if len(cursors) > 1 || len(cursors) == 1 && cursors[0] == "" {
		return nil, alert.ErrCursor.With("after", fault.OneCursor)
	}
	cursor := ""
	if len(cursors) == 1 {
		cursor = cursors[0]
	}
	limit, err := r.countInQuery("limit", defaultEventLimit)
	if err != nil {
		return nil, err
	}
	most := int(min(limit, alert.MaxPage))
	if err := r.beginRead(most); err != nil {
		return nil, err
	}
	newest, err := r.flagInQuery("newest")
	if err != nil {
		return nil, err
	}
	if newest && cursor != "" {
		return nil, alert.ErrCursor.With("after", fault.NotWithNewest)
	}
	var page alert.Page
	if newest {
		page.Events, err = r.rules.Events.ReadNewest(r.ctx, r.caller.Partner, readableBy(r.caller), most)
	} else {
		page, err = r.rules.Events.ReadPage(r.ctx, r.caller.Partner, readableBy(r.caller), cursor, most)
	}
	r.items = len(page.Events)
	if page.Skipped {
		r.reply.Set("x-truncated", "true")
	}
	events := showAll(page.Events, func(e alert.Kept) eventItem { return eventItem{ID: string(e.ID), Body: e.Body} })
	return eventPage{Events: events, Next: page.Next, HasMore: page.HasMore}, err
}
