package api

import (
	"errors"
	"sync"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/once"
	"github.com/vigiahq/vigia/internal/password"
)

type passwordCheck struct {
	PasswordHashPrefix string `json:"passwordHashPrefix"`
}

type passwordAnswer struct {
	Exposed         bool     `json:"exposed"`
	Recommendations []string `json:"recommendations"`
}

// checkPassword looks a prefix up. A prefix of ten characters names the password, so it is treated like one: it is in no
// log, and the answer, like every answer here, is not to be stored by anybody on its way.
func (s *Server) checkPassword(r *request) (any, error) {
	var in passwordCheck
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	exposure, err := s.Rules.Passwords.Check(in.PasswordHashPrefix)
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.Invalid {
		return nil, f.With("passwordHashPrefix: %s", f.Detail)
	}
	if err != nil {
		return nil, err
	}
	answers, err := passwordAnswers()
	return answers[exposure], err
}

// passwordAnswers are the few answers there are, encoded once: sentences take longer to encode than a password to look up.
var passwordAnswers = sync.OnceValues(func() (map[password.Exposure]once.Answer, error) {
	answers := make(map[password.Exposure]once.Answer, len(passwordAdvice))
	for exposure, advice := range passwordAdvice {
		answer, err := encode(passwordAnswer{Exposed: exposure != password.NotKnown, Recommendations: advice})
		if err != nil {
			return nil, err
		}
		answers[exposure] = answer
	}
	return answers, nil
})
