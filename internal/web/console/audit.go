package console

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// auditCheck is the outcome of a check of the audit trail; MAC is the head to be noted outside of the service.
type auditCheck struct {
	Whole bool
	Lines int64
	MAC   string
	Why   string
}

// auditPart is what the list of the trail has in the place of a table.
type auditPart struct {
	Entries []auditRow
	// Checked is what a verification found.
	Checked *auditCheck
}

// gatherAudit returns one page of the audit trail.
func (c *Console) gatherAudit(ctx context.Context, _ viewer, f filter) (listPart, error) {
	entries, next, err := f.readEntries(ctx, &c.Rules, perPage)
	return listPart{shown: len(entries), next: next, total: -1, more: auditPart{Entries: entries}}, err
}

// verifyAudit checks the chain of the audit trail against a head that was noted earlier. A broken chain is shown, not
// an error.
func verifyAudit(c *Console, r *request) (answer, error) {
	expect, err := operator.ParseHead(r.trimmedField("expect"))
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "audit.verify", "", ""); err != nil {
		return nil, err
	}
	head, err := c.Rules.Audit.VerifyTrail(r.Context(), expect, nil)
	if err != nil && !errors.Is(err, operator.ErrTrailBroken) {
		return nil, err
	}
	check := &auditCheck{Whole: err == nil, Lines: head.Seq, MAC: hex.EncodeToString(head.MAC)}
	if err != nil {
		check.Why = sentenceOf(err).Detail
	}
	page, err := auditList.readPage(c, r)
	if err != nil {
		return nil, err
	}
	if part, ok := page.More.(auditPart); ok {
		page.More = auditPart{part.Entries, check}
	}
	return view{auditList.name, auditList.title, page}, nil
}

// describeAction returns an action of the trail in words; one that has none, such as one of a later release, as it is.
func describeAction(action string) string {
	if words, known := operator.DescribeAction(action); known {
		return words
	}
	return action
}

// actionOptions returns the actions of the trail as choices, in the order of their words.
func actionOptions() []choiceOption {
	var options []choiceOption
	for _, action := range operator.Actions() {
		options = append(options, choiceOption{action, describeAction(action)})
	}
	slices.SortFunc(options, func(a, b choiceOption) int { return strings.Compare(a.Label, b.Label) })
	return options
}
