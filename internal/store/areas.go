package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// Areas are the parts of the store by noun. Each fulfils the interfaces of the rules that work with its tables, over
// the database or, inside a Tx, over one transaction of it.
type Areas struct {
	Partners      Partners
	Plans         Plans
	Subscriptions Subscriptions
	Monitoring    Monitoring
	Breaches      Breaches
	Feeds         Feeds
	Alerts        Alerts
	Cases         Cases
	Services      Services
	Devices       Devices
	Cover         Cover
	Advice        Advice
	Subjects      Subjects
	Operators     Operators
	Audit         Audit
	Jobs          Jobs
	Answers       Answers
	Overview      Overview
	Upkeep        Upkeep
}

// The areas, each in the files that are named after its nouns.
type (
	// Partners are tenants, their API keys and salts.
	Partners struct{ core }
	// Plans are what partners sell.
	Plans struct{ core }
	// Subscriptions are the people that partners enrolled.
	Subscriptions struct{ core }
	// Monitoring are watched values and what was found of them.
	Monitoring struct{ core }
	// Breaches are what values are looked up in, and the work of importing and matching.
	Breaches struct{ core }
	// Feeds bring breaches by themselves.
	Feeds struct{ core }
	// Alerts are events, the endpoints that want to be told of them, and the deliveries between.
	Alerts struct{ core }
	// Cases are support cases, their triage and slots.
	Cases struct{ core }
	// Services are what a case can be opened for.
	Services struct{ core }
	// Devices hold endpoint-protection keys, and the pools those come from.
	Devices struct{ core }
	// Cover is what a person's plans give.
	Cover struct{ core }
	// Advice is a person's posture, answers and scores, and the content catalogue.
	Advice struct{ core }
	// Subjects are people with rights: everything about one, read or erased.
	Subjects struct{ core }
	// Operators are the people who run the service, and their sessions.
	Operators struct{ core }
	// Audit is the trail.
	Audit struct{ core }
	// Jobs are work that outlives a request.
	Jobs struct{ core }
	// Answers are kept under idempotency keys.
	Answers struct{ core }
	// Overview reads across areas for the console.
	Overview struct{ core }
	// Upkeep checks, rewrites and sweeps what all areas hold.
	Upkeep struct{ core }
)

// newAreas returns all areas over one core.
func newAreas(c core) Areas {
	return Areas{
		Partners{c},
		Plans{c},
		Subscriptions{c},
		Monitoring{c},
		Breaches{c},
		Feeds{c},
		Alerts{c},
		Cases{c},
		Services{c},
		Devices{c},
		Cover{c},
		Advice{c},
		Subjects{c},
		Operators{c},
		Audit{c},
		Jobs{c},
		Answers{c},
		Overview{c},
		Upkeep{c},
	}
}

// Tx is one transaction over all areas: what is done through it is committed together, or not at all.
type Tx struct{ Areas }

// InTransaction runs fn in one transaction. It may run more than once, when the engine asks for a repetition.
func (s *Store) InTransaction(ctx context.Context, fn func(tx Tx) error) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return fn(s.openAreas(tx)) })
}
