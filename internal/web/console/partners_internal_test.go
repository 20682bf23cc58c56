package console

import (
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestGroupLackingScopes: refusals for want of a scope are told by route, key and scope, most first; other refusals are
// not.
func TestGroupLackingScopes(t *testing.T) {
	line := func(minute int, operation, problem string, key partner.KeyID) partner.LoggedRequest {
		return partner.LoggedRequest{
			At: noon.Add(time.Duration(minute) * time.Minute), Operation: operation, Fault: problem, Key: key,
		}
	}
	keys := []partner.Key{{ID: "k1", Label: "Aplicativo"}, {ID: "k2", Preview: "vg_live_1"}}
	list := groupLackingScopes([]partner.LoggedRequest{
		line(9, "GET /webhooks", "key.scope_missing: manage:read", "k2"),
		line(8, "POST /webhooks", "key.scope_missing: manage", "k1"),
		line(7, "POST /webhooks", "key.scope_missing: manage", "k1"),
		line(6, "POST /webhooks", "webhook.invalid: url", "k1"),
		line(5, "POST /webhooks", "key.scope_missing: manage", "k2"),
		line(4, "GET /webhooks", "", "k1"),
	}, keys)
	if len(list) != 3 {
		t.Fatalf("%+v", list)
	}
	most := list[0]
	most.Operation, most.KeyLabel, most.Scope = "POST /webhooks", "Aplicativo", "manage"
	most.Count, most.Last = 2, noon.Add(8*time.Minute)
	difftest.Check(t, "the most", list[0], most)
	if other := list[1]; other.KeyLabel != "vg_live_1…" || other.Scope != "manage:read" || other.Count != 1 {
		t.Errorf("a key without a name is %+v", other)
	}
}

// TestUrgencyOfPartners: those whose webhooks fail come before those that are slow, and sandboxes behind all.
func TestUrgencyOfPartners(t *testing.T) {
	live, sandbox := partner.Partner{Mode: partner.Live}, partner.Partner{Mode: partner.Sandbox}
	inOrder := []partnerHealth{
		{Partner: live, Failing: 1},
		{Partner: live, IsSlow: true},
		{Partner: live},
		{Partner: sandbox, Failing: 2, IsSlow: true},
	}
	for i := range inOrder[1:] {
		if inOrder[i].urgency() <= inOrder[i+1].urgency() {
			t.Errorf("%+v does not come before %+v", inOrder[i], inOrder[i+1])
		}
	}
}
