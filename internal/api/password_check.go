package api

import (
	"errors"

	"vigia/internal/fault"
	"vigia/internal/password"
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
	return passwordAnswer{Exposed: exposure != password.NotKnown, Recommendations: passwordAdvice[exposure]}, nil
}
