package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// assistants is the program vigia-mcp, serving over HTTP.
type assistants struct{ program, api, url string }

// startAssistants builds the program and has it ask an API.
func startAssistants(t *testing.T, api string, flags ...string) assistants {
	t.Helper()
	gatetest.Needs(t, gatetest.Clients)
	a := assistants{program: filepath.Join(t.TempDir(), "vigia-mcp"), api: api}
	run(t, "mcp", nil, "go", "build", "-o", a.program, "./vigia-mcp")
	a.url = a.serve(t, flags...)
	return a
}

// serve starts the program until the test ends, and returns its address.
func (a assistants) serve(t *testing.T, flags ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), a.program, append([]string{"-api", a.api, "-listen", "127.0.0.1:0"}, flags...)...)
	says, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it serves until it is stopped
		_ = cmd.Wait()
	})
	said, err := bufio.NewReader(says).ReadString('\n')
	_, at, found := strings.Cut(strings.TrimSpace(said), "Tools for assistants at ")
	if !found {
		t.Fatal(said, err)
	}
	go func() { _, _ = io.Copy(io.Discard, says) }()
	return at
}

// tool is what the program lists.
type tool struct {
	Name, Description string
	Annotations       struct{ ReadOnlyHint bool }
}

// assistant speaks to a program with a key, and where there is one with the partner's salt.
type assistant struct{ url, key, salt string }

// post sends one message of the protocol.
func (a assistant) post(t *testing.T, method string, params any, result any, headers ...string) (status int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	headers = append(headers, "content-type", "application/json", "accept", "application/json, text/event-stream")
	if a.key != "" {
		headers = append(headers, "authorization", "Bearer "+a.key)
	}
	if a.salt != "" {
		headers = append(headers, "x-partner-salt", a.salt)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		if err := json.NewDecoder(response.Body).Decode(&struct{ Result any }{result}); err != nil {
			t.Fatal(err)
		}
	}
	return response.StatusCode
}

// call asks a tool; what it answers is text, whether it is an answer or a refusal.
func (a assistant) call(t *testing.T, tool string, with map[string]any) (text string, refused bool) {
	t.Helper()
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	if status := a.post(t, "tools/call", map[string]any{"name": tool, "arguments": with}, &result); status != http.StatusOK {
		t.Fatal(tool, status)
	}
	for _, part := range result.Content {
		text += part.Text
	}
	return text, result.IsError || len(result.Content) == 0
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

// TestAssistantReads: every tool answers, says that it only reads, and shows nobody's values.
func TestAssistantReads(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	t.Parallel()
	s := apptest.Start(t)
	speaks := assistant{url: startAssistants(t, s.URL).url, key: s.Sandbox.APIKey}
	takes, secrets := story(t, s)
	var listed struct{ Tools []tool }
	if speaks.post(t, "tools/list", map[string]any{}, &listed); len(listed.Tools) != len(takes) {
		t.Fatalf("%d tools for %d", len(listed.Tools), len(takes))
	}
	for _, tool := range listed.Tools {
		if !tool.Annotations.ReadOnlyHint || tool.Description == "" {
			t.Errorf("%s does not say that it only reads", tool.Name)
		}
		text, refused := speaks.call(t, tool.Name, takes[tool.Name])
		if refused || !json.Valid([]byte(text)) || len(text) < 10 {
			t.Errorf("%s: %s", tool.Name, text)
		}
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s", tool.Name, secret)
			}
		}
	}
	if text, _ := speaks.call(t, "list_watched_values", takes["list_findings"]); !strings.Contains(text, "a***@v***.test") {
		t.Errorf("nothing to know the value by: %s", text)
	}
}

// TestAssistantKeepsTheRules: what a key may not read, or what is another partner's, no tool tells; neither does a
// missing key, nor a page of another site.
func TestAssistantKeepsTheRules(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	t.Parallel()
	s := apptest.Start(t)
	program := startAssistants(t, s.URL)
	takes, _ := story(t, s)
	other := assistant{url: program.url, key: s.Live.APIKey}
	if text, refused := other.call(t, "list_findings",
		takes["list_findings"],
	); refused || strings.Contains(text, "fd_") ||
		!strings.Contains(text, `"findings":[]`) {
		t.Error("another partner's key:", text)
	}
	if text, refused := other.call(t, "show_case", takes["show_case"]); !refused {
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
	if text, refused := (assistant{url: program.url, key: narrow}).call(t, "show_score", takes["show_score"]); !refused ||
		!strings.Contains(text, "403") {
		t.Error("a key without the scope:", text)
	}
	for name, with := range map[string]map[string]any{"missing": {}, "of another type": {"userHash": 7}, "not taken": {"userHash": takes["show_score"]["userHash"], "cpf": cpf}} {
		if text, refused := other.call(t, "show_score", with); !refused {
			t.Errorf("an argument that is %s: %s", name, text)
		}
	}
	listing := map[string]any{}
	if status := (assistant{url: program.url}).post(t, "tools/list", listing, nil); status != http.StatusUnauthorized {
		t.Error("no key:", status)
	}
	foreign := []string{"origin", "https://outro.exemplo", "sec-fetch-site", "cross-site"}
	if status := other.post(t, "tools/list", listing, nil, foreign...); status != http.StatusForbidden {
		t.Error("another site:", status)
	}
}

// TestAssistantFindsPeople: with the partner's salt a person is found by a part of the name, or by what another tool
// shows of a contact; the answer names the person by the user hash and shows nothing unmasked.
func TestAssistantFindsPeople(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	t.Parallel()
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
	speaks := assistant{url: startAssistants(t, s.URL).url, key: s.Sandbox.APIKey, salt: s.Sandbox.Salt}
	for _, text := range []string{"souza", "a***@e***.br"} {
		got, refused := speaks.call(t, "find_people", map[string]any{"text": text})
		if refused || strings.Count(got, "userHash") != 1 ||
			!strings.Contains(got, client.UserHash(cpf, s.Sandbox.Salt)) ||
			strings.Contains(got, cpf) ||
			strings.Contains(got, "ana@") ||
			strings.Contains(got, "Souza") {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got, _ := speaks.call(t, "find_people", map[string]any{"text": "ninguém"}); !strings.Contains(got, `"people":[]`) {
		t.Error(got)
	}
}

// TestAssistantWritesOnlyWhenAllowed: the tools that change something are not there unless the operator of the tools
// added them, and then the key must have the scope.
func TestAssistantWritesOnlyWhenAllowed(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	t.Parallel()
	s := apptest.Start(t)
	takes, _ := story(t, s)
	open := map[string]any{"userHash": takes["show_score"]["userHash"], "serviceId": takes["show_service"]["serviceId"]}
	program := startAssistants(t, s.URL, "-write")
	var listed struct{ Tools []tool }
	(assistant{url: program.serve(t), key: s.Sandbox.APIKey}).post(t, "tools/list", map[string]any{}, &listed)
	if slices.ContainsFunc(listed.Tools, func(of tool) bool { return !of.Annotations.ReadOnlyHint }) {
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
	if text, refused := (assistant{url: program.url, key: reader}).call(t, "open_case", open); !refused ||
		!strings.Contains(text, "403") {
		t.Error("a key that only reads:", text)
	}
	writer := assistant{url: program.url, key: s.Sandbox.APIKey}
	if text, refused := writer.call(t, "open_case", open); refused || !strings.Contains(text, "Aberto") {
		t.Error(text)
	}
	if text, refused := writer.call(t, "send_page_link",
		takes["show_score"],
	); refused ||
		!strings.Contains(text, "/p/enter/") {
		t.Error(text)
	}
	// The newest event is the first: the case was opened after everything of the story.
	if text, _ := writer.call(t, "list_events",
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
