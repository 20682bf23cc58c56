package api

import (
	"errors"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/password"
)

// credentialCheck is the request to check a person's password by the prefix of its hash.
type credentialCheck struct {
	UserHash           string `json:"userHash"`
	PasswordHashPrefix string `json:"passwordHashPrefix"`
}

// checkCredential reports whether a password is known together with a value of the person. The prefix is treated like a
// password, as in checkPassword.
func (s *Server) checkCredential(r *request) (any, error) {
	var in credentialCheck
	if err := r.decodeBody(&in); err != nil {
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
	exposed, err := r.rules.Monitoring.CheckCredential(r.ctx, r.assetOwner(), user, prefix)
	if errors.Is(err, cyber.ErrGuesses) {
		r.reply.Set("retry-after", wholeSeconds(partner.UntilTomorrow(s.Now())))
	}
	if err != nil {
		return nil, err
	}
	return passwordAnswer{Exposed: exposed, Recommendations: credentialAdvice[exposed]}, nil
}
