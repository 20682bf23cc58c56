package main

import (
	"context"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/subject"
)

// subjectEraseCmd is 'vigia subject erase'. An erasure needs a reason and cannot be undone.
type subjectEraseCmd struct {
	personFlags
	confirmFlag
	Reason string `required:"" placeholder:"TEXT" help:"Why; kept sealed with the erasure, and in the audit trail."`
}

func (subjectEraseCmd) Help() string {
	return "Takes away subscriptions, watched values, findings, cases, devices, answers, scores and events with " +
		"their deliveries, takes the\n" +
		"person out of kept answers, and has the deleted bytes overwritten. What stays: the audit trail, and a " +
		"tombstone of keyed indexes,\n" +
		"which names nobody and by which 'vigia restore' and 'vigia subject replay' erase the person again. A " +
		"partner may enrol the\n" +
		"person anew. Segments stay: what they hold is not joined to a person, but to keyed fingerprints of leaked " +
		"values.\n\n" +
		"Examples:\n  vigia subject erase --cpf 529.982.247-25 --reason 'pedido 1234, art. 18 VI'\n" +
		"  vigia subject erase --user-hash e3d5a0... --partner pt_... --reason 'pedido 1235' --yes"
}

func (e *subjectEraseCmd) Run(ctx context.Context, a *app.App, o *output) error {
	p, err := e.parsePerson()
	if err != nil {
		return err
	}
	if err := e.confirmErasure(ctx, a, o, p); err != nil {
		return err
	}
	out, err := a.EraseSubject(ctx, systemActor(), p, e.Reason)
	if err != nil {
		return err
	}
	erased, total := make([]record, len(out.Partners)), int64(0)
	for i, done := range out.Partners {
		erased[i] = newRecord(
			"partner_id", done.Partner,
			"erasure_id", out.Tombstones[i].ID,
			"rows", done.Counts,
			"total", done.Total(),
		)
		total += done.Total()
	}
	return o.showRecord(
		newRecord("partners", erased, "rows", total, "scrubbed", out.Scrubbed, "log", app.ErasureLog(a.Config)),
		"The log holds the tombstones: keep a copy of it apart from backups.",
	)
}

// confirmErasure shows how much would be erased, by partner, and asks.
func (e *subjectEraseCmd) confirmErasure(ctx context.Context, a *app.App, o *output, p subject.Person) error {
	if e.Yes {
		return nil
	}
	held, err := a.Subjects.ExportPerson(ctx, p)
	if err != nil {
		return err
	}
	return e.confirm(o, "Erase all of it? It cannot be undone.", newRecord("held", makeRecords(held,
		func(h subject.Held) record {
			return newRecord(
				"partner", h.Partner.Name,
				"subscriptions", len(h.Subscriptions),
				"watched_values", len(h.Assets),
				"findings", len(h.Findings),
				"cases", len(h.Cases),
				"devices", len(h.Devices),
				"answers", len(h.Answers),
				"events", len(h.Events),
			)
		})))
}

// subjectLogCmd is 'vigia subject log'. The log holds keyed indexes only and is to be kept apart from backups.
type subjectLogCmd struct{}

func (subjectLogCmd) Help() string {
	return "One JSON object a line, keyed indexes only. It names nobody without the keys, so it may be kept " +
		"anywhere.\n\n" +
		"Example:\n  vigia subject log > /safe/erasures.jsonl"
}

func (subjectLogCmd) Run(ctx context.Context, a *app.App, o *output) error {
	_, err := a.Subjects.WriteErasureLog(ctx, o.w)
	return err
}

// subjectReplayCmd is 'vigia subject replay', for a database that was restored by other means than 'vigia restore'.
type subjectReplayCmd struct {
	File string `arg:"" name:"log" help:"The log of erasures."`
}

func (subjectReplayCmd) Help() string {
	return "For a database that was restored from a copy older than an erasure, by pg_restore for instance: whatever " +
		"is older than its person's\n" +
		"erasure is erased again. What a partner enrolled after it stays.\n\nExample:\n  vigia subject replay " +
		"/safe/erasures.jsonl"
}

func (r *subjectReplayCmd) Run(ctx context.Context, a *app.App, o *output) error {
	log, err := openNamedFile(r.File)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // only read
	done, err := a.Subjects.ReplayLog(ctx, log)
	if err != nil {
		return err
	}
	return o.showRecord(newRecord("erasures", done.Lines, "rows", done.Rows, "scrubbed", done.Scrubbed))
}
