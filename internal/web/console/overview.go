package console

import (
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// overviewPage is the data of the first page.
type overviewPage struct {
	operator.Figures
	Partners    int
	Breaches    int
	Identifiers int64
	Corpora     []password.Corpus
	Jobs        []jobRow
	// ByPartner are what each partner has of the numbers that are listed a partner at a time.
	ByPartner []partnerFigures
	// Waiting are the cases that wait now.
	Waiting cyber.WaitingCases
	// Notices are changes of one's own access.
	Notices []operator.Entry
}

// partnerFigures are one partner's share of two numbers of the overview.
type partnerFigures struct {
	partner.Partner
	Subscriptions, Devices int64
}

// Assets returns how many values are watched, in whatever status.
func (p overviewPage) Assets() int64 {
	return p.Now[operator.AssetsMonitored] + p.Now[operator.AssetsAlert] + p.Now[operator.AssetsCompromised]
}

// showOverview shows the first page of the service's operators: figures, notices and what needs attention.
func showOverview(c *Console, r *request) (answer, error) {
	var page overviewPage
	page.Figures = callRule(r, c.Rules.Figures.LastFigures)
	c.pictureOverview(r, page.Now)
	page.Notices = c.accessNotices(r)
	partners := callRule(r, c.Rules.Partners.ListPartners)
	page.Partners = len(partners)
	enrolled := callRuleWith2(r, c.Rules.Figures.FiguresByPart, operator.SubscriptionsActive, 0)
	protected := callRuleWith2(r, c.Rules.Figures.FiguresByPart, operator.DevicesProtected, 0)
	for _, p := range partners {
		page.ByPartner = append(
			page.ByPartner,
			partnerFigures{Partner: p, Subscriptions: enrolled[string(p.ID)], Devices: protected[string(p.ID)]},
		)
	}
	breaches := callRule(r, c.Rules.Breaches.ListBreaches)
	for _, b := range breaches {
		if b.State == leak.Published {
			page.Breaches++
			page.Identifiers += b.Tally.Distinct
		}
	}
	page.Jobs = c.latestJobs(r, 5, "")
	page.Waiting = callRuleWith3(r, c.Rules.Cases.CountWaiting, cyber.LaneFilter{}, r.who.Email, nextMidnight(c.Now()))
	var err error
	page.Corpora, err = c.Rules.Passwords.ReadStatus()
	return view{"overview", "Visão geral", page}, err
}

// nextMidnight returns the next midnight in Brasília.
func nextMidnight(now time.Time) time.Time {
	y, m, d := now.In(brazil).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, brazil)
}

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
	subject.HitPerson: {
		"Pessoa",
		"people",
		true,
	},
	subject.HitSubscription: {"Assinatura", "subscriptions", true},
	subject.HitCase:         {"Caso", "cases", false},
	subject.HitEvent: {
		"Evento",
		"events",
		true,
	},
	subject.HitDevice:   {"Dispositivo", "devices", false},
	subject.HitEndpoint: {"Webhook", "webhooks", true},
	subject.HitPartner:  {"Parceiro", "partners", false},
}

// pathOfHit returns the path of the page of a hit. An operator who can find something may also open it, partners'
// people too.
func pathOfHit(h subject.Hit) string {
	page := hitPages[h.Kind]
	if page.below {
		return joinPath(page.section, string(h.Partner), h.ID)
	}
	return joinPath(page.section, h.ID)
}

// showSearch shows the empty search form.
func showSearch(*Console, *request) (answer, error) {
	return view{"search", "Busca", searchPage{}}, nil
}

// searchPeople finds people by what a caller told the operator on the telephone. It is a POST, so that the typed text gets
// into no address, history or log. The audit trail records how the text was read and which people it found.
func searchPeople(c *Console, r *request) (answer, error) {
	hits, as := callRulePair(r, c.Rules.Search.FindText, r.PostFormValue("q"))
	c.noteSearch(r, hits, as)
	if len(hits) == 1 {
		return redirect{to: pathOfHit(hits[0])}, nil
	}
	return view{"search", "Busca", searchPage{
		Asked: true, Hits: hits, Names: c.partnerNames(r), Full: len(hits) == subject.MaxHits, Mistyped: len(hits) == 0 && subject.HasWrongCheckDigits(r.PostFormValue("q")),
	}}, nil
}

// noteSearch records the search in the audit trail: one line per hit, so that the person finds it among the accesses to
// their data, and a single line without a subject when there are no hits.
func (c *Console) noteSearch(r *request, hits []subject.Hit, as []string) {
	detail := strings.Join(as, ", ") + ": " + strconv.Itoa(len(hits))
	if len(hits) == 0 {
		c.recordAction(r, "search", "", detail)
	}
	for _, h := range hits {
		of := h.ID
		if h.Kind == subject.HitSubscription {
			of = string(h.Partner) + "/" + h.ID
		}
		c.recordAction(r, "search", of, detail)
	}
}

// personPath returns the path of the page about one of a partner's people.
func (c *Console) personPath(id partner.ID, user partner.UserHash) string {
	return joinPath("people", string(id), c.referenceOf(id, user))
}
