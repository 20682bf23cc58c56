package console

import (
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// onlyPartner returns the rules for a partner's people. A rule that is not set here is left out on purpose: a page that
// uses it fails instead of showing data of other partners. Rules that are passed on unchanged either take the partner
// as an argument, which comes from a path or a form that confine has checked, or touch no personal data.
func (r Rules) onlyPartner(s scope) Rules {
	id := s.at.ID
	return Rules{
		Operators: r.Operators.ForPartner(s.home.ID, s.role),
		Audit:     r.Audit.ForPartner(s.home.ID, r.Operators),
		Partners:  r.Partners.ForPartner(id, s.role.May(operator.Approve) || s.at.Mode == partner.Sandbox),
		Figures: ownFigures{
			of:       r.Figures,
			webhooks: r.Webhooks,
			id:       id,
		},
		Webhooks:          ownWebhooks{inner: r.Webhooks, id: id},
		Events:            ownEvents{of: r.Events, id: id},
		History:           r.History.ForPartner(id),
		Cases:             r.Cases.ForPartner(id),
		Endpoints:         r.Endpoints.Only(id),
		Saved:             r.Saved,
		Search:            r.Search.ForPartner(id),
		Subjects:          ownSubjects{inner: r.Subjects, id: id},
		Review:            ownReview{of: r.Review, id: id},
		Services:          r.Services,
		Meter:             r.Meter,
		Plans:             r.Plans,
		Subscriptions:     r.Subscriptions,
		FindSubscriptions: r.FindSubscriptions,
		Monitoring:        r.Monitoring,
		FirstLooks:        r.FirstLooks,
		Cover:             r.Cover,
		ProblemText:       r.ProblemText,
	}
}

var (
	_ Webhooks = ownWebhooks{}
	_ Subjects = ownSubjects{}
	_ Events   = ownEvents{}
	_ Review   = ownReview{}
	_ Figures  = ownFigures{}
)
