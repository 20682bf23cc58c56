package console

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/operator"
)

// auditPage is the data of the audit trail's page.
type auditPage struct {
	List    listView
	Entries []auditRow
	// Checked is what a verification found.
	Checked *auditCheck
}

// auditRow is a line of the audit trail as the page shows it.
type auditRow struct {
	operator.Entry
	// Who is the e-mail of an operator, or the actor as it stands.
	Who string
}

// auditCheck is the outcome of a check of the audit trail; MAC is the head to be noted outside of the service.
type auditCheck struct {
	Whole bool
	Lines int64
	MAC   string
	Why   string
}

func listAudit(c *Console, r *request) (answer, error) { return c.auditView(r, nil) }

// auditView shows the audit trail, with the outcome of a check when one was just made.
func (c *Console) auditView(r *request, checked *auditCheck) (answer, error) {
	ctx := r.Context()
	f, err := c.parseFilterQuery(ctx, &auditList, r.URL.Query(), "", nil)
	if err != nil {
		return nil, err
	}
	entries, next, err := f.readEntries(ctx, &c.Rules, perPage)
	if err != nil {
		return nil, err
	}
	part := listPart{shown: len(entries), next: next, total: -1}
	list, err := c.newListView(ctx, r.viewer, &auditList, f, part)
	if err != nil {
		return nil, err
	}
	rows, err := c.auditRows(ctx, entries)
	if err != nil {
		return nil, err
	}
	return view{"audit", "Auditoria", auditPage{list, rows, checked}}, nil
}

// auditRows puts e-mails in the place of operators' ids.
func (c *Console) auditRows(ctx context.Context, entries []operator.Entry) ([]auditRow, error) {
	emails, err := operatorEmails(ctx, &c.Rules)
	if err != nil {
		return nil, err
	}
	rows := make([]auditRow, len(entries))
	for i, e := range entries {
		rows[i] = auditRow{e, e.Name}
		if email := emails[e.Name]; email != "" {
			rows[i].Who = email
		} else if c.confined { // who of the service it was, from where and with what words is not for partners
			rows[i] = auditRow{operator.Entry{Seq: e.Seq, At: e.At, Action: e.Action, Subject: e.Subject}, theService}
		}
	}
	return rows, nil
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
	return c.auditView(r, check)
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
