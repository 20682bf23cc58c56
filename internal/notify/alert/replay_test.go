package alert

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// history is a store with ten events, one delivery and one attempt.
type history struct {
	keptEvents
	requeued int
	shown    int
}

func (h *history) RequeueDeliveries(context.Context, partner.ID, Selection) (int64, error) {
	h.requeued++
	return 7, nil
}

func (h *history) Deliveries(context.Context, partner.ID, EventID) ([]DeliveryStatus, error) {
	return []DeliveryStatus{{Seq: 1}}, h.fails
}

func (h *history) ListAttempts(context.Context, partner.ID, EventID) ([]AttemptLog, error) {
	return []AttemptLog{{Status: 500}}, nil
}

func (h *history) EventReport(_ context.Context, _ partner.ID, of ReportOf) (Report, error) {
	h.shown = of.Show
	return Report{Events: 10}, nil
}

// onlyPartner knows one partner.
type onlyPartner partner.ID

func (p onlyPartner) PartnerByID(_ context.Context, id partner.ID) (partner.Partner, error) {
	if id != partner.ID(p) {
		return partner.Partner{}, partner.ErrNotFound
	}
	return partner.Partner{}, nil
}

// TestReplaySelection: exactly one way of naming what is pushed again, and a window that is one.
func TestReplaySelection(t *testing.T) {
	for name, c := range map[string]struct {
		s  Selection
		ok bool
	}{
		"nothing":               {Selection{}, false},
		"only an endpoint":      {Selection{Endpoint: "e"}, false},
		"an event":              {Selection{Event: "evt_1"}, true},
		"all failed":            {Selection{Failed: true}, true},
		"a window":              {Selection{From: noon, To: noon.Add(time.Hour)}, true},
		"since":                 {Selection{From: noon}, true},
		"until":                 {Selection{To: noon}, true},
		"an event and failed":   {Selection{Event: "evt_1", Failed: true}, false},
		"an event and a window": {Selection{Event: "evt_1", From: noon}, false},
		"all three":             {Selection{Event: "evt_1", From: noon, Failed: true}, false},
		"an empty window":       {Selection{From: noon, To: noon}, false},
		"a window backwards":    {Selection{From: noon.Add(time.Hour), To: noon}, false},
	} {
		h := &history{}
		n, err := NewHistory(h, onlyPartner("p")).ReplayEvents(t.Context(), "p", c.s)
		if c.ok && (err != nil || n != 7 || h.requeued != 1) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if !c.ok && (!errors.Is(err, ErrReplay) || h.requeued != 0) {
			t.Errorf("%s: not refused: %v", name, err)
		}
	}
}

// TestHistory: what the operator asks about events is answered for partners there are.
func TestHistory(t *testing.T) {
	h := &history{keptEvents: keptEvents{seqs: []int64{1, 2, 3}, newest: 3}}
	rules := NewHistory(h, onlyPartner("p"))
	if list, err := rules.ListEvents(t.Context(), "p", 1, 10); err != nil || len(list) != 2 {
		t.Errorf("%d events: %v", len(list), err)
	}
	if list, err := rules.ListEvents(t.Context(), "p", 0, 0); err != nil || len(list) != 1 {
		t.Errorf("a page of none has %d events: %v", len(list), err)
	}
	if r, err := rules.ReportEvents(
		t.Context(),
		"p",
		ReportOf{From: noon, To: noon.Add(time.Hour), Show: 5},
	); err != nil || r.Events != 10 ||
		h.shown != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	if list, tries, err := rules.Deliveries(
		t.Context(),
		"p",
		"evt_1",
	); err != nil || len(list) != 1 ||
		len(tries) != 1 {
		t.Errorf("%v %v %v", list, tries, err)
	}
	for name, ask := range map[string]func() error{
		"events": func() error { _, err := rules.ListEvents(t.Context(), "x", 0, 10); return err },
		"report": func() error { _, err := rules.ReportEvents(t.Context(), "x", ReportOf{Show: 5}); return err },
		"replay": func() error { _, err := rules.ReplayEvents(t.Context(), "x", Selection{Failed: true}); return err },
	} {
		if err := ask(); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("%s of a partner that there is not: %v", name, err)
		}
	}
	h.fails = errAway
	if _, _, err := rules.Deliveries(t.Context(), "p", "evt_1"); !errors.Is(err, errAway) {
		t.Errorf("without a database: %v", err)
	}
}

func (h *history) EndpointHealth(context.Context, partner.ID, EndpointID) (Health, error) {
	return Health{}, nil
}
