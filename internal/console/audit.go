package console

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/seal"
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

// Keys are the keys that seal personal data.
type Keys interface {
	// State names the key that seals, all that open, and the file that holds them.
	State() (primary uint32, all []uint32, file string)
	// Count reads every sealed value, so it takes a while.
	Count(ctx context.Context) (current, old int64, err error)
	Rotate(ctx context.Context) error
}

// keysPage is the data of the page about the encryption keys: which key seals new values, and which others are still
// needed.
type keysPage struct {
	recentJobs
	Primary uint32
	All     []uint32
	File    string
	// Counted says that Current and Old were counted just now.
	Counted      bool
	Current, Old int64
}

// loadKeysPage returns a partner's keys as their page shows them.
func (c *Console) loadKeysPage(r *request) (page keysPage) {
	page.Primary, page.All, page.File = c.Rules.Keys.State()
	page.Jobs = c.latestJobs(r, shownJobs, seal.KindRewrite)
	return page
}

// showKeysPage shows a partner's keys.
func showKeysPage(c *Console, r *request) (answer, error) {
	return view{"keys", "Chaves de cifra", c.loadKeysPage(r)}, nil
}

// countKeys counts the values under the present key and under old ones. It reads the whole database, so it runs only
// on demand.
func countKeys(c *Console, r *request) (answer, error) {
	c.recordAction(r, "keys.status", "", "")
	page := c.loadKeysPage(r)
	page.Counted = true
	page.Current, page.Old = callRulePair(r, func(ctx context.Context, _ struct{}) (int64, int64, error) { return c.Rules.Keys.Count(ctx) }, struct{}{})
	return view{"keys", "Chaves de cifra", page}, nil
}

// rotateKeys writes the key file, which no transaction holds: the line comes first.
func rotateKeys(c *Console, r *request) (answer, error) {
	return c.recordAndRun(r, "keys.rotate", "", "", redirect{"/keys", "keys.rotated"}, func() error { return c.Rules.Keys.Rotate(r.Context()) })
}
