package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/password"
)

type credentialCheck struct {
	UserHash           string `json:"userHash"`
	PasswordHashPrefix string `json:"passwordHashPrefix"`
}

// checkCredential tells whether a password is known together with a value of the person. Who may ask often enough could
// guess a password, so each person has a limit of their own. The prefix is treated like a password, as in
// checkPassword.
func (s *Server) checkCredential(r *request) (any, error) {
	var in credentialCheck
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	user, err := partner.ParseUserHash("userHash", in.UserHash)
	if err != nil {
		return nil, err
	}
	prefix, err := password.ParsePrefix(in.PasswordHashPrefix)
	if err != nil {
		return nil, prefixFault(err)
	}
	if wait := s.guesses.take(r.caller.Partner, user, s.Now()); wait > 0 {
		r.reply.Set("retry-after", wholeSeconds(wait))
		return nil, errRateLimited.With("userHash: more questions than may be asked about one person")
	}
	exposed, err := r.rules.Monitoring.CheckCredential(r.ctx, cyber.Owner{Partner: r.caller.Partner, Mode: r.caller.Mode}, user, prefix)
	if err != nil {
		return nil, err
	}
	return passwordAnswer{Exposed: exposed, Recommendations: credentialAdvice[exposed]}, nil
}

const (
	// Somebody who logs in, and mistypes, asks a few times a minute.
	guessesPerMinute = 30
	// mostGuessed bounds the people that are remembered.
	mostGuessed = 20_000
)

// guesses holds a token bucket for each person who was asked about lately. It is per process.
type guesses struct {
	mu      sync.Mutex
	buckets map[guessed]*rate.Limiter
}

type guessed struct {
	partner partner.ID
	user    string
}

// take spends a token, or says how long until there is one.
func (g *guesses) take(id partner.ID, user partner.UserHash, now time.Time) time.Duration {
	who := guessed{id, string(user.Canonical())}
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.buckets[who]
	if b == nil {
		if len(g.buckets) >= mostGuessed {
			g.forget(now)
		}
		b = rate.NewLimiter(rate.Limit(guessesPerMinute)/60, guessesPerMinute)
		g.buckets[who] = b
	}
	return spend(b, now)
}

// forget lets go of those whose bucket is full again: a new one is the same. When so many ask at once that none is, it
// starts anew.
func (g *guesses) forget(now time.Time) {
	for who, b := range g.buckets {
		if b.TokensAt(now) >= guessesPerMinute {
			delete(g.buckets, who)
		}
	}
	if len(g.buckets) >= mostGuessed {
		clear(g.buckets)
	}
}
