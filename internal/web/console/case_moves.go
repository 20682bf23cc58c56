package console

import (
	"context"
	"net/url"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

var moveCaseStatus = changeHandler("case.move", "id", "/cases/{id}", "case.moved",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		to, err := cyber.ParseCaseStatus(r.trimmedField("to"))
		if err != nil {
			return "", err
		}
		_, err = in.Cases.MoveCase(r.Context(), id, to, r.who.Email, "")
		return string(to), err
	})

// endCaseLater makes a final move that can be undone for a while, and goes on with the next case.
func endCaseLater(c *Console, r *request) (answer, error) {
	to, err := cyber.ParseCaseStatus(r.trimmedField("to"))
	if err != nil {
		return nil, err
	}
	id := cyber.CaseID(r.PathValue("id"))
	err = c.changeWithAudit(r, "case.move", func(ctx context.Context, in *Rules) (string, string, error) {
		_, err := in.Cases.ScheduleEnd(ctx, id, to, r.who.Email)
		return string(id), string(to), err
	})
	if err != nil {
		return nil, err
	}
	next := joinPath("cases", id)
	if r.trimmedField("go") == "next" {
		next, err = c.nextCasePath(r.Context(), r.who.Email, id, cyber.CaseID(r.trimmedField("next")))
		if err != nil {
			return nil, err
		}
		next += "?undo=" + url.QueryEscape(string(id))
	}
	return redirect{next, "case.ending"}, nil
}

// nextCasePath returns the page of the next case of the queue that an operator came from. Where that is not known, or
// is dealt with, it is the most urgent case that waits for the operator, or else one without an owner, or else the
// desk.
func (c *Console) nextCasePath(ctx context.Context, email string, done, queued cyber.CaseID) (string, error) {
	if queued != "" {
		one, _, err := c.Rules.Cases.GetCase(ctx, queued)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return "", err
		}
		if err == nil && one.ID != done && one.Status.Open() && one.Ending.At.IsZero() {
			return joinPath("cases", one.ID), nil
		}
	}
	for _, f := range []cyber.LaneFilter{{Assignee: email, Limit: perLane}, {Unassigned: true, Limit: perLane}} {
		waiting, err := c.Rules.Cases.ListLane(ctx, f)
		if err != nil {
			return "", err
		}
		for _, one := range waiting.Cases {
			if one.ID != done && one.Ending.At.IsZero() && one.Status != cyber.CaseWaiting {
				return joinPath("cases", one.ID), nil
			}
		}
	}
	return "/cases", nil
}

// undoCaseEnd takes back a final move.
var undoCaseEnd = changeHandler("case.undo", "id", "/cases/{id}", "case.undone",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		_, err := in.Cases.UndoScheduledEnd(r.Context(), id)
		return "", err
	})

// takeOverCase assigns a case to the operator who asks.
var takeOverCase = changeHandler("case.assign", "id", "/cases/{id}", "case.taken",
	func(r *request, in *Rules, id cyber.CaseID) (string, error) {
		_, err := in.Cases.TakeCase(r.Context(), id, r.who.Email)
		return r.who.Email, err
	})

// assignCase assigns the case in the path to the operator in the form.
func assignCase(c *Console, r *request) (answer, error) {
	id := cyber.CaseID(r.PathValue("id"))
	if err := c.assignTo(r, id); err != nil {
		return nil, err
	}
	return redirect{joinPath("cases", id), "case.assigned"}, nil
}

// movesForPartner returns the history of a case as the partner's people read it, without internal notes. colleagues are
// the partner's own operators.
func movesForPartner(moves []cyber.CaseMove, colleagues []operator.Operator) []cyber.CaseMove {
	own := map[string]bool{}
	for _, o := range colleagues {
		own[o.Email] = true
	}
	var list []cyber.CaseMove
	for _, m := range moves {
		switch {
		case own[m.Actor] || m.Actor == "": // a colleague's, or the person's own
		case m.Kind == cyber.MoveNote:
			continue
		case m.Kind == cyber.MoveStatus:
			m.Actor, m.Note = theService, "" // what was noted with a move is the operator's
		default:
			m.Actor = theService
		}
		list = append(list, m)
	}
	return list
}
