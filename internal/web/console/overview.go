package console

import (
	"time"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
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
