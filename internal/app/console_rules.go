package app

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/web/api"
	"github.com/vigiahq/vigia/internal/web/console"
)

// consoleParts are what the console's rules reach beside the store.
type consoleParts struct {
	app      *App
	work     *consoleWork
	outgoing Outgoing
	feeds    feed.Feeds
	persons  *cyber.Persons
}

// consoleRules returns the console's rules, over the database or over one transaction of it.
func (p *consoleParts) consoleRules(r Rules, in store.Areas) console.Rules {
	a, feeds := p.app, p.feeds
	feeds.Store, feeds.Breaches, feeds.Jobs = in.Feeds, in.Breaches, in.Jobs
	return console.Rules{
		Operators:         r.Operators,
		Audit:             r.Audit,
		Partners:          r.Partners,
		Services:          r.Services,
		Figures:           in.Overview,
		Meter:             r.Meter,
		Plans:             r.Plans,
		Subscriptions:     r.Subscriptions,
		FindSubscriptions: in.Overview,
		ProblemText:       api.ItemError,
		Monitoring:        r.Monitoring,
		FirstLooks:        r.FirstLooks,
		Persons:           p.persons.WithStore(in.Advice),
		Review:            in.Overview,
		Breaches:          &consoleImports{leak.NewBreaches(in.Breaches, a.now), p.work},
		Feeds:             consoleFeeds{&feeds},
		Passwords:         &consolePasswords{a.Passwords, a, p.work, p.outgoing.Downloads},
		Cases:             r.Cases,
		Endpoints:         r.Endpoints,
		Content:           r.Content,
		Messages:          r.Messages,
		Subjects:          consoleSubjects{a.Subjects, r.Erasures, a},
		Search:            subject.NewSearch(in.Subjects, in.Partners),
		Cover:             r.Cover,
		Keys:              consoleKeys{a},
		Webhooks:          &consoleWebhooks{r.Webhooks, p.outgoing},
		Events:            in.Overview,
		History:           r.History,
		Jobs:              in.Jobs,
		Saved:             in.Operators,
	}
}

// runInTransaction runs fn with rules whose changes are committed together.
func (p *consoleParts) runInTransaction(ctx context.Context, fn func(in *console.Rules) error) error {
	return p.app.Store.InTransaction(ctx, func(tx store.Tx) error {
		in := p.consoleRules(p.app.rulesWithin(tx), tx.Areas)
		return fn(&in)
	})
}

// consoleKeys are the keys that seal personal data.
type consoleKeys struct{ app *App }

// State names the key that seals, all that open, and the root that opens them.
func (k consoleKeys) State() (primary uint32, all []uint32, root string) {
	return k.app.Keys.PrimaryID(), k.app.Keys.ListKeyIDs(), k.app.Keys.Root().Place()
}

// Count counts what the newest key has sealed and what older ones have; it reads every sealed value.
func (k consoleKeys) Count(ctx context.Context) (current, old int64, err error) {
	return k.app.Store.Upkeep.SealedUnder(ctx)
}

// Rotate makes a new key and has workers rewrite what older ones sealed.
func (k consoleKeys) Rotate(ctx context.Context) error { return k.app.Store.Upkeep.RotateKeys(ctx) }

// consoleFeeds lists feeds beside the rules that change them.
type consoleFeeds struct{ *feed.Feeds }

func (f consoleFeeds) All(ctx context.Context) ([]feed.Feed, error) { return f.Store.ListFeeds(ctx) }

// consoleSubjects erases people and keeps the tombstones in this machine's log.
type consoleSubjects struct {
	*subject.Rights
	*subject.Erasures
	app *App
}

// Erase erases a person, also when the browser does not wait for it: half an erasure would be worse than a lost answer.
func (s consoleSubjects) Erase(
	ctx context.Context, who operator.Actor, p subject.Person, reason string,
) (subject.Outcome, error) {
	return s.app.EraseSubject(context.WithoutCancel(ctx), who, p, reason)
}

// consoleWebhooks joins the rules of endpoints to what may be called from here.
type consoleWebhooks struct {
	*alert.Endpoints
	outgoing Outgoing
}

// Create makes an endpoint whose address the guard allows.
func (w *consoleWebhooks) Create(
	ctx context.Context, id partner.ID, url string, types []string,
) (alert.Endpoint, error) {
	return w.Endpoints.CreateEndpoint(ctx, id, url, types, w.outgoing.Guard)
}

// Test sends a sample of a type once through the guard.
func (w *consoleWebhooks) Test(
	ctx context.Context, id partner.ID, endpoint alert.EndpointID, t alert.Type,
) (webhook.Outcome, alert.EventID, error) {
	return w.Endpoints.SendTestEvent(ctx, id, endpoint, t, w.outgoing.Webhooks)
}
