package main

import (
	"context"
	"errors"
	"slices"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// findPartner makes sure that a partner of an earlier run is still there, or makes it.
func findPartner(
	ctx context.Context, registry *partner.Registry, s *demoTenant, name string, mode partner.Mode,
	settings partner.Settings,
) error {
	if s.PartnerID != "" {
		_, err := registry.PartnerByID(ctx, partner.ID(s.PartnerID))
		if err == nil || !errors.Is(err, partner.ErrNotFound) {
			return err
		}
	}
	p, cred, err := registry.CreatePartner(ctx, name, mode, settings)
	if err != nil {
		return err
	}
	*s = demoTenant{PartnerID: string(p.ID), APIKey: cred.APIKey, Salt: cred.Salt, Endpoints: map[string]demoHook{}}
	return nil
}

// demoPlan is the id of the one plan that both partners of the demo sell.
const demoPlan = "protecao-familia"

// demoPlanOf makes sure that a partner sells the plan.
func demoPlanOf(ctx context.Context, plans *plan.Catalogue, id partner.ID) error {
	_, err := plans.CreatePlan(ctx, plan.Plan{
		ID: demoPlan, Partner: id, Name: "Proteção Digital Família", MaxDevices: 5, KeyDays: 365,
		Coverage: plan.Coverage{
			Limit: 30_000_00,
			Types: []string{"Transações não autorizadas", "Roubo de identidade", "Compras on-line não entregues"},
			Conditions: "Carência de 7 dias a partir do início da assinatura. Comunicar o evento em até 30 dias e " +
				"registrar boletim de ocorrência.",
			Exclusions: "Perdas anteriores à assinatura e transações feitas pelo próprio titular.",
			SubLimits: []plan.SubLimit{
				{Name: "Roubo de identidade", Limit: 10_000_00},
				{Name: "Compras on-line não entregues", Limit: 2_500_00},
			},
			WaitingDays: 7,
		},
	})
	if errors.Is(err, plan.ErrExists) {
		return nil
	}
	return err
}

// pointWebhooks has the partner's alerts sent to the receiver; a receiver at another address than last time gets new
// endpoints.
func (t *demoTenant) pointWebhooks(
	ctx context.Context, endpoints *alert.Endpoints, r *receiver, paths []string, guard alert.AddressCheck,
) error {
	id := partner.ID(t.PartnerID)
	list, err := endpoints.ListEndpoints(ctx, id)
	if err != nil {
		return err
	}
	for _, path := range paths {
		i := slices.IndexFunc(list, func(e alert.Endpoint) bool { return string(e.ID) == t.Endpoints[path].ID })
		if i >= 0 && list[i].URL != r.url+path {
			if err := endpoints.DeleteEndpoint(ctx, id, list[i].ID); err != nil {
				return err
			}
			i = -1
		}
		if i < 0 {
			made, err := endpoints.CreateEndpoint(ctx, id, r.url+path, nil, guard)
			if err != nil {
				return err
			}
			t.Endpoints[path] = demoHook{string(made.ID), made.Secret()}
		}
		r.trustSecret(t.Endpoints[path].Secret)
	}
	return nil
}
