package console

import (
	"cmp"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// parsePerson returns the partner and the person that the address refers to.
func (c *Console) parsePerson(r *request) (partner.Partner, subject.Person, error) {
	p, err := c.partnerInPath(r)
	if err != nil {
		return partner.Partner{}, subject.Person{}, err
	}
	who, err := c.Rules.Subjects.FindReferred(r.Context(), p.ID, r.PathValue("ref"))
	return p, who, err
}

// personNamed reads a person from the address, or from a form: a POST, so that the hash stands in no address, history
// or log.
func (c *Console) personNamed(r *request) (partner.Partner, subject.Person, error) {
	if r.PathValue("ref") != "" {
		return c.parsePerson(r)
	}
	user, err := partner.ParseUserHash("user_hash", r.trimmedField("user_hash"))
	if err != nil {
		return partner.Partner{}, subject.Person{}, err
	}
	p, err := c.Rules.Partners.PartnerByID(r.Context(), partner.ID(r.trimmedField("partner")))
	return p, subject.Person{User: user, Partner: p.ID}, err
}

// findPerson redirects to the page of the person that the form names.
func findPerson(c *Console, r *request) (answer, error) {
	p, who, err := c.personNamed(r)
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "search", c.Rules.Subjects.Reference(who), "user hash"); err != nil {
		return nil, err
	}
	return redirect{to: c.personPath(p.ID, who.User)}, nil
}

// newSubjectsPage returns the page with the partners to choose from and the form filled in as it was sent.
func (c *Console) newSubjectsPage(r *request) (subjectsPage, error) {
	all, err := c.Rules.Partners.ListPartners(r.Context())
	if err != nil {
		return subjectsPage{}, err
	}
	page := subjectsPage{
		Partners: all,
		CPF:      r.PostForm.Get("cpf"),
		User:     r.PostForm.Get("user_hash"),
		Partner:  cmp.Or(r.PostForm.Get("partner"), string(r.scope.at.ID)),
	}
	if page.Partner != "" {
		page.Open, err = c.gatherOpenErasures(r.Context(), partner.ID(page.Partner))
	}
	return page, err
}

// personPath returns the path of the page about one of a partner's people.
func (c *Console) personPath(id partner.ID, user partner.UserHash) string {
	return joinPath("people", id, c.referenceOf(id, user))
}
