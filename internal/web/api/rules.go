package api

import (
	"context"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Rules are what the routes ask.
type Rules struct {
	Passwords     Passwords
	Events        *alert.Feed
	Messages      *message.Catalogue
	Webhooks      *alert.Endpoints
	Services      *cyber.Services
	Cases         *cyber.Cases
	Endpoints     *cyber.Endpoints
	Cover         *cyber.Cover
	Sessions      *cyber.PortalSessions
	Persons       *cyber.Persons
	Monitoring    *cyber.Monitoring
	Subscriptions *subscription.Registry
	Breaches      *cyber.Breaches
	History       *alert.History
	Keys          *partner.Registry
	FirstLooks    *cyber.FirstLooks
	Meter         *partner.Meter
	Figures       Figures
	Audit         *operator.Trail
	Erasures      *subject.Erasures
}

// Authenticator says who presents a key.
type Authenticator interface {
	Authenticate(ctx context.Context, key string, need partner.Scope) (partner.Caller, error)
}

// Passwords says whether a password is known from breaches; where sample is true, the built-in list counts as a corpus.
type Passwords interface {
	CheckPrefix(prefix string, sample bool) (password.Answer, error)
}

// Figures are what is counted by day.
type Figures interface {
	// FiguresByDay returns what was kept of figures over the last days, for one part of the service.
	FiguresByDay(
		ctx context.Context, part string, days int, names ...operator.Figure,
	) (map[operator.Figure][]operator.DayCount, error)
}

// Ledger remembers answers.
type Ledger interface {
	// Once runs work one time for a claim of a partner and keeps its answer for partner.KeepAnswers. The effects of the
	// rules that work is given and the answer are kept together or not at all. When work fails nothing is kept; when it
	// answers with a refusal (400 to 499) the refusal is kept and its writes are undone. The first answer comes back,
	// and replayed is true, when the claim has been answered before.
	Once(
		ctx context.Context, id partner.ID, c partner.RequestClaim, work func(in *Rules) (partner.Answer, error),
	) (a partner.Answer, replayed bool, err error)
}
