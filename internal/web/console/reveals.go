package console

import (
	"cmp"
	"context"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// errReason asks for the reason without which no personal value is shown.
var errReason = fault.New(fault.Invalid, "reason.missing")

// parseReason returns the operator's reason for seeing a personal value, and refuses one that is too short.
func parseReason(r *request) (string, error) {
	text := cmp.Or(r.trimmedField("preset"), r.trimmedField("reason"))
	if len(text) < 3 {
		return "", errReason
	}
	return text, nil
}

// revealTime is how long a person's values and words stay open to the operator who gave a reason.
const revealTime = 15 * time.Minute

// mostReveals is how many people one operator can have open at a time.
const mostReveals = 200

// recordReveal records why the operator wants to see who a person is. The line in the audit trail itself unlocks the
// pages about the person for revealTime, so one line covers everything that the operator looks at in that time.
func (c *Console) recordReveal(r *request, ref string, then redirect) (answer, error) {
	why, err := parseReason(r)
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "person.reveal", ref, why); err != nil {
		return nil, err
	}
	return then, nil
}

// currentReveals returns the operator's reveals that are still valid, by the person's reference.
func (c *Console) currentReveals(ctx context.Context, who operator.ID) (map[string]*operator.Entry, error) {
	lines, err := c.Rules.Audit.ListEntries(ctx, operator.Filter{
		Actor:  string(who),
		Action: "person.reveal",
		From:   c.Now().Add(-revealTime),
		Limit:  mostReveals,
	})
	if err != nil {
		return nil, err
	}
	reveals := make(map[string]*operator.Entry, len(lines))
	for i := range lines {
		if reveals[lines[i].Subject] == nil { // the newest comes first
			reveals[lines[i].Subject] = &lines[i]
		}
	}
	return reveals, nil
}

// referenceOf returns the keyed reference to a person of a partner.
func (c *Console) referenceOf(id partner.ID, user partner.UserHash) string {
	return c.Rules.Subjects.Reference(subject.Person{User: user, Partner: id})
}
