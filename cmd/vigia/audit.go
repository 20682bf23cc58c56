package main

import (
	"context"
	"fmt"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
)

// auditCmd groups the commands on the audit trail.
type auditCmd struct {
	List   auditListCmd   `cmd:"" help:"Show lines of the trail, newest first."`
	Verify auditVerifyCmd `cmd:"" help:"Check the whole trail: a line that was changed, removed, moved or added is found."`
}

// auditListCmd is 'vigia audit list'. Its flags narrow the list and can be combined.
type auditListCmd struct {
	Actor   string `placeholder:"WHO" help:"Only what this operator (op_...) or account (cli:...) did."`
	Action  string `placeholder:"ACTION" help:"Only this action, such as partner.create."`
	Subject string `placeholder:"ID" help:"Only what was done to this."`
	Before  int64  `placeholder:"LINE" help:"Only lines before this one."`
	Limit   int    `default:"50" placeholder:"N" help:"At most so many lines."`
}

func (auditListCmd) Help() string {
	return "Example:\n  vigia audit list --subject pt_... --limit 200 --json"
}

func (l *auditListCmd) Run(ctx context.Context, a *app.App, o *output) error {
	found, err := a.Audit.ListEntries(ctx, operator.Filter{
		Actor: l.Actor, Action: l.Action, Subject: l.Subject, Before: l.Before, Limit: max(l.Limit, 1),
	})
	if err != nil {
		return err
	}
	return o.listRecords(makeRecords(found, func(e operator.Entry) record {
		return newRecord(
			"line", e.Seq,
			"at", e.At,
			"actor", e.Name,
			"from", e.From,
			"action", e.Action,
			"subject", e.Subject,
			"detail", e.Detail,
		)
	}), "No line.")
}

// auditVerifyCmd is 'vigia audit verify'. Only a head that was noted elsewhere reveals that the end of the trail was
// cut off.
type auditVerifyCmd struct {
	Expect string `placeholder:"LINE:HEAD" help:"A head noted earlier (printed by this command and, once an hour, in the log): the trail must still hold it."`
}

func (auditVerifyCmd) Help() string {
	return "A trail that was cut off and put back to an older copy of the database can only be found with a head " +
		"noted elsewhere.\n\n" +
		"Example:\n  vigia audit verify --expect 1042:5f2c..."
}

func (v *auditVerifyCmd) Run(ctx context.Context, a *app.App, o *output) error {
	expect, err := operator.ParseHead(v.Expect)
	if err != nil {
		return err
	}
	head, err := a.Audit.VerifyTrail(ctx, expect, nil)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%d:%x", head.Seq, head.MAC)
	return o.showRecord(
		newRecord("lines", head.Seq, "head", text, "intact", true), "Note this head elsewhere, to check against later.",
	)
}
