package alert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// oneEndpoint is a store with room for one endpoint.
type oneEndpoint struct {
	e       Endpoint
	limit   int
	until   time.Time // of the claim of a test
	event   Event
	results []Result
	refuses error // ClaimTest
}

func (s *oneEndpoint) InsertEndpoint(_ context.Context, _ partner.ID, e Endpoint, limit int) error {
	s.e, s.limit = e, limit
	return nil
}

func (s *oneEndpoint) ListEndpoints(context.Context, partner.ID) ([]Endpoint, error) {
	return []Endpoint{s.e}, nil
}

func (s *oneEndpoint) EndpointByID(_ context.Context, id partner.ID, endpoint EndpointID) (Endpoint, error) {
	if id != s.e.Partner || endpoint != s.e.ID {
		return Endpoint{}, ErrEndpointNotFound
	}
	return s.e, nil
}

func (s *oneEndpoint) EndpointOwner(_ context.Context, endpoint EndpointID) (partner.ID, error) {
	if endpoint != s.e.ID {
		return "", ErrEndpointNotFound
	}
	return s.e.Partner, nil
}

func (s *oneEndpoint) FollowEndpoint(context.Context, partner.ID, EndpointID, EndpointState) error {
	return nil
}

func (s *oneEndpoint) UpdateEndpoint(
	_ context.Context,
	_ partner.ID,
	_ EndpointID,
	change func(*Endpoint) error,
) (Endpoint, error) {
	e := s.e
	if err := change(&e); err != nil {
		return Endpoint{}, err
	}
	s.e = e
	return e, nil
}

func (s *oneEndpoint) DeleteEndpoint(context.Context, partner.ID, EndpointID) error {
	s.e = Endpoint{}
	return nil
}

func (s *oneEndpoint) ClaimTest(
	_ context.Context,
	id partner.ID,
	endpoint EndpointID,
	until time.Time,
	e Event,
) (Delivery, error) {
	s.until, s.event = until, e
	return Delivery{Partner: id, Endpoint: endpoint, Event: e.ID, Body: []byte("{}")}, s.refuses
}

func (s *oneEndpoint) RecordResults(_ context.Context, _ string, results []Result) error {
	s.results = append(s.results, results...)
	return nil
}

type guard struct{ err error }

func (g guard) CheckTargetURL(context.Context, string) error { return g.err }

func newEndpoint(t *testing.T) (*Endpoints, *oneEndpoint, *time.Time) {
	t.Helper()
	now := noon
	s := &oneEndpoint{}
	rules := NewEndpoints(s, func() time.Time { return now }, nil)
	if _, err := rules.CreateEndpoint(
		t.Context(),
		"p",
		"https://partner.example/hook",
		[]string{"webhook.test"},
		guard{},
	); err != nil {
		t.Fatal(err)
	}
	return rules, s, &now
}

// TestCreateEndpoint: a new endpoint is enabled, has keys of its own, and is refused before anything is kept.
func TestCreateEndpoint(t *testing.T) {
	rules, s, _ := newEndpoint(t)
	e := s.e
	if !strings.HasPrefix(string(e.ID), "whe_") || len(e.Types) != 1 {
		t.Errorf("%+v", e)
	}
	want := e
	want.Partner, want.State, want.CreatedAt = "p", Enabled, noon
	difftest.Check(t, "the new endpoint", e, want)
	difftest.Check(t, "how many a partner may have", s.limit, 50)
	if e.Secret() == "" || len(e.PublicKeys(noon)) != 1 {
		t.Errorf("%d keys: it cannot sign in both ways", len(e.Keys))
	}
	other, err := rules.CreateEndpoint(t.Context(), "p", "https://partner.example/hook", nil, guard{})
	if err != nil || other.ID == e.ID || other.Secret() == e.Secret() {
		t.Errorf("a second endpoint shares id or secret with the first: %v", err)
	}
	s.e = Endpoint{}
	if _, err := rules.CreateEndpoint(
		t.Context(),
		"p",
		"https://partner.example/hook",
		[]string{"case.closed"},
		guard{},
	); !errors.Is(err, ErrTypes) ||
		s.e.ID != "" {
		t.Errorf("a type that there is not: %v", err)
	}
	if _, err := rules.CreateEndpoint(
		t.Context(),
		"p",
		"https://127.0.0.1/",
		nil,
		guard{webhook.ErrURL},
	); !errors.Is(err, webhook.ErrURL) ||
		s.e.ID != "" {
		t.Errorf("an address that may not be called: %v", err)
	}
	for have := range 4 { // randomness that runs dry in the middle of either key
		short := NewEndpoints(s, func() time.Time { return noon }, bytes.NewReader(make([]byte, 16*have)))
		if _, err := short.CreateEndpoint(
			t.Context(),
			"p",
			"https://partner.example/hook",
			nil,
			guard{},
		); err == nil ||
			s.e.ID != "" {
			t.Errorf("keys were made of %d random bytes", 16*have)
		}
	}
}

// TestRotateEndpoint: old keys sign beside the new ones for the overlap, and no longer.
func TestRotateEndpoint(t *testing.T) {
	rules, s, now := newEndpoint(t)
	old := s.e.Secret()
	e, err := rules.RotateKeys(t.Context(), "p", s.e.ID, time.Hour)
	if err != nil || e.Secret() == old || len(e.Keys.LiveKeys(noon)) != 4 ||
		len(e.PublicKeys(noon.Add(time.Hour))) != 1 {
		t.Errorf("%d keys sign: %v", len(e.Keys.LiveKeys(noon)), err)
	}
	keys, err := rules.PublicKeys(t.Context(), e.ID)
	if err != nil || len(keys) != 2 {
		t.Errorf("%d public keys during the overlap: %v", len(keys), err)
	}
	*now = noon.Add(time.Hour)
	if keys, err = rules.PublicKeys(t.Context(), e.ID); err != nil || len(keys) != 1 {
		t.Errorf("%d public keys after the overlap: %v", len(keys), err)
	}
	if _, err := rules.PublicKeys(t.Context(), "whe_other"); !errors.Is(err, ErrEndpointNotFound) {
		t.Errorf("keys of an endpoint that there is not: %v", err)
	}
	for _, overlap := range []time.Duration{-1, maxOverlap + 1} {
		if _, err := rules.RotateKeys(
			t.Context(),
			"p",
			e.ID,
			overlap,
		); !errors.Is(err, webhook.ErrKey) ||
			len(s.e.Keys) != 4 {
			t.Errorf("an overlap of %v: %v, %d keys", overlap, err, len(s.e.Keys))
		}
	}
	for range 4 {
		_, err = rules.RotateKeys(t.Context(), "p", e.ID, time.Hour)
	}
	if err != nil {
		t.Error(err)
	}
	if _, err = rules.RotateKeys(
		t.Context(),
		"p",
		e.ID,
		time.Hour,
	); !errors.Is(err, webhook.ErrTooMany) ||
		len(s.e.Keys) != 10 {
		t.Errorf("a sixth key beside five that were promised to live: %v, %d", err, len(s.e.Keys))
	}
}

// TestSwitchEndpoint: off by hand, on again, and gone.
func TestSwitchEndpoint(t *testing.T) {
	rules, s, _ := newEndpoint(t)
	id := s.e.ID
	if e, err := rules.DisableEndpoint(
		t.Context(),
		"p",
		id,
	); err != nil || e.State != Disabled ||
		e.Reason != ByOperator {
		t.Errorf("%s %s %v", e.State, e.Reason, err)
	}
	if e, err := rules.EnableEndpoint(t.Context(), "p", id); err != nil || e.State != Enabled || e.Reason != "" {
		t.Errorf("%s %s %v", e.State, e.Reason, err)
	}
	if e, err := rules.FindEndpoint(t.Context(), id); err != nil || e.ID != id {
		t.Errorf("%s %v", e.ID, err)
	}
	if list, err := rules.ListEndpoints(t.Context(), "p"); err != nil || len(list) != 1 {
		t.Errorf("%d %v", len(list), err)
	}
	if err := rules.DeleteEndpoint(t.Context(), "p", id); err != nil {
		t.Error(err)
	}
	if _, err := rules.FindEndpoint(t.Context(), id); !errors.Is(err, ErrEndpointNotFound) {
		t.Errorf("after it was deleted: %v", err)
	}
}

// TestTestEndpoint: whoever tests an endpoint sees what came of the one try, and so does the record.
func TestTestEndpoint(t *testing.T) {
	for status, want := range map[int]DeliveryState{http.StatusOK: Delivered, http.StatusInternalServerError: DeliveryFailed, http.StatusGone: DeliveryFailed} {
		rules, s, _ := newEndpoint(t)
		outcome, event, err := rules.SendTestEvent(
			t.Context(),
			"p",
			s.e.ID,
			WebhookTest,
			&http.Client{Transport: answer(status)},
		)
		if err != nil || len(s.results) != 1 {
			t.Fatalf("%d: %+v, %v", status, s.results, err)
		}
		type tested struct {
			status   int
			event    EventID
			kind     Type
			state    DeliveryState
			attempts int
			until    time.Time
		}
		difftest.Check(
			t,
			fmt.Sprint(status),
			tested{outcome.Status, event, s.event.Type, s.results[0].State, s.results[0].Attempts, s.until},
			tested{status, s.event.ID, WebhookTest, want, 1, noon.Add(30 * time.Second)},
		)
	}
	rules, s, _ := newEndpoint(t)
	var sent []byte
	keep := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent, _ = io.ReadAll(r.Body)
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})}
	if _, _, err := rules.SendTestEvent(t.Context(), "p", s.e.ID, CaseRated, keep); err != nil {
		t.Fatal(err)
	}
	body, err := s.event.MarshalBody()
	if err != nil || !strings.Contains(string(body), `"type":"webhook.test"`) ||
		!strings.Contains(string(body), `"data":{"sampleOf":"case.rated"}`) {
		t.Errorf("kept as %s, %v", body, err)
	}
	told, err := SentBody(Kept{Type: s.event.Type, At: s.event.At, Body: body})
	if err != nil || string(told) != string(sent) || !strings.Contains(string(sent), `"type":"case.rated"`) {
		t.Errorf("told %s, %v\nsent %s", told, err, sent)
	}

	rules, s, _ = newEndpoint(t)
	client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, errAway
	})}
	if _, _, err := rules.SendTestEvent(t.Context(), "other", s.e.ID, WebhookTest, client); !errors.Is(err, ErrEndpointNotFound) {
		t.Errorf("somebody else's endpoint: %v", err)
	}
	s.refuses = errAway
	if _, _, err := rules.SendTestEvent(
		t.Context(),
		"p",
		s.e.ID,
		WebhookTest,
		client,
	); !errors.Is(err, errAway) ||
		len(s.results) != 0 {
		t.Errorf("without a database: %v", err)
	}
}
