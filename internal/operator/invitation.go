package operator

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// LinkFor is how long a one-time link can be used.
const LinkFor = 24 * time.Hour

// CreateOperator makes an operator, who chooses a password through the one-time link whose token is returned.
func (r *Registry) CreateOperator(ctx context.Context, email string, role Role) (Operator, string, error) {
	if role.roleRank() == 0 {
		return Operator{}, "", errRole
	}
	return r.insertOperator(ctx, "", email, role)
}

// insertOperator makes an operator of the service or of a partner.
func (r *Registry) insertOperator(
	ctx context.Context, id partner.ID, email string, role Role,
) (Operator, string, error) {
	normal, err := identifier.ParseEmail(email)
	if err != nil {
		return Operator{}, "", ErrInvalid.With("email", fault.EmailExample).Because(err)
	}
	o := Operator{
		ID:        ID("op_" + uuid.Must(uuid.NewV7()).String()),
		Email:     normal,
		Role:      role,
		Partner:   id,
		CreatedAt: r.now(),
	}
	token := r.newInvitation(&o)
	return o, token, r.store.InsertOperator(ctx, o)
}

// randomBytes returns so many random bytes; the system's source never fails.
func randomBytes(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw)
	return raw
}

// newToken makes a reference of 256 random bits and its digest. A fast one is right for so much randomness.
func (r *Registry) newToken() (text string, digest []byte) {
	text = base64.RawURLEncoding.EncodeToString(randomBytes(32))
	return text, r.store.TokenDigest(text)
}

// newInvitation gives an operator a one-time link.
func (r *Registry) newInvitation(o *Operator) (token string) {
	token, o.Invite = r.newToken()
	o.InviteUntil = r.now().Add(LinkFor)
	return token
}

// ResetAccess takes an operator's password, second factor and sessions away and returns the token of a one-time link
// for new ones.
func (r *Registry) ResetAccess(ctx context.Context, id ID) (Operator, string, error) {
	var token string
	if _, err := r.store.DeletePasskeys(ctx, id, nil); err != nil {
		return Operator{}, "", err
	}
	o, err := r.editOperator(ctx, id, DropSessions, func(o *Operator) {
		o.Password, o.TOTP, o.TOTPOn, o.TOTPStep, o.Recovery = "", nil, false, 0, nil
		o.Failures, o.LockedUntil = 0, time.Time{}
		token = r.newInvitation(o)
	})
	return o, token, err
}

// FindInvited returns whose one-time link a token is.
func (r *Registry) FindInvited(ctx context.Context, token string) (Operator, error) {
	o, err := r.store.OperatorByInvite(ctx, r.store.TokenDigest(token))
	if err != nil {
		return Operator{}, orRefused(err, ErrLink)
	}
	// A reset takes the second factor away before it gives a link: one beside a factor that is on would go around it.
	if o.Disabled || o.TOTPOn || !r.now().Before(o.InviteUntil) {
		return Operator{}, ErrLink
	}
	return o, nil
}

// AcceptInvitation uses a one-time link up: the password is set and a session opened. The second factor comes next, by
// BeginTOTP.
func (r *Registry) AcceptInvitation(ctx context.Context, token, password, from string) (Operator, string, error) {
	o, err := r.FindInvited(ctx, token)
	if err != nil {
		return Operator{}, "", err
	}
	encoded, err := r.encodeNewPassword(ctx, password, o.Email)
	if err != nil {
		return Operator{}, "", err
	}
	o, err = r.store.UpdateOperator(ctx, o.ID, DropSessions, func(o *Operator, _ []Operator) error {
		if !hmac.Equal(o.Invite, r.store.TokenDigest(token)) || o.TOTPOn { // another request used the link meanwhile
			return ErrLink
		}
		o.Password, o.Invite, o.InviteUntil = encoded, nil, time.Time{}
		o.Failures, o.LockedUntil, o.LastLogin = 0, time.Time{}, r.now()
		return nil
	})
	if err != nil {
		return Operator{}, "", err
	}
	session, err := r.openSession(ctx, o.ID, from)
	return o, session, err
}
