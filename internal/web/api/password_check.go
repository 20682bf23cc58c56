package api

import (
	"errors"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// passwordCheck is the request to check a password by the prefix of its hash; the password itself is never sent.
type passwordCheck struct {
	PasswordHashPrefix string `json:"passwordHashPrefix"`
}

// passwordAnswer is the answer of the contract, the same for every password with equal exposure.
type passwordAnswer struct {
	Exposed         bool     `json:"exposed"`
	Recommendations []string `json:"recommendations"`
}

// corpusHeader names what a password was looked up in. In canonical form: setting it in any other would copy it for
// every answer.
const corpusHeader = "X-Corpus"

// checkPassword looks up a prefix of a hash. Ten characters identify the password, so the prefix is treated like one:
// it is never logged, and the answer, like every answer of the API, may not be stored by caches.
func (s *Server) checkPassword(r *request, in passwordCheck) (any, error) {
	// The built-in sample is for trying things out: to a live partner it would deny nearly everything that is known.
	found, err := s.Rules.Passwords.CheckPrefix(in.PasswordHashPrefix, r.caller.Mode.Has(partner.SamplePasswords))
	if err != nil {
		return nil, prefixFault(err)
	}
	answer, err := encodeAnswer(
		passwordAnswer{Exposed: found.Exposure != password.NotKnown, Recommendations: passwordAdvice[found.Exposure]},
	)
	answer.Headers = map[string]string{corpusHeader: found.Corpora}
	return answer, err
}

// prefixFault names the field that a prefix stands in.
func prefixFault(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.Invalid {
		return f.In("passwordHashPrefix")
	}
	return err
}
