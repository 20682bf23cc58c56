package reference_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/api/reference"
	"github.com/vigiahq/vigia/internal/app/apptest"
)

// TestExamplesRun pastes every example in curl and Python into a shell, against the real service. The examples in Go
// and TypeScript are run by the clients' own tests. Only the ids of the contract's examples are replaced, by ids that
// exist.
func TestExamplesRun(t *testing.T) {
	s := apptest.Start(t)
	vigia, err := client.New(client.Config{URL: s.URL, Key: s.Sandbox.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), "VIGIA_URL="+s.URL, "VIGIA_KEY="+s.Sandbox.APIKey)
	document, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := reference.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range contract.Operations {
		if op.ID == "rebookCase" || op.ID == "rateCase" {
			continue // these need an operator before them: a calendar, a case that is resolved
		}
		for program, code := range map[string]string{"bash": op.Curl(), "python3": op.Python()} {
			cmd := exec.CommandContext(t.Context(), program, "-c", withIDs(t, vigia, code))
			cmd.Env = environment
			out, err := cmd.CombinedOutput()
			text := string(out)
			refused := strings.Contains(text, "statusCode") || strings.HasPrefix(text, `{"message"`)
			if err != nil || text == "" || refused || op.ID == "createSubscriptions" && !strings.Contains(text, "total_created_items") {
				t.Errorf("%s in %s: %v\n%s\n%s", op.ID, program, err, code, text)
			}
		}
	}
}

// withIDs puts ids that exist in place of those of the contract's examples.
func withIDs(t *testing.T, vigia *client.Client, code string) string {
	t.Helper()
	const person = "e3d5a09299b744db42dc2031f023b71bc37742aa00b1a372b694262a92d43e37"
	ctx := t.Context()
	if err := vigia.AddAsset(ctx, person, client.Email, "ana@vazamento.test"); err != nil {
		t.Fatal(err)
	}
	assets, err := vigia.Assets(ctx, person)
	if err != nil {
		t.Fatal(err)
	}
	if err := vigia.AddExtra(ctx, person, client.PixKey, "123e4567-e89b-42d3-a456-426614174000"); err != nil {
		t.Fatal(err)
	}
	extras, err := vigia.Extras(ctx, person)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := vigia.Findings(ctx, person)
	if err != nil || len(findings) == 0 {
		t.Fatal(findings, err)
	}
	services, err := vigia.Services(ctx)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := vigia.OpenCase(ctx, client.NewCase{ServiceID: services[0].ID, UserHash: person})
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(
		"0198c0de-7a00-7000-8000-0000000000c1", opened.ID,
		"0198c0de-7a00-7000-8000-000000000001", assets[0].ID,
		"0198c0de-7a00-7000-8000-000000000011", extras[0].ID,
		"0198c0de-7a00-7000-8000-0000000000d1", findings[0].ID,
		"0198c0de-7a00-7000-8000-0000000000a1", services[0].ID,
	).Replace(code)
}
