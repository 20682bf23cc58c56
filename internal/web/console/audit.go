package console

import (
	"encoding/hex"
	"errors"

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

// listAudit shows one page of the audit trail.
func listAudit(c *Console, r *request) (answer, error) { return c.auditView(r, nil) }

// auditView shows the audit trail, with the outcome of a check when one was just made.
func (c *Console) auditView(r *request, checked *auditCheck) (answer, error) {
	f := c.parseFilterQuery(r, &auditList, r.URL.Query(), "", nil)
	entries, next := callRulePair2(r, f.readEntries, &c.Rules, perPage)
	list := c.newListView(r, &auditList, f, nil, len(entries), next, -1)
	return view{"audit", "Auditoria", auditPage{list, c.auditRows(r, entries), checked}}, nil
}

// auditRows puts e-mails in the place of operators' ids.
func (c *Console) auditRows(r *request, entries []operator.Entry) []auditRow {
	emails := callRuleWith(r, operatorEmails, &c.Rules)
	rows := make([]auditRow, len(entries))
	for i, e := range entries {
		rows[i] = auditRow{e, e.Name}
		if email := emails[e.Name]; email != "" {
			rows[i].Who = email
		} else if c.confined { // who of the service it was, from where and with what words is not for partners
			rows[i] = auditRow{operator.Entry{Seq: e.Seq, At: e.At, Action: e.Action, Subject: e.Subject}, theService}
		}
	}
	return rows
}

// verifyAudit checks the chain of the audit trail against a head that was noted earlier. A broken chain is shown, not
// an error.
func verifyAudit(c *Console, r *request) (answer, error) {
	expect := parseValue(r, operator.ParseHead, r.trimmedField("expect"))
	if c.recordAction(r, "audit.verify", "", ""); r.failure != nil {
		return nil, r.failure
	}
	head, err := c.Rules.Audit.VerifyTrail(r.Context(), expect, nil)
	check := &auditCheck{Whole: err == nil, Lines: head.Seq, MAC: hex.EncodeToString(head.MAC)}
	if errors.Is(err, operator.ErrTrailBroken) {
		check.Why = sentenceOf(err).Detail
	} else if err != nil {
		return nil, err
	}
	return c.auditView(r, check)
}
