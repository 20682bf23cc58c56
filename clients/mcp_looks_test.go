package clients_test

import (
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// TestAssistantIsToldOfWaiting: an assistant that asks about a person whose values were not looked for yet is told so
// beside each answer that rests on them.
func TestAssistantIsToldOfWaiting(t *testing.T) {
	s := apptest.Start(t)
	stopped, err := s.App.Partners.UpdatePartner(t.Context(), s.Live.ID, func(p *partner.Partner) {
		p.Settings.FirstLooksPerHour = partner.NoFirstLooks
	})
	if err != nil {
		t.Fatal(err)
	}
	owner := cyber.NewOwner(stopped.ID, stopped.Mode, stopped.Settings)
	added, err := s.App.Monitoring.AddAssets(t.Context(), owner, []cyber.BulkItem{
		{User: "dora", Kind: "email", Value: "dora@exemplo.com.br"},
		{User: "dora", Kind: "email", Value: "dora@clube.com.br"},
	})
	if err != nil || added.Waiting != 2 {
		t.Fatal(added, err)
	}
	ask := assistant{url: startAssistants(t, s.URL).url, key: s.Live.APIKey}
	for _, tool := range []string{"list_watched_values", "list_findings", "list_advice", "show_score"} {
		for user, want := range map[string]bool{"dora": true, "eva": false} {
			text, refused := ask.call(t, tool, map[string]any{"userHash": user})
			if refused || strings.Contains(text, `"notLookedAt":2`) != want {
				t.Errorf("%s of %s: %s", tool, user, text)
			}
		}
	}
}
