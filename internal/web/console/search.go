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
	Hits  []subject.Hit
	Names map[partner.ID]string
	Full  bool
	// Mistyped says that the text is a CPF with wrong check digits.
	Mistyped bool
}

// hitPages are what hits are called and where their pages are; those below a partner have its id in the path.
var hitPages = map[subject.HitKind]struct {
	label, section string
	below          bool
}{
	subject.HitPerson:       {"Pessoa", "people", true},
	subject.HitSubscription: {"Assinatura", "subscriptions", true},
	subject.HitCase:         {"Caso", "cases", false},
	subject.HitEvent:        {"Evento", "events", true},
	subject.HitDevice:       {"Dispositivo", "devices", false},
	subject.HitEndpoint:     {"Webhook", "webhooks", true},
	subject.HitPartner:      {"Parceiro", "partners", false},
}

// pathOfHit returns the path of the page of a hit. An operator who can find something may also open it, partners'
// people too.
func pathOfHit(h subject.Hit) string {
	page := hitPages[h.Kind]
	if page.below {
		return joinPath(page.section, h.Partner, h.ID)
	}
	return joinPath(page.section, h.ID)
}

// showSearch shows the empty search form.
func showSearch(*Console, *request) (answer, error) {
	return view{"search", "Busca", searchPage{}}, nil
}

// searchPeople finds people by what a caller told the operator on the telephone. It is a POST, so that the typed text
// gets into no address, history or log. The audit trail records how the text was read and which people it found.
func searchPeople(c *Console, r *request) (answer, error) {
	text := r.PostFormValue("q")
	hits, as, err := c.Rules.Search.FindText(r.Context(), text)
	if err != nil {
		return nil, err
	}
	if err := c.noteSearch(r, hits, as); err != nil {
		return nil, err
	}
	if len(hits) == 1 {
		return redirect{to: pathOfHit(hits[0])}, nil
	}
	names, err := c.partnerNames(r.Context(), r.viewer)
	if err != nil {
		return nil, err
	}
	return view{"search", "Busca", searchPage{
		Asked:    true,
		Hits:     hits,
		Names:    names,
		Full:     len(hits) == subject.MaxHits,
		Mistyped: len(hits) == 0 && subject.HasWrongCheckDigits(text),
	}}, nil
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
