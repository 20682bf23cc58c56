package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/subscription"
)

// Rules are what the pages show and change: the same that the command line calls.
type Rules struct {
	Operators *operator.Registry
	Audit     *operator.Trail
	Partners  *partner.Registry
	Services  *cyber.Services
	Figures   Figures

	Plans             *plan.Catalogue
	Subscriptions     *subscription.Registry
	FindSubscriptions Subscriptions
	// ProblemText is the sentence that the partner API has for what is wrong with an item.
	ProblemText func(subscription.Problem) string

	Monitoring *cyber.Monitoring
	FirstLooks *cyber.FirstLooks
	Persons    *cyber.Persons
	Review     Review
	Breaches   Breaches
	Feeds      Feeds
	Passwords  Passwords
	Cases      *cyber.Cases
	Endpoints  *cyber.Endpoints
	Content    *cyber.Catalogue
	Messages   *message.Catalogue

	Meter    *partner.Meter
	Webhooks Webhooks
	Events   Events
	History  *alert.History
	Jobs     Jobs

	Subjects Subjects
	Search   *subject.Search
	Cover    *cyber.Cover
	Keys     Keys
	Saved    Saved
}

// Figures are the counts that the overview shows. They are kept up beside the tables, because counting millions of rows
// takes longer than a page may.
type Figures interface {
	LastFigures(ctx context.Context) (operator.Figures, error)
	// FiguresByDay are figures of the last days, of the whole service or one part of it; Parts what each part has of
	// one.
	FiguresByDay(
		ctx context.Context, part string, days int, names ...operator.Figure,
	) (map[operator.Figure][]operator.DayCount, error)
	FiguresByPart(ctx context.Context, name operator.Figure, days int) (map[string]int64, error)
}
