package console

import (
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// searchPage is the data of the search; Full says that there were more hits than the page shows.
type searchPage struct {
	Asked bool
	Hits  []hitRow
	Full  bool
	// Mistyped says that the text is a CPF with wrong check digits.
	Mistyped bool
}

// hitRow is a hit as the page lists it.
type hitRow struct {
	Label, PartnerName, ID, Path string
}

var hitLabels = map[subject.HitKind]string{
	subject.HitPerson: "Pessoa", subject.HitSubscription: "Assinatura", subject.HitCase: "Caso", subject.HitEvent: "Evento", subject.HitDevice: "Dispositivo",
	subject.HitEndpoint: "Webhook", subject.HitPartner: "Parceiro",
}

// pathOfHit returns the path of the page of a hit. An operator who can find something may also open it, partners'
// people too.
func pathOfHit(h subject.Hit) string {
	id := string(h.Partner)
	switch h.Kind {
	case subject.HitPerson:
		return joinPath("people", id, h.ID)
	case subject.HitSubscription:
		return joinPath("subscriptions", id, h.ID)
	case subject.HitCase:
		return joinPath("cases", h.ID)
	case subject.HitEvent:
		return joinPath("events", id, h.ID)
	case subject.HitDevice:
		return joinPath("devices", h.ID)
	case subject.HitEndpoint:
		return joinPath("webhooks", id, h.ID)
	case subject.HitPartner:
	}
	return joinPath("partners", id)
}

// showSearch shows the empty search form.
func showSearch(*Console, *request) (answer, error) {
	return view{"search", "Busca", searchPage{}}, nil
}

// searchPeople finds people by what a caller told the operator on the telephone. It is a POST, so that the typed text gets
// into no address, history or log. The audit trail records how the text was read and which people it found.
func searchPeople(c *Console, r *request) (answer, error) {
	hits, as, err := c.Rules.Search.FindText(r.Context(), r.PostFormValue("q"))
	if err != nil {
		return nil, err
	}
	if err := c.noteSearch(r, hits, as); err != nil {
		return nil, err
	}
	if len(hits) == 1 {
		return redirect{to: pathOfHit(hits[0])}, nil
	}
	names, err := c.partnerNames(r)
	if err != nil {
		return nil, err
	}
	page := searchPage{Asked: true, Full: len(hits) == subject.MaxHits, Mistyped: len(hits) == 0 && subject.HasWrongCheckDigits(r.PostFormValue("q"))}
	for _, h := range hits {
		page.Hits = append(page.Hits, hitRow{hitLabels[h.Kind], names[h.Partner], h.ID, pathOfHit(h)})
	}
	return view{"search", "Busca", page}, nil
}

// noteSearch records the search in the audit trail: one line per hit, so that the person finds it among the accesses to
// their data, and a single line without a subject when there are no hits.
func (c *Console) noteSearch(r *request, hits []subject.Hit, as []string) error {
	detail := strings.Join(as, ", ") + ": " + strconv.Itoa(len(hits))
	if len(hits) == 0 {
		return c.recordAction(r, "search", "", detail)
	}
	for _, h := range hits {
		of := h.ID
		if h.Kind == subject.HitSubscription {
			of = string(h.Partner) + "/" + h.ID
		}
		if err := c.recordAction(r, "search", of, detail); err != nil {
			return err
		}
	}
	return nil
}

// personPath returns the path of the page about one of a partner's people.
func (c *Console) personPath(id partner.ID, user partner.UserHash) string {
	return joinPath("people", string(id), c.referenceOf(id, user))
}
