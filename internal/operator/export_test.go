package operator

import (
	"context"
	"testing"
)

var fullCost = argonCost

func init() { argonCost.memory, argonCost.passes = 64, 1 }

// atFullCost hashes as the product does until the test ends.
func atFullCost(t *testing.T) {
	t.Helper()
	cheap := argonCost
	argonCost = fullCost
	t.Cleanup(func() { argonCost = cheap })
}

// Login tries and decides in one go.
func (r *Registry) Login(ctx context.Context, email, password, code, from string) (Operator, string, error) {
	t, err := r.TryPassword(ctx, email, password)
	if err != nil {
		return Operator{}, "", err
	}
	out, err := r.DecideLogin(ctx, t, code, from)
	if err == nil && out.Token == "" {
		err = ErrRefused
	}
	return out.Operator, out.Token, err
}

// CountHashes counts passwords that are hashed from now on.
func (r *Registry) CountHashes(count *int) {
	key := r.hasher.key
	r.hasher.key = func(password, salt []byte) []byte { *count++; return key(password, salt) }
}
