package message

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Store keeps the operator's texts. An empty partner stands for all partners.
type Store interface {
	ListTemplates(ctx context.Context, id partner.ID) ([]Template, error)
	KeepTemplate(ctx context.Context, id partner.ID, t Template) error
	// DropTemplate forgets one; ErrUnchanged when there is none.
	DropTemplate(ctx context.Context, id partner.ID, k Key) error
	// GetEvent returns one event of a partner; alert.ErrEventNotFound when it is not kept.
	GetEvent(ctx context.Context, id partner.ID, event alert.EventID) (alert.Kept, error)
	// PartnerName, BreachTitle and FindPlanName are what people know them by; empty for one that is not there any more.
	PartnerName(ctx context.Context, id partner.ID) (string, error)
	BreachTitle(ctx context.Context, name string) (string, error)
	FindPlanName(ctx context.Context, id partner.ID, planID plan.ID) (string, error)
}

// Catalogue is all texts, and makes messages of them.
type Catalogue struct{ store Store }

// NewCatalogue joins the texts to a store.
func NewCatalogue(store Store) *Catalogue { return &Catalogue{store} }

// ListTemplates returns every text as it counts for a partner, or for those without one of their own.
func (c *Catalogue) ListTemplates(ctx context.Context, id partner.ID) ([]Template, error) {
	changed, err := c.loadChanged(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []Template
	for _, k := range ListKeys() {
		t, ok := changed[k]
		if !ok {
			if t, err = builtinTemplate(k); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// loadChanged returns the operator's texts, with the partner's own in place of those for all partners.
func (c *Catalogue) loadChanged(ctx context.Context, id partner.ID) (map[Key]Template, error) {
	texts := map[Key]Template{}
	for _, of := range slices.Compact([]partner.ID{"", id}) {
		list, err := c.store.ListTemplates(ctx, of)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			if t.Origin = ForPartner; of == "" {
				t.Origin = ByOperator
			}
			texts[t.Key] = t
		}
	}
	return texts, nil
}

func (c *Catalogue) GetTemplate(ctx context.Context, id partner.ID, k Key) (Template, error) {
	if err := k.CheckKey(); err != nil {
		return Template{}, err
	}
	changed, err := c.loadChanged(ctx, id)
	if err != nil {
		return Template{}, err
	}
	if t, ok := changed[k]; ok {
		return t, nil
	}
	return builtinTemplate(k)
}

// SetTemplate keeps a text for a partner, or for all partners.
func (c *Catalogue) SetTemplate(ctx context.Context, id partner.ID, t Template) error {
	if err := t.CheckTemplate(); err != nil {
		return err
	}
	return c.store.KeepTemplate(ctx, id, t)
}

// ResetTemplate forgets a text of the operator's.
func (c *Catalogue) ResetTemplate(ctx context.Context, id partner.ID, k Key) error {
	if err := k.CheckKey(); err != nil {
		return err
	}
	err := c.store.DropTemplate(ctx, id, k)
	if errors.Is(err, ErrUnchanged) {
		return ErrUnchanged.With("text", fault.NotChangedHere)
	}
	return err
}

// PreviewTemplate shows a text with made-up values.
func PreviewTemplate(t Template) (Message, error) {
	if err := t.CheckTemplate(); err != nil {
		return Message{}, err
	}
	return t.renderMessage(sampleValues(t.Event, t.Language)), nil
}

// RenderEvent returns the message for an event, if the caller's areas allow it to read such events.
func (c *Catalogue) RenderEvent(
	ctx context.Context, id partner.ID, of alert.Areas, event alert.EventID, channel Channel, l partner.Language,
) (Message, error) {
	e, err := c.store.GetEvent(ctx, id, event)
	if err != nil {
		return Message{}, err
	}
	if !of.CanRead(e.Type) {
		return Message{}, alert.ErrEventNotFound
	}
	body, err := parseEventBody(e)
	if err != nil {
		return Message{}, err
	}
	t, err := c.GetTemplate(ctx, id, Key{e.Type, channel, l})
	if err != nil {
		return Message{}, err
	}
	known, err := c.loadNames(ctx, id, body)
	if err != nil {
		return Message{}, err
	}
	return t.renderMessage(body.wordValues(e.At, l, known)), nil
}

// loadNames looks up what an event names by an id. What has no name any more is said by its id.
func (c *Catalogue) loadNames(ctx context.Context, id partner.ID, body eventBody) (n names, err error) {
	if n.partner, err = c.store.PartnerName(ctx, id); err != nil {
		return n, err
	}
	if name := body.worstFinding().Breach; name != "" {
		n.breach, err = c.store.BreachTitle(ctx, name)
		n.breach = cmp.Or(n.breach, name)
	}
	if planID := body.Data.PlanID; planID != "" && err == nil {
		n.plan, err = c.store.FindPlanName(ctx, id, plan.ID(planID))
		n.plan = cmp.Or(n.plan, planID)
	}
	return n, err
}
