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
	"github.com/vigiahq/vigia/internal/assistant"
	"github.com/vigiahq/vigia/internal/partner"
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
func inProcess(t *testing.T, api, key string) *mcp.ClientSession {
	t.Helper()
	ask, err := client.New(client.Config{URL: api, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	serverEnd, clientEnd := mcp.NewInMemoryTransports()
	if _, err := assistant.New("test", ask, quiet).Connect(t.Context(), serverEnd, nil); err != nil {
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
	must(vigia.AddAsset(ctx, hash, client.Email, address))
	must(vigia.AddAsset(ctx, hash, client.CPF, cpf))
	must(vigia.AddAsset(ctx, hash, client.CreditCard, card))
	key, err := vigia.IssueKey(ctx, hash, "android", "Celular da Ana")
	must(err)
	offered, err := vigia.Services(ctx)
	must(err)
	opened, err := vigia.OpenCase(ctx, client.NewCase{ServiceID: offered[0].ID, UserHash: hash})
	must(err)
	must(vigia.ReplyToCase(ctx, hash, opened.ID, "meu e-mail e "+address, nil))
	found, err := vigia.Findings(ctx, hash)
	must(err)
	if len(found) == 0 {
		t.Fatal("nothing was found")
	}
	person := map[string]any{"userHash": hash}
	return map[string]map[string]any{
		"list_services": {}, "show_service": {"serviceId": offered[0].ID}, "list_watched_values": person, "list_findings": person,
		"show_plan": {"userHash": hash, "findingId": found[0].ID}, "list_advice": person, "show_score": person, "list_cover": person,
		"list_devices": person, "list_cases": person, "show_case": {"userHash": hash, "caseId": opened.ID}, "list_subscriptions": {}, "list_breaches": {}, "list_events": {},
	}, []string{address, cpf, card, key.Key, "Celular da Ana"}
}

// TestAssistantReads: every tool answers, says that it only reads, and shows nobody's values; the same over HTTP.
func TestAssistantReads(t *testing.T) {
	s := apptest.Start(t)
	takes, secrets := story(t, s)
	over := httptest.NewServer(assistant.Handler("test", s.URL, nil, quiet))
	t.Cleanup(over.Close)
	for name, speaks := range map[string]*mcp.ClientSession{
		"in process": inProcess(t, s.URL, s.Sandbox.APIKey),
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
	other := inProcess(t, s.URL, s.Live.APIKey)
	if text, refused := call(t, other, "list_findings", takes["list_findings"]); refused || strings.Contains(text, "fd_") || !strings.Contains(text, `"findings":[]`) {
		t.Error("another partner's key:", text)
	}
	if text, refused := call(t, other, "show_case", takes["show_case"]); !refused {
		t.Error("another partner's key:", text)
	}
	_, narrow, err := s.App.Partners.CreateKey(context.Background(), s.Sandbox.ID, "assistente", []partner.Scope{partner.ScopeSubscriptionsRead}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if text, refused := call(t, inProcess(t, s.URL, narrow), "show_score", takes["show_score"]); !refused || !strings.Contains(text, "403") {
		t.Error("a key without the scope:", text)
	}
	for name, with := range map[string]map[string]any{"missing": {}, "of another type": {"userHash": 7}, "not taken": {"userHash": takes["show_score"]["userHash"], "cpf": cpf}} {
		if text, refused := call(t, other, "show_score", with); !refused {
			t.Errorf("an argument that is %s: %s", name, text)
		}
	}
	h := assistant.Handler("test", s.URL, nil, quiet)
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
