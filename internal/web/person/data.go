package person

import (
	"bytes"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/subject"
)

// showDataPage shows what the person may do with their data: a link that was asked for with a key that could not read
// all of it gives no copy.
func showDataPage(_ *Pages, r *request) (answer, error) {
	return view{"data", "data.title", r.session}, nil
}

// actorName is who the audit trail says took a copy.
const actorName = "person"

// downloadCopy hands out everything that is held about the person, in the clear: it is theirs (LGPD, art. 18). It is in
// the audit trail before it is given.
func downloadCopy(p *Pages, r *request) (answer, error) {
	if !r.session.Copy {
		return nil, errNotFound
	}
	if p.copies.TakeToken(r.session.Link) > 0 {
		return nil, errTooMany
	}
	ctx, who := r.Context(), subject.Person{User: r.session.User, Partner: r.who.ID}
	actor, about := operator.Actor{Name: actorName, From: r.from}, p.Rules.Subjects.Reference(who)
	err := p.Rules.Audit.RecordAction(ctx, actor, "subject.export", about, "by the person, on their page")
	if err != nil {
		return nil, err
	}
	held, err := p.Rules.Subjects.ExportPerson(ctx, who)
	if err != nil {
		return nil, err
	}
	for i := range held {
		forPerson(&held[i])
	}
	made, write, ending := file{kind: "text/plain; charset=utf-8"}, subject.WriteText, ".txt"
	if r.trimmedField("format") == "json" {
		made.kind, ending, write = "application/json", ".json", subject.WriteJSON
	}
	var b bytes.Buffer
	if err := write(&b, held); err != nil {
		return nil, err
	}
	made.name, made.body = "meus-dados-"+p.Now().In(brazil).Format("2006-01-02")+ending, b.Bytes()
	return made, nil
}

// forPerson removes the operators' internal notes and the card numbers that the partner itself is not shown: the holder
// of any of the partner's keys could otherwise request a link to this page and read them.
func forPerson(h *subject.Held) {
	for i := range h.Cases {
		h.Cases[i].Moves = cyber.ShownToPerson(h.Cases[i].Moves)
	}
	if !h.Partner.Settings.MaskCards {
		return
	}
	for i := range h.Subscriptions {
		b := &h.Subscriptions[i].Beneficiary
		for _, card := range []*string{&b.PrimaryCard, &b.UserCard} {
			if *card != "" {
				*card = identifier.MaskValue(identifier.Card, *card)
			}
		}
	}
}
