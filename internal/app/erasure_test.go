package app_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store"
)

// TestSandboxClockBringsAnErasureOn: when the clock has been moved past the delay, the person is erased before the answer
// comes, and the tombstone is in the log outside the database.
func TestSandboxClockBringsAnErasureOn(t *testing.T) {
	s, ctx := apptest.Start(t), t.Context()
	scopes := []partner.Scope{partner.ScopeCyber, partner.ScopeManage, partner.ScopePrivacy}
	_, key, err := s.App.Partners.CreateKey(ctx, s.Sandbox.ID, "encarregado", scopes, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	vigia, err := client.New(client.Config{URL: s.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	const user = "pessoa-da-sandbox"
	err = vigia.AddMonitoredAsset(ctx, client.NewMonitoredAsset{
		Type:     "email",
		Value:    "apagar@exemplo.com.br",
		UserHash: user,
	})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := vigia.RequestErasure(ctx, client.ErasureRequest{UserHash: user, Reason: "pedido"})
	if err != nil {
		t.Fatal(err)
	}
	if err := vigia.AdvanceSandboxClock(ctx, client.SandboxClock{Days: 1}); err != nil {
		t.Fatal(err)
	}
	got, err := vigia.GetErasure(ctx, asked.ID)
	if err != nil || got.State != client.ErasureStateCompleted || got.UserHash != "" {
		t.Errorf("%+v %v", got, err)
	}
	if list, err := vigia.ListMonitoredAssets(ctx, user); err != nil || len(list) != 0 {
		t.Error("still watched:", list, err)
	}
	// Who is enrolled again gets a key; when the clock is moved once more, that key is no older than the erasure.
	_, err = vigia.IssueProtectionKey(ctx, client.NewProtectionKey{
		OperatingSystem: "android",
		Type:            "antivirus",
		DeviceName:      "Celular",
		UserHash:        user,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := vigia.AdvanceSandboxClock(ctx, client.SandboxClock{Days: 30}); err != nil {
		t.Fatal(err)
	}
	for _, check := range s.App.Store.Upkeep.ListChecks() {
		found := func(p store.Problem) { t.Error("the checks:", p) }
		if err := check.Run(ctx, found, func(int64) {}); err != nil {
			t.Error(check.Name, err)
		}
	}
	log, err := os.ReadFile(app.ErasureLog(s.App.Config))
	if err != nil || !strings.Contains(string(log), asked.ID) {
		t.Errorf("the log of erasures: %q %v", log, err)
	}
}
