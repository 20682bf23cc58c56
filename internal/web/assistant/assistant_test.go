package assistant_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/web/assistant"
)

// keyed adds a key to requests, as an assistant is told to.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// session speaks to the tools as an assistant does, by the protocol's own client.
func session(t *testing.T, over mcp.Transport) *mcp.ClientSession {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// inProcess speaks to the tools of a key without a network.
func inProcess(t *testing.T, api, key string, o assistant.Options) *mcp.ClientSession {
	t.Helper()
	ask, err := client.New(client.Config{URL: api, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	serverEnd, clientEnd := mcp.NewInMemoryTransports()
	if _, err := assistant.New("test", ask, o, quiet).Connect(t.Context(), serverEnd, nil); err != nil {
		t.Fatal(err)
	}
	return session(t, clientEnd)
}

var quiet = slog.New(slog.DiscardHandler)

// call asks a tool; what it answers is text, whether it is an answer or a refusal.
func call(t *testing.T, s *mcp.ClientSession, tool string, with map[string]any) (text string, refused bool) {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: with})
	if err != nil {
		t.Fatal(tool, err)
	}
	for _, part := range result.Content {
		text += part.(*mcp.TextContent).Text //nolint:forcetypeassert // the tools write nothing else
	}
	return text, result.IsError
}

const address, cpf, card = "ana@vazamento.test", "52998224725", "4111111111111111"

// story gives a sandbox person something to be asked about, and returns what each tool takes.
func story(t *testing.T, s *apptest.Service) (map[string]map[string]any, []string) {
	t.Helper()
	ctx := t.Context()
	vigia, err := client.New(client.Config{URL: s.URL, Key: s.Sandbox.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	hash := client.UserHash(cpf, s.Sandbox.Salt)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(vigia.AddMonitoredAsset(ctx, client.NewMonitoredAsset{Type: "email", Value: address, UserHash: hash}))
	must(vigia.AddMonitoredAsset(ctx, client.NewMonitoredAsset{Type: "cpf", Value: cpf, UserHash: hash}))
	must(vigia.AddMonitoredAsset(ctx, client.NewMonitoredAsset{Type: "credit_card", Value: card, UserHash: hash}))
	key, err := vigia.IssueProtectionKey(
		ctx,
		client.NewProtectionKey{
			OperatingSystem: "android",
			Type:            "antivirus",
			DeviceName:      "Celular da Ana",
			UserHash:        hash,
		},
	)
	must(err)
	offered, err := vigia.ListSupportServices(ctx)
	must(err)
	opened, err := vigia.OpenSupportCase(ctx, client.NewCase{ServiceID: offered.Services[0].ID, UserHash: hash})
	must(err)
	must(vigia.ReplyToCase(ctx, opened.Task.ID, client.CaseMessage{UserHash: hash, Text: "meu e-mail e " + address}))
	found, err := vigia.ListFindings(ctx, hash)
	must(err)
	if len(found) == 0 {
		t.Fatal("nothing was found")
	}
	person := map[string]any{"userHash": hash}
	return map[string]map[string]any{
		"list_services":       {},
		"show_service":        {"serviceId": offered.Services[0].ID},
		"list_watched_values": person,
		"list_findings":       person,
		"show_plan": {
			"userHash":  hash,
			"findingId": found[0].ID,
		},
		"list_advice":        person,
		"show_score":         person,
		"list_cover":         person,
		"list_devices":       person,
		"list_cases":         person,
		"show_case":          {"userHash": hash, "caseId": opened.Task.ID},
		"list_subscriptions": {},
		"list_breaches":      {},
		"list_events":        {"limit": 10},
	}, []string{address, cpf, card, key.EppKey, "Celular da Ana"}
}

// TestAssistantReads: every tool answers, says that it only reads, and shows nobody's values; the same over HTTP.
func TestAssistantReads(t *testing.T) {
	s := apptest.Start(t)
	takes, secrets := story(t, s)
	over := httptest.NewServer(assistant.Handler("test", s.URL, false, nil, quiet))
	t.Cleanup(over.Close)
	for name, speaks := range map[string]*mcp.ClientSession{
		"in process": inProcess(t, s.URL, s.Sandbox.APIKey, assistant.Options{}),
		"HTTP":       session(t, &mcp.StreamableClientTransport{Endpoint: over.URL, HTTPClient: &http.Client{Transport: keyed(s.Sandbox.APIKey)}, DisableStandaloneSSE: true}),
	} {
		listed, err := speaks.ListTools(t.Context(), nil)
		if err != nil || len(listed.Tools) != len(takes) {
			t.Fatalf("%s: %d tools for %d, %v", name, len(listed.Tools), len(takes), err)
		}
		for _, tool := range listed.Tools {
			if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || tool.Description == "" {
				t.Errorf("%s: %s does not say that it only reads", name, tool.Name)
			}
			text, refused := call(t, speaks, tool.Name, takes[tool.Name])
			if refused || !json.Valid([]byte(text)) || len(text) < 10 {
				t.Errorf("%s: %s: %s", name, tool.Name, text)
			}
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s: %s shows %s", name, tool.Name, secret)
				}
			}
		}
		if text, _ := call(t, speaks, "list_watched_values", takes["list_findings"]); !strings.Contains(text, "a***@v***.test") {
			t.Errorf("%s: nothing to know the value by: %s", name, text)
		}
	}
}

// TestAssistantKeepsTheRules: what a key may not read, or what is another partner's, no tool tells; neither does a
// missing key, nor a page of another site.
func TestAssistantKeepsTheRules(t *testing.T) {
	s := apptest.Start(t)
	takes, _ := story(t, s)
	other := inProcess(t, s.URL, s.Live.APIKey, assistant.Options{})
	if text, refused := call(
		t,
		other,
		"list_findings",
		takes["list_findings"],
	); refused || strings.Contains(text, "fd_") ||
		!strings.Contains(text, `"findings":[]`) {
		t.Error("another partner's key:", text)
	}
	if text, refused := call(t, other, "show_case", takes["show_case"]); !refused {
		t.Error("another partner's key:", text)
	}
	_, narrow, err := s.App.Partners.CreateKey(
		context.Background(),
		s.Sandbox.ID,
		"assistente",
		[]partner.Scope{partner.ScopeSubscriptionsRead},
		time.Time{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if text, refused := call(
		t,
		inProcess(t, s.URL, narrow, assistant.Options{}),
		"show_score",
		takes["show_score"],
	); !refused ||
		!strings.Contains(text, "403") {
		t.Error("a key without the scope:", text)
	}
	for name, with := range map[string]map[string]any{"missing": {}, "of another type": {"userHash": 7}, "not taken": {"userHash": takes["show_score"]["userHash"], "cpf": cpf}} {
		if text, refused := call(t, other, "show_score", with); !refused {
			t.Errorf("an argument that is %s: %s", name, text)
		}
	}
	h := assistant.Handler("test", s.URL, false, nil, quiet)
	for name, c := range map[string]struct {
		header map[string]string
		want   int
	}{
		"no key":       {nil, http.StatusUnauthorized},
		"another site": {map[string]string{"x-api-key": s.Sandbox.APIKey, "origin": "https://outro.exemplo", "sec-fetch-site": "cross-site"}, http.StatusForbidden},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{}`))
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestAssistantFindsPeople: with the partner's salt a person is found by a part of the name, or by what another tool
// shows of a contact; the answer names the person by the user hash and shows nothing unmasked.
func TestAssistantFindsPeople(t *testing.T) {
	s := apptest.Start(t)
	vigia, err := client.New(client.Config{URL: s.URL, Key: s.Sandbox.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	home := client.Address{
		Zipcode:      "20040002",
		Street:       "Rua",
		Number:       "1",
		Neighborhood: "Centro",
		City:         "Rio de Janeiro",
		State:        "RJ",
	}
	var items []client.NewSubscription
	for number, name := range map[string]string{cpf: "Ana Souza", "11144477735": "Bruno Lima"} {
		items = append(
			items,
			client.NewSubscription{StartDate: "2026-02-01", PlanID: "p", Beneficiary: client.Beneficiary{
				PrimaryCard: card,
				UserCard:    card,
				Name:        name,
				CPF:         number,
				BirthDate:   "1985-11-02",
				Gender:      "F",
				PhoneNumber: "5521987654321",
				Email:       strings.ToLower(name[:3]) + "@exemplo.com.br",
				Address:     home,
			}},
		)
	}
	if made, err := vigia.CreateSubscriptions(t.Context(), items); err != nil || made.TotalCreatedItems != 2 {
		t.Fatal(made, err)
	}
	speaks := inProcess(t, s.URL, s.Sandbox.APIKey, assistant.Options{Salt: s.Sandbox.Salt})
	for _, text := range []string{"souza", "a***@e***.br"} {
		got, refused := call(t, speaks, "find_people", map[string]any{"text": text})
		if refused || strings.Count(got, "userHash") != 1 ||
			!strings.Contains(got, client.UserHash(cpf, s.Sandbox.Salt)) ||
			strings.Contains(got, cpf) ||
			strings.Contains(got, "ana@") ||
			strings.Contains(got, "Souza") {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got, _ := call(t, speaks, "find_people", map[string]any{"text": "ninguém"}); !strings.Contains(got, `"people":[]`) {
		t.Error(got)
	}
}

// TestAssistantWritesOnlyWhenAllowed: the tools that change something are not there unless the operator of the tools
// added them, and then the key must have the scope.
func TestAssistantWritesOnlyWhenAllowed(t *testing.T) {
	s := apptest.Start(t)
	takes, _ := story(t, s)
	open := map[string]any{"userHash": takes["show_score"]["userHash"], "serviceId": takes["show_service"]["serviceId"]}
	if _, err := inProcess(t, s.URL, s.Sandbox.APIKey, assistant.Options{}).CallTool(t.Context(), &mcp.CallToolParams{Name: "open_case", Arguments: open}); err == nil {
		t.Error("a tool that writes is there without being asked for")
	}
	_, reader, err := s.App.Partners.CreateKey(
		context.Background(),
		s.Sandbox.ID,
		"assistente",
		[]partner.Scope{partner.ScopeCyberRead},
		time.Time{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if text, refused := call(
		t,
		inProcess(t, s.URL, reader, assistant.Options{Write: true}),
		"open_case",
		open,
	); !refused ||
		!strings.Contains(text, "403") {
		t.Error("a key that only reads:", text)
	}
	writer := inProcess(t, s.URL, s.Sandbox.APIKey, assistant.Options{Write: true})
	if text, refused := call(t, writer, "open_case", open); refused || !strings.Contains(text, "Aberto") {
		t.Error(text)
	}
	if text, refused := call(
		t,
		writer,
		"send_page_link",
		takes["show_score"],
	); refused ||
		!strings.Contains(text, "/p/enter/") {
		t.Error(text)
	}
	// The newest event is the first: the case was opened after everything of the story.
	if text, _ := call(
		t,
		writer,
		"list_events",
		map[string]any{"limit": 2},
	); strings.Count(text, `"id"`) != 2 ||
		!newestFirst(t, text) {
		t.Error(text)
	}
}

// newestFirst reports whether the events of an answer go back in time.
func newestFirst(t *testing.T, text string) bool {
	t.Helper()
	var page struct {
		Events []struct {
			ID string `json:"id"`
		} `json:"events"`
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatal(err)
	}
	return page.Events[0].ID > page.Events[1].ID // ids are in the order of time
}
