package console

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
)

func statusOptions() (options []choiceOption) {
	for _, s := range cyber.CaseStatuses() {
		options = append(options, choiceOption{string(s), string(s)})
	}
	return options
}

// casesList has no table of its own: the desk shows it in lanes. Its export goes through the statuses in their order.
var casesList = listing{
	name: "cases", title: "Casos", role: operator.Viewer,
	fields: []listField{partnerField, {Name: "status", Label: "Situação", Options: statusOptions()}, {Name: "service", Label: "Serviço", Text: true}, {Name: "owner", Label: "Responsável", Text: true}},
	header: []string{"id", "serviço", "parceiro", "situação", "aberto", "prazo", "responsável"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		lane, next, err := f.lane(ctx, in, limit)
		if err != nil {
			return nil, "", err
		}
		names, err := namesIn(ctx, in)
		lines := make([]listLine, len(lane.Cases))
		for i, one := range lane.Cases {
			due, _ := one.Clock.Due()
			lines[i] = listLine{string(one.Partner) + "/" + string(one.ID), []string{
				string(one.ID), string(one.Service), names[one.Partner], string(one.Status), stamp(one.CreatedAt), stamp(due), one.Assignee,
			}}
		}
		return lines, next, err
	},
}

// desk is the filter of the desk, for one of its lanes. Owners are told by words of ours or by an operator's address, which
// stands in no address of a page that this makes.
func (f filter) desk(status cyber.CaseStatus, limit int) cyber.LaneFilter {
	l := cyber.LaneFilter{Partner: f.Partner, Service: cyber.ServiceID(f.is("service")), Status: status, Limit: limit}
	switch owner := f.is("owner"); owner {
	case ownerNone:
		l.Unassigned = true
	default:
		l.Assignee = owner
	}
	return l
}

// lane reads cases of the status that the place names, and goes on with the next status behind its end.
func (f filter) lane(ctx context.Context, in *Rules, limit int) (cyber.Lane, string, error) {
	statuses := cyber.CaseStatuses()
	parts := strings.SplitN(f.After, ".", 3)
	at, _ := strconv.Atoi(parts[0]) // anything else is the beginning
	for ; at < len(statuses); at++ {
		status := statuses[at]
		if only := f.is("status"); only != "" && only != string(status) || only == "" && !status.Open() {
			parts = nil
			continue
		}
		one := f.desk(status, limit)
		if len(parts) == 3 {
			one.After.ID = cyber.CaseID(parts[2])
			if due, _ := strconv.ParseInt(parts[1], 10, 64); due != 0 {
				one.After.Due = time.UnixMicro(due)
			}
		}
		lane, err := in.Cases.Desk(ctx, one)
		if err != nil {
			return lane, "", err
		}
		if lane.Next.ID != "" {
			due := int64(0)
			if !lane.Next.Due.IsZero() {
				due = lane.Next.Due.UnixMicro()
			}
			return lane, strings.Join([]string{strconv.Itoa(at), strconv.FormatInt(due, 10), string(lane.Next.ID)}, "."), nil
		}
		if len(lane.Cases) > 0 {
			return lane, strconv.Itoa(at + 1), nil
		}
		parts = nil
	}
	return cyber.Lane{}, "", nil
}

// auditList is the trail without what its lines say beyond their columns, which may name people.
var auditList = listing{
	name: "audit", title: "Auditoria", role: operator.Admin,
	fields: []listField{{Name: "actor", Text: true}, {Name: "action", Text: true}, {Name: "subject", Text: true}},
	header: []string{"número", "quando", "quem", "ação", "sobre"},
	read: func(ctx context.Context, in *Rules, f filter, limit int) ([]listLine, string, error) {
		entries, err := in.Audit.Entries(ctx, operator.Filter{Actor: f.is("actor"), Action: f.is("action"), Subject: f.is("subject"), Before: f.number(), Limit: limit + 1})
		next := ""
		if len(entries) > limit {
			entries = entries[:limit]
			next = seqText(entries[limit-1].Seq)
		}
		lines := make([]listLine, len(entries))
		for i, e := range entries {
			lines[i] = listLine{strconv.FormatInt(e.Seq, 10), []string{strconv.FormatInt(e.Seq, 10), stamp(e.At), e.Name, e.Action, e.Subject}}
		}
		return lines, next, err
	},
}
