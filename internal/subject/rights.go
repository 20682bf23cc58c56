package subject

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// Rights answers what people and authorities ask.
type Rights struct {
	store   Store
	tenants Partners
	trail   *operator.Trail
	now     func() time.Time
}

// NewRights joins the rules to a store, the audit trail and a clock.
func NewRights(store Store, tenants Partners, trail *operator.Trail, now func() time.Time) *Rights {
	return &Rights{store: store, tenants: tenants, trail: trail, now: now}
}

// Reference returns the audit trail's name for a person.
func (d *Rights) Reference(p Person) string { return d.store.PersonReference(p) }

// FindReferred returns the person of a partner that a reference names. URLs of pages hold references instead of user
// hashes.
func (d *Rights) FindReferred(ctx context.Context, id partner.ID, ref string) (Person, error) {
	user, err := d.store.FindUserByReference(ctx, id, ref)
	return Person{User: user, Partner: id}, err
}

// DescribePerson returns what a page shows of a person of one partner, and who looked at it.
func (d *Rights) DescribePerson(ctx context.Context, who partner.Partner, p Person) (Held, []Access, error) {
	h, err := d.store.ReadHeldRows(ctx, who, p)
	if err != nil {
		return h, nil, fmt.Errorf("read what is held: %w", err)
	}
	looked, err := d.store.AccessesOf(ctx, []Held{h}, p)
	return h, looked, err
}

// ExportPerson returns everything held about a person, partner by partner; partners that hold nothing are left out.
func (d *Rights) ExportPerson(ctx context.Context, p Person) ([]Held, error) {
	all, err := d.readHeld(ctx, p)
	return slices.DeleteFunc(all, Held.Empty), err
}

// readHeld returns what each partner holds about a person.
func (d *Rights) readHeld(ctx context.Context, p Person) ([]Held, error) {
	list := d.tenants.ListPartners
	if p.Partner != "" {
		list = partner.One{Of: d.tenants, ID: p.Partner}.ListPartners
	}
	partners, err := list(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Held, 0, len(partners))
	for _, who := range partners {
		h, err := d.store.Held(ctx, who, p)
		if err != nil {
			return nil, fmt.Errorf("read what is held: %w", err)
		}
		all = append(all, h)
	}
	return all, nil
}

// Access is one entry of the audit trail: an operator read or changed data of a person.
type Access struct {
	operator.Entry
}

// ListAccesses returns who looked at or changed anything of a person's, newest first.
func (d *Rights) ListAccesses(ctx context.Context, p Person) ([]Access, error) {
	all, err := d.readHeld(ctx, p)
	if err != nil {
		return nil, err
	}
	return d.store.AccessesOf(ctx, all, p)
}
