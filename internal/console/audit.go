package console

import (
	"encoding/hex"
	"errors"
	"net/url"
	"strconv"

	"github.com/vigiahq/vigia/internal/operator"
)

const auditPerPage = 50

// auditPage is the data of the audit trail's page.
type auditPage struct {
	List    listView
	Entries []auditRow
	Filter  operator.Filter
	// Next is the number to go on from; 0 at the end.
	Next int64
	// Checked is what a verification found.
	Checked *auditCheck
}

type auditRow struct {
	operator.Entry
	// Who is the e-mail of an operator, or the actor as it stands.
	Who string
}

type auditCheck struct {
	Whole bool
	Lines int64
	MAC   string
	Why   string
}

func listAudit(c *Console, r *request) (answer, error) {
	q := r.URL.Query()
	before, _ := strconv.ParseInt(q.Get("before"), 10, 64) // no number means from the newest
	return c.auditView(r, operator.Filter{
		Actor: q.Get("actor"), Action: q.Get("action"), Subject: q.Get("subject"), Before: before, Limit: auditPerPage + 1,
	}, nil)
}

func (c *Console) auditView(r *request, f operator.Filter, checked *auditCheck) (answer, error) {
	entries, err := c.Rules.Audit.Entries(r.Context(), f)
	if err != nil {
		return nil, err
	}
	page := auditPage{Filter: f, Checked: checked}
	if len(entries) > auditPerPage {
		entries = entries[:auditPerPage]
		page.Next = entries[auditPerPage-1].Seq
	}
	if page.Entries, err = c.auditRows(r, entries); err != nil {
		return nil, err
	}
	around, err := c.filterOf(r.Context(), &auditList, url.Values{"actor": {f.Actor}, "action": {f.Action}, "subject": {f.Subject}}, "", nil)
	if err != nil {
		return nil, err
	}
	page.List, err = c.listView(r, &auditList, around, nil, len(entries), "", -1)
	return view{"audit", "Auditoria", page}, err
}

// auditRows puts e-mails in the place of operators' ids.
func (c *Console) auditRows(r *request, entries []operator.Entry) ([]auditRow, error) {
	people, err := c.Rules.Operators.Operators(r.Context())
	if err != nil {
		return nil, err
	}
	emails := map[string]string{}
	for _, o := range people {
		emails[string(o.ID)] = o.Email
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

func verifyAudit(c *Console, r *request) (answer, error) {
	expect, err := operator.ParseHead(r.text("expect"))
	if err != nil {
		return nil, err
	}
	if err := c.note(r, "audit.verify", "", ""); err != nil {
		return nil, err
	}
	head, err := c.Rules.Audit.Verify(r.Context(), expect, nil)
	check := &auditCheck{Whole: err == nil, Lines: head.Seq, MAC: hex.EncodeToString(head.MAC)}
	if errors.Is(err, operator.ErrTrailBroken) {
		check.Why = sentenceOf(err).Detail
	} else if err != nil {
		return nil, err
	}
	return c.auditView(r, operator.Filter{Limit: auditPerPage + 1}, check)
}
