package api

import (
	"errors"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// credentialCheck is the request to check a person's password by the prefix of its hash.
type credentialCheck struct {
	personBody
	PasswordHashPrefix string `json:"passwordHashPrefix"`
}

// checkCredential reports whether a password is known together with a value of the person. The prefix is treated like a
// password, as in checkPassword.
func (s *Server) checkCredential(r *request, in credentialCheck) (any, error) {
	prefix, err := password.ParsePrefix(in.PasswordHashPrefix)
	if err != nil {
		return nil, prefixFault(err)
	}
	exposed, err := r.rules.Monitoring.CheckCredential(r.ctx, r.assetOwner(), r.user, prefix)
	if errors.Is(err, cyber.ErrGuesses) {
		r.reply.Set("retry-after", wholeSeconds(partner.UntilTomorrow(s.Now())))
	}
	return passwordAnswer{Exposed: exposed, Recommendations: credentialAdvice[exposed]}, err
}
