package console

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// confirmErase asks the operator to type a word before a person is erased, because an erasure cannot be undone.
func confirmErase(c *Console, r *request) (answer, error) {
	page, err := c.newSubjectsPage(r)
	return newView("subject-erase", "Apagar um titular", page, err)
}

// eraseWord is what has to be typed before a person is erased.
const eraseWord = "APAGAR"

// erasedPage is the data of the page after an erasure: what was deleted, partner by partner.
type erasedPage struct {
	Rows  []erasedRow
	Total int64
}

// erasedRow is what was deleted at one partner; Erasure is the id of the erasure in its log.
type erasedRow struct {
	Partner, Erasure string
	Counts           []choiceCount
}

// erasedKinds are the kinds of rows in words; one that is missing is shown as the store calls it.
var erasedKinds = map[string]string{
	"subscriptions":  "assinaturas",
	"watched values": "dados monitorados",
	"findings":       "ocorrências",
	"status changes": "mudanças de situação",
	"hits":           "buscas",
	"cases":          "casos",
	"case moves":     "passos de casos",
	"bookings":       "horários marcados",
	"devices":        "dispositivos",
	"answers":        "respostas",
	"scores":         "dias de pontuação",
	"events":         "eventos",
	"deliveries":     "entregas",
	"attempts":       "tentativas de entrega",
	"person":         "pessoa",
	"kept answers":   "respostas guardadas da API",
}

// eraseSubject erases a person. It refuses without the confirmation word and a reason, and shows what was deleted.
func eraseSubject(c *Console, r *request) (answer, error) {
	form := newFormReader(r)
	if r.trimmedField("confirm") != eraseWord {
		form.noteFault(errForm.With("confirm", fault.TypeToConfirm, eraseWord))
	}
	p, why, err := c.personAsked(form, "subject.erase")
	if err != nil {
		return nil, err
	}
	out, err := c.Rules.Subjects.Erase(r.Context(), r.auditActor(), p, why)
	if err != nil {
		return nil, err
	}
	names, err := c.partnerNames(r.Context(), r.viewer)
	return newView("subject-erased", "Titular apagado", newErasedPage(out, names), err)
}

// newErasedPage returns what an erasure deleted, partner by partner.
func newErasedPage(out subject.Outcome, names map[partner.ID]string) erasedPage {
	var page erasedPage
	for i, done := range out.Partners {
		if done.Total() == 0 {
			continue
		}
		page.Total += done.Total()
		row := erasedRow{Partner: names[done.Partner], Erasure: out.Tombstones[i].ID}
		for kind, n := range done.Counts {
			row.Counts = append(row.Counts, choiceCount{cmp.Or(erasedKinds[kind], kind), n})
		}
		slices.SortFunc(row.Counts, func(a, b choiceCount) int { return cmp.Compare(a.Label, b.Label) })
		page.Rows = append(page.Rows, row)
	}
	return page
}

// erasureLog downloads the log of erasures. It holds keyed indexes only and identifies no person without the keys.
func erasureLog(c *Console, r *request) (answer, error) {
	var b bytes.Buffer
	if _, err := c.Rules.Subjects.WriteErasureLog(r.Context(), &b); err != nil {
		return nil, err
	}
	return download{"apagamentos.jsonl", "application/jsonl", &b}, nil
}
