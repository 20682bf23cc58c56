package conformance_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/store/storetest"
	"github.com/vigiahq/vigia/internal/web/api/reference"
)

// TestExamplesRun pastes every example in curl and Python into a shell, against the real service. The examples in Go
// and TypeScript are run by the clients' own tests. Only the ids of the contract's examples are replaced, by ids that
// exist.
func TestExamplesRun(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	s := apptest.Start(t)
	// Each language has a partner: keys and webhooks may be changed only so often.
	inCurl, curlEnvironment := newReader(t, s, "Curl")
	inPython, pythonEnvironment := newReader(t, s, "Python")
	document, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := reference.ParseContract(document)
	if err != nil {
		t.Fatal(err)
	}
	python := startPython(t, pythonEnvironment)
	for _, op := range contract.Operations {
		if op.ID == "rebookCase" || op.ID == "rateCase" {
			continue // these need an operator before them: a calendar, a case that is resolved
		}
		check := func(language, code, text string, err error) {
			refused := strings.Contains(text, "statusCode") || strings.HasPrefix(text, `{"message"`)
			if err != nil || text == "" || refused ||
				op.ID == "createSubscriptions" && !strings.Contains(text, "total_created_items") {
				t.Errorf("%s in %s: %v\n%s\n%s", op.ID, language, err, code, text)
			}
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-c", withIDs(t, inCurl, op.Curl()))
		cmd.Env = curlEnvironment
		out, err := cmd.CombinedOutput()
		check("curl", op.Curl(), string(out), err)
		text, err := python(withIDs(t, inPython, op.Python()))
		check("Python", op.Python(), text, err)
	}
}

// newReader makes a sandbox partner, and returns its client and what its programs find around them.
func newReader(t *testing.T, s *apptest.Service, name string) (*client.Client, []string) {
	t.Helper()
	_, cred, err := storetest.Registry(s.App.Store.Partners, time.Now).CreatePartner(t.Context(), name, partner.Sandbox, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	vigia, err := client.New(client.Config{URL: s.URL, Key: cred.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	return vigia, append(os.Environ(), "VIGIA_URL="+s.URL, "VIGIA_KEY="+cred.APIKey)
}

// runsEach is a program in Python that runs one program after the other, each as if it were the only one, because the
// interpreter takes longer to start than an example to run. Both ways, a line is one text as JSON.
const runsEach = `
import contextlib, io, json, sys, traceback
for line in sys.stdin:
    said = io.StringIO()
    failed = ""
    with contextlib.redirect_stdout(said):
        try:
            exec(compile(json.loads(line), "example", "exec"), {"__name__": "__main__"})
        except BaseException:
            failed = traceback.format_exc()
    print(json.dumps([said.getvalue(), failed]), flush=True)
`

// startPython returns what runs a program in Python and returns what it printed.
func startPython(t *testing.T, environment []string) func(code string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", "-c", runsEach)
	cmd.Env, cmd.Stderr = environment, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // what it was asked was answered
	})
	ask, answers := json.NewEncoder(in), json.NewDecoder(out)
	return func(code string) (string, error) {
		var answer [2]string
		if err := ask.Encode(code); err != nil {
			return "", err
		}
		if err := answers.Decode(&answer); err != nil {
			return "", err
		}
		if answer[1] != "" {
			return answer[0], errors.New(answer[1])
		}
		return answer[0], nil
	}
}

// withIDs puts ids that exist in place of those of the contract's examples.
func withIDs(t *testing.T, vigia *client.Client, code string) string {
	t.Helper()
	const person = "e3d5a09299b744db42dc2031f023b71bc37742aa00b1a372b694262a92d43e37"
	ctx := t.Context()
	if err := vigia.AddMonitoredAsset(
		ctx,
		client.NewMonitoredAsset{Type: "email", UserHash: person, Value: "ana@vazamento.test"},
	); err != nil {
		t.Fatal(err)
	}
	assets, err := vigia.ListMonitoredAssets(ctx, person)
	if err != nil {
		t.Fatal(err)
	}
	if err := vigia.AddExtraAsset(
		ctx,
		client.NewExtraAsset{Type: "pix_key", Value: "123e4567-e89b-42d3-a456-426614174000", UserHash: person},
	); err != nil {
		t.Fatal(err)
	}
	extras, err := vigia.ListExtraAssets(ctx, person)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := vigia.ListFindings(ctx, person)
	if err != nil || len(findings) == 0 {
		t.Fatal(findings, err)
	}
	services, err := vigia.ListSupportServices(ctx)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := vigia.OpenSupportCase(ctx, client.NewCase{ServiceID: services.Services[0].ID, UserHash: person})
	if err != nil {
		t.Fatal(err)
	}
	page, err := vigia.ListEvents(ctx, client.WithLimit(1))
	if err != nil || len(page.Events) == 0 {
		t.Fatal(page, err)
	}
	const hook, key = "whe_0198c0de-7a00-7000-8000-0000000000f1", "key_0198c0de-7a00-7000-8000-0000000000b1"
	const erasure = "er_0198c0de-7a00-7000-8000-0000000000f7"
	var webhookID, keyID, erasureID string
	if strings.Contains(code, hook) { // few may be made at once
		made, err := vigia.CreateWebhook(ctx, client.NewWebhook{URL: "https://127.0.0.1:9/vigia"})
		if err != nil {
			t.Fatal(err)
		}
		webhookID = made.ID
	}
	if strings.Contains(code, key) {
		made, err := vigia.CreateKey(ctx, client.NewKey{Scopes: []string{"cyber:read"}})
		if err != nil {
			t.Fatal(err)
		}
		keyID = made.ID
	}
	if strings.Contains(code, erasure) {
		asked, err := vigia.RequestErasure(ctx, client.ErasureRequest{UserHash: "outra-pessoa", Reason: "pedido"})
		if err != nil {
			t.Fatal(err)
		}
		erasureID = asked.ID
	}
	return strings.NewReplacer(
		hook, webhookID, key, keyID, erasure, erasureID, "parceiro.exemplo.com.br", "127.0.0.1:9",
		"evt_0198c0de-7a00-7000-8000-0000000000e1", page.Events[0].ID,
		"ek_0198c0de-7a00-7000-8000-0000000000b1", freshKey(t, vigia, person),
		"cs_0198c0de-7a00-7000-8000-0000000000c1", opened.Task.ID,
		"as_0198c0de-7a00-7000-8000-000000000001", assets[0].ID,
		"as_0198c0de-7a00-7000-8000-000000000011", extras[0].ID,
		"fd_0198c0de-7a00-7000-8000-0000000000d1", findings[0].ID,
		"sv_0198c0de-7a00-7000-8000-0000000000a1", services.Services[0].ID,
	).Replace(code)
}

// freshKey is a live key of the only device of a person.
func freshKey(t *testing.T, vigia *client.Client, person string) string {
	t.Helper()
	ctx := t.Context()
	devices, err := vigia.ListProtectedDevices(ctx, client.WithUserHash(person))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices.ProtectedDevices {
		if err := vigia.RevokeProtectionKey(
			ctx,
			d.EppKey,
			client.ProtectionKeyRevocation{UserHash: person},
		); err != nil {
			t.Fatal(err)
		}
	}
	key, err := vigia.IssueProtectionKey(
		ctx,
		client.NewProtectionKey{
			OperatingSystem: "android",
			Type:            "antivirus",
			DeviceName:      "Celular da Ana",
			UserHash:        person,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return key.EppKey
}
