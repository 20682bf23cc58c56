package console

import (
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subscription"
)

// movePage is the data of the page that ends, suspends or resumes many subscriptions at once.
type movePage struct {
	partnerChoice
	// Moved is what a move came to.
	Moved *subscription.MovedTable
}

var moveOptions = []choiceOption{{"suspend", "Suspender"}, {"resume", "Retomar"}, {"end", "Encerrar"}}

func (c *Console) newMoveView(r *request, moved *subscription.MovedTable) (answer, error) {
	choice, err := c.choosePartner(r)
	return newView("subscriptions-move", "Mover assinaturas", movePage{choice, moved}, err)
}

func showMoveForm(c *Console, r *request) (answer, error) { return c.newMoveView(r, nil) }

// moveAsked reads which partner and which move, and records them.
func (c *Console) moveAsked(r *request, detail string) (partner.ID, subscription.Move, error) {
	choice, err := c.choosePartner(r)
	if err != nil {
		return "", 0, err
	}
	name := r.trimmedField("move")
	move, err := subscription.ParseMoveName(name)
	if err != nil {
		return "", 0, err
	}
	id := choice.Current.ID
	if id == "" {
		return "", 0, partner.ErrNotFound
	}
	return id, move, c.recordAction(r, "subscription."+name, string(id), detail)
}

// moveHolder moves all subscriptions that a company pays for.
func moveHolder(c *Console, r *request) (answer, error) {
	id, move, err := c.moveAsked(r, "holder")
	if err != nil {
		return nil, err
	}
	selected := subscription.Selection{Holder: plainCNPJ(r.trimmedField("holder"))}
	moved, err := c.Rules.Subscriptions.MoveSubscriptions(r.Context(), id, selected, move)
	if err != nil {
		return nil, err
	}
	return c.newMoveView(r, &subscription.MovedTable{Found: moved.Found, Changed: moved.Changed})
}

// moveTable moves the subscriptions of an uploaded table while it arrives.
func moveTable(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	file := form.readUpload()
	if err := form.err(); err != nil {
		return nil, err
	}
	id, move, err := c.moveAsked(r, "table")
	if err != nil {
		return nil, err
	}
	table, err := subscription.NewCSVReader(file)
	if err != nil {
		return nil, err
	}
	moved, err := c.Rules.Subscriptions.MoveTable(r.Context(), id, table, move, func(int64, subscription.MovedTable) {})
	if err != nil {
		return nil, err
	}
	return c.newMoveView(r, &moved)
}
