package api

import (
	"context"
	"testing"

	"vigia/internal/plan"
)

// plan registers a plan for a partner.
func (s *service) plan(t testing.TB, who tenant, id string) {
	t.Helper()
	_, err := plan.NewCatalogue(s.Store, s.Clock.Now).Create(context.Background(), plan.Plan{
		ID: plan.ID(id), Partner: who.ID, Name: "Plano " + id, Coverage: plan.Demo(),
	})
	if err != nil {
		t.Fatal(err)
	}
}
