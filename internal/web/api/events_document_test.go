package api

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// mailbox is a partner's receiver: it keeps the bodies by the id of their event.
type mailbox struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string]string
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	m := &mailbox{bodies: map[string]string{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.bodies[r.Header.Get("webhook-id")] = string(body)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *mailbox) received() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.bodies)
}

var loopback = webhook.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})

// happenings cause every event that the service can tell of, each through the operation or the operator's command that
// causes it.
func (s *service) happenings(t *testing.T, endpoint alert.EndpointID) {
	t.Helper()
	ctx := context.Background()
	user, mail := hashOf("acontecimentos"), "ana@exemplo.com.br"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	accepted := func(method, path, body string, into any) {
		t.Helper()
		mustDecode(t, s.as(t, s.Live, method, path, body), into)
	}
	s.plan(t, s.Live, "p")
	accepted(
		http.MethodPost,
		"/v1/subscriptions",
		"["+itemOf(1, `"partner_internal_id":"contrato-1",`)+","+itemOf(2, "")+"]",
		new(any),
	)
	// A leak, and its end.
	accepted(
		http.MethodPost,
		"/v1/cyber/monitoring",
		fmt.Sprintf(`{"value":%q,"type":"email","userHash":%q}`, mail, user),
		new(any),
	)
	must((&transcript{s: s}).leak(t, []string{"loja", "2026-10-01", "email,password", "email=" + mail}))
	// The operator stops first looks and lets them go on.
	for _, perHour := range []int{partner.NoFirstLooks, partner.LooksBySize} {
		_, err := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil).UpdatePartner(ctx, s.Live.ID,
			func(p *partner.Partner) { p.Settings.FirstLooksPerHour = perHour })
		must(err)
		_, err = cyber.NewFirstLooks(s.Store.Monitoring, s.Store.Partners, s.Clock.Now).ReviewLooks(ctx)
		must(err)
	}
	var found []struct{ ID string }
	accepted(http.MethodGet, "/v1/cyber/findings/"+user, "", &found)
	s.Clock.Advance(13 * time.Hour) // a step of a day is reminded of at half time
	told, err := s.Store.Monitoring.RemindSteps(ctx, cyber.ReminderOf)
	if must(err); told != 1 {
		t.Fatal("reminded of", told)
	}
	accepted(
		http.MethodPost,
		"/v1/cyber/findings/"+found[0].ID+"/resolve",
		fmt.Sprintf(`{"userHash":%q,"reason":"password_changed"}`, user),
		new(any),
	)
	// A case that moves.
	accepted(
		http.MethodPost,
		"/v1/cyber/case",
		fmt.Sprintf(`{"serviceId":"sv_ajuda_phishing","userHash":%q}`, user),
		new(any),
	)
	cases := cyber.NewCases(s.Store.Cases, s.Clock.Now)
	list, err := cases.ListCases(ctx, cyber.CaseFilter{Partner: s.Live.ID, Limit: 1})
	must(err)
	_, err = cases.MoveCase(ctx, list[0].ID, cyber.CaseInProgress, "bruna", "")
	must(err)
	// And one that is talked about, moved to another time and rated.
	_, err = cases.AddReply(ctx, list[0].ID, "bruna", "Olá")
	must(err)
	slot := s.Clock.Now().Add(time.Hour)
	_, err = cases.AddFreeSlots(ctx, list[0].Service, "", []time.Time{slot})
	must(err)
	_, err = cases.RebookCase(
		ctx,
		cyber.CaseKey{ID: list[0].ID, Partner: s.Live.ID, User: partner.UserHash(user)},
		"",
		[]time.Time{slot},
	)
	must(err)
	_, err = cases.MoveCase(ctx, list[0].ID, cyber.CaseResolved, "bruna", "")
	must(err)
	accepted(
		http.MethodPost,
		"/v1/cyber/case/"+string(list[0].ID)+"/rate",
		fmt.Sprintf(`{"userHash":%q,"rating":5}`, user),
		new(any),
	)
	// A key that is activated, moved, and ends soon.
	key := s.eppKeyOf(t, s.Live, user)
	accepted(http.MethodPost, "/v1/cyber/epp/"+key+"/activate", "{}", new(any))
	accepted(
		http.MethodPost,
		"/v1/cyber/epp/"+key+"/move",
		fmt.Sprintf(`{"operatingSystem":"ios","deviceName":"b","userHash":%q}`, user),
		new(any),
	)
	s.Clock.Advance(336 * 24 * time.Hour)
	_, err = cyber.NewEndpoints(s.Store.Devices, s.Clock.Now, nil).GiveNotices(ctx)
	must(err)
	// The steps of subscriptions, with and without a reference of the partner's own.
	subscriptions := subscription.NewRegistry(s.Store.Subscriptions, s.Store.Plans, s.Store.Partners, s.Clock.Now)
	for n := range 2 {
		for _, move := range []subscription.Move{subscription.Suspend, subscription.Resume, subscription.End} {
			_, err = subscriptions.MoveSubscriptions(
				ctx,
				s.Live.ID,
				subscription.Selection{Plan: "p", CPF: cpfOf(n + 1)},
				move,
			)
			must(err)
		}
	}
	// An erasure that is carried out, one that is cancelled, and one that is still open.
	s.erasureOf(t, s.Live, "apagada")
	s.Clock.Advance(subject.ErasureDelay)
	must(s.runErasures(ctx))
	accepted(http.MethodDelete, "/v1/erasures/"+s.erasureOf(t, s.Live, "fica"), "", new(any))
	s.erasureOf(t, s.Live, "espera")
	_, _, err = alert.NewEndpoints(s.Store.Alerts, s.Clock.Now, nil).SendTestEvent(ctx, s.Live.ID, endpoint, alert.WebhookTest, loopback.NewClient(webhook.ClientOptions{}))
	must(err)
}

// TestEventsAreWhatTheDocumentSays causes every type of event for real and holds what is read and what is pushed
// against the document and the client: the same bytes, the schema of the type, no member that a client's struct would
// lose. A type without a cause here, or without a schema, fails.
func TestEventsAreWhatTheDocumentSays(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		box := newMailbox(t)
		endpoint, err := alert.NewEndpoints(s.Store.Alerts, s.Clock.Now, nil).CreateEndpoint(context.Background(), s.Live.ID, box.URL, nil, loopback)
		if err != nil {
			t.Fatal(err)
		}
		s.happenings(t, endpoint.ID)
		var page eventsWire
		mustDecode(t, s.as(t, s.Live, http.MethodGet, "/v1/events?limit=1000", ""), &page)
		pushed := s.pushAll(t, box, len(page.Events))
		seen := map[string]int{}
		for _, e := range page.Events {
			if pushed[e.ID] != string(e.Body) {
				t.Errorf("read  %s\npushed %s", e.Body, pushed[e.ID])
			}
			var body struct{ Type string }
			if err := json.Unmarshal(e.Body, &body); err != nil {
				t.Fatal(err)
			}
			seen[body.Type]++
			if err := documentedEvent(s.contract, body.Type, e.Body); err != nil {
				t.Errorf("%s: %v\n%s", body.Type, err, e.Body)
			}
			if err := clientKeeps(body.Type, e.Body); err != nil {
				t.Errorf("%s: %v\n%s", body.Type, err, e.Body)
			}
		}
		for _, kind := range alert.Types {
			if seen[string(kind)] == 0 {
				t.Errorf("nothing here causes a %s", kind)
			}
		}
		documented := slices.Sorted(maps.Keys(s.contract.doc.Webhooks))
		if told := slices.Sorted(maps.Keys(seen)); !slices.Equal(told, documented) {
			t.Errorf("events %v, documented %v", told, documented)
		}
	})
}

// TestSamplesAreWhatTheDocumentSays: a test of any type pushes the body that an event of it has, about the one made-up
// person, and leaves nothing but a webhook.test in the feed.
func TestSamplesAreWhatTheDocumentSays(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		box := newMailbox(t)
		var made webhookSecret
		s.as(t, s.Live, http.MethodPost, "/v1/webhooks", fmt.Sprintf(`{"url":%q,"types":["case.rated"]}`, box.URL)).into(t, &made)
		secret(made.Secret)
		for _, kind := range alert.Types {
			var try webhookTry
			s.as(t, s.Live, http.MethodPost, "/v1/webhooks/"+made.ID+"/test", fmt.Sprintf(`{"type":%q}`, kind)).into(t, &try)
			body := []byte(box.received()[try.EventID])
			if err := errors.Join(
				documentedEvent(s.contract, string(kind), body),
				clientKeeps(string(kind), body),
			); err != nil {
				t.Errorf("%s: %v\n%s", kind, err, body)
			}
			if !strings.Contains(string(body), `"type":"`+string(kind)+`"`) ||
				strings.Contains(string(body), "userHash") &&
					!strings.Contains(string(body), string(alert.SampleUser)) {
				t.Errorf("%s: %s", kind, body)
			}
			if len(body) < 90 && kind != alert.WebhookTest && kind != alert.FirstLooksChanged {
				t.Errorf("%s carries nothing: %s", kind, body)
			}
		}
		var page eventsWire
		mustDecode(t, s.as(t, s.Live, http.MethodGet, "/v1/events?limit=1000", ""), &page)
		for _, e := range page.Events {
			if !strings.Contains(string(e.Body), `"type":"webhook.test"`) {
				t.Errorf("kept: %s", e.Body)
			}
		}
		if len(page.Events) != len(alert.Types) {
			t.Errorf("%d events are kept", len(page.Events))
		}
		if got := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/webhooks/"+made.ID+"/test",
			`{"type":"case.closed"}`,
		); got.status != http.StatusBadRequest {
			t.Error(got.status, got.body)
		}
	})
}

// TestEveryEventCanBeAskedFor: a webhook can name every type of event, also through a client that is made of the
// document.
func TestEveryEventCanBeAskedFor(t *testing.T) {
	var named, all []string
	for _, word := range loadContract(t).doc.Components.Schemas["EventType"].Value.Enum {
		named = append(named, fmt.Sprint(word))
	}
	for _, kind := range alert.Types {
		all = append(all, string(kind))
	}
	slices.Sort(named)
	slices.Sort(all)
	if !slices.Equal(named, all) {
		t.Errorf("a webhook can name %v of %v", named, all)
	}
}

// TestEventsNamePeopleAsThePartnerDid: an event spells the user hash as the last request that wrote did, whatever it
// was about and in whichever spelling; before the first, as 512 bits in hex. Reading names nobody.
func TestEventsNamePeopleAsThePartnerDid(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		if got := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/subscriptions",
			"["+itemOf(1, "")+"]",
		); got.status != http.StatusOK {
			t.Fatal(got.body)
		}
		d256, d512 := partner.PersonDigests(cpfOf(1), s.Live.Salt)
		spelt := []string{
			hex.EncodeToString(d256[1:]),
			strings.ToUpper(hex.EncodeToString(d512[1:])),
			base64.RawURLEncoding.EncodeToString(d256[1:]),
			base64.URLEncoding.EncodeToString(d512[1:]),
		}
		secret(spelt...)
		subscriptions := subscription.NewRegistry(s.Store.Subscriptions, s.Store.Plans, s.Store.Partners, s.Clock.Now)
		cursor, move := "", subscription.Suspend
		// next causes an event about the person and tells how it names them.
		next := func() string {
			t.Helper()
			if _, err := subscriptions.MoveSubscriptions(
				context.Background(),
				s.Live.ID,
				subscription.Selection{Plan: "p", CPF: cpfOf(1)},
				move,
			); err != nil {
				t.Fatal(err)
			}
			move = subscription.Suspend + subscription.Resume - move
			for {
				var page eventsWire
				mustDecode(t, s.as(t, s.Live, http.MethodGet, "/v1/events"+cursor, ""), &page)
				cursor = "?after=" + page.Next
				if n := len(page.Events); n > 0 && !page.HasMore {
					var body struct{ Data struct{ UserHash string } }
					if err := json.Unmarshal(page.Events[n-1].Body, &body); err != nil {
						t.Fatal(err)
					}
					return body.Data.UserHash
				}
			}
		}
		if got, want := next(), hex.EncodeToString(d512[1:]); got != want {
			t.Errorf("never named: %s, want %s", got, want)
		}
		var asset []struct{ ID string }
		var found []struct{ ID string }
		for i, step := range []struct {
			name string
			send func(user string) (method, path, body string)
		}{
			{"a value", func(user string) (string, string, string) {
				return http.MethodPost, "/v1/cyber/monitoring", fmt.Sprintf(`{"value":"ana@exemplo.com.br","type":"email","userHash":%q}`, user)
			}},
			{"the same value again", func(user string) (string, string, string) {
				return http.MethodPost, "/v1/cyber/monitoring", fmt.Sprintf(`{"value":"ana@exemplo.com.br","type":"email","userHash":%q}`, user)
			}},
			{"a case", func(user string) (string, string, string) {
				return http.MethodPost, "/v1/cyber/case", fmt.Sprintf(`{"serviceId":"sv_ajuda_phishing","userHash":%q}`, user)
			}},
			{"a device", func(user string) (string, string, string) {
				return http.MethodPost, "/v1/cyber/epp", fmt.Sprintf(`{"operatingSystem":"android","type":"antivirus","deviceName":"a","userHash":%q}`, user)
			}},
			{"the same device", func(user string) (string, string, string) {
				return http.MethodPost, "/v1/cyber/epp", fmt.Sprintf(`{"operatingSystem":"android","type":"antivirus","deviceName":"a","userHash":%q}`, user)
			}},
			{"a resolved finding", func(user string) (string, string, string) {
				if err := (&transcript{s: s}).leak(t, []string{"loja", "2026-10-01", "email", "email=ana@exemplo.com.br"}); err != nil {
					t.Fatal(err)
				}
				mustDecode(t, s.as(t, s.Live, http.MethodGet, "/v1/cyber/findings/"+spelt[0], ""), &found)
				return http.MethodPost, "/v1/cyber/findings/" + found[0].ID + "/resolve", fmt.Sprintf(`{"userHash":%q,"reason":"other"}`, user)
			}},
			{"a value removed", func(user string) (string, string, string) {
				mustDecode(t, s.as(t, s.Live, http.MethodGet, "/v1/cyber/monitoring/"+spelt[0], ""), &asset)
				return http.MethodDelete, "/v1/cyber/monitoring/" + asset[0].ID + "/" + user, ""
			}},
		} {
			user := spelt[i%len(spelt)]
			method, path, body := step.send(user)
			if got := s.as(t, s.Live, method, path, body); got.status != http.StatusOK {
				t.Fatalf("%s: %d %s", step.name, got.status, got.body)
			}
			s.as(t, s.Live, http.MethodGet, "/v1/cyber/score/"+spelt[(i+1)%len(spelt)], "")
			if got := next(); got != user {
				t.Errorf("after %s: %s, want %s", step.name, got, user)
			}
		}
	})
}

// pushAll delivers what is due and waits until so many events have arrived.
func (s *service) pushAll(t *testing.T, box *mailbox, events int) map[string]string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	dispatcher := alert.NewDispatcher(
		s.Store.Alerts,
		loopback.NewClient(webhook.ClientOptions{}),
		s.Clock.Now,
		slog.New(slog.DiscardHandler),
		alert.DispatcherOptions{Worker: "w"},
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		dispatcher.Run(ctx)
	}()
	for deadline := time.Now().Add(2 * time.Minute); len(box.received()) < events && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		s.Clock.Advance(10 * time.Millisecond) // a lease or a pause would never end by a clock that stands
	}
	stop()
	<-done
	return box.received()
}

// documentedEvent holds a body against the schema of its webhook, and against the union that the feed answers with.
func documentedEvent(c *contract, kind string, body []byte) error {
	hook := c.doc.Webhooks[kind]
	if hook == nil {
		return fmt.Errorf("the document has no webhook of this type")
	}
	item := c.doc.Components.Schemas["EventPage"].Value.Properties["events"].Value.Items.Value.Properties["body"]
	for _, schema := range []*openapi3.SchemaRef{hook.Post.RequestBody.Value.Content["application/json"].Schema, item} {
		if err := c.schemas.check(schema.Value, body); err != nil {
			return err
		}
	}
	return nil
}

// clientKeeps tells whether the Go client's struct of a type holds every member of the data.
func clientKeeps(kind string, body []byte) error {
	var event struct{ Data json.RawMessage }
	var kept client.EventBody
	if err := errors.Join(json.Unmarshal(body, &event), json.Unmarshal(body, &kept)); err != nil {
		return err
	}
	if raw, ok := kept.Data.(json.RawMessage); ok && string(raw) != "{}" {
		return fmt.Errorf("the client does not know the type %s", kind)
	}
	again, err := json.Marshal(kept.Data)
	if err != nil {
		return err
	}
	var sent, got any
	// A time is written with as many digits as it needs.
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(event.Data), ".000Z", "Z")), &sent); err != nil {
		return err
	}
	if err := json.Unmarshal(again, &got); err != nil {
		return err
	}
	if !reflect.DeepEqual(sent, got) {
		return fmt.Errorf("the client keeps %s", again)
	}
	return nil
}
