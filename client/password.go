package client

import (
	"context"
	"crypto/sha1" //nolint:gosec // the contract's own choice: corpora of breached passwords are keyed by SHA-1
	"encoding/hex"
)

// CheckPassword reports whether a password is known from breaches. It is hashed here: ten hex characters of its SHA-1
// are sent.
func (c *Client) CheckPassword(ctx context.Context, password string, opts ...Option) (PasswordExposure, error) {
	return c.CheckPasswordPrefix(ctx, PasswordPrefix{PasswordHashPrefix: hashPrefix(password)}, opts...)
}

// CheckCredential reports whether a password is known together with a value watched for a person. It is hashed here, as
// in CheckPassword. The key needs the scope credentials.
func (c *Client) CheckCredential(
	ctx context.Context, userHash, password string, opts ...Option,
) (PasswordExposure, error) {
	return c.CheckCredentialPrefix(
		ctx,
		Credential{UserHash: userHash, PasswordHashPrefix: hashPrefix(password)},
		opts...,
	)
}

// hashPrefix returns what is sent of a password.
func hashPrefix(password string) string {
	sum := sha1.Sum([]byte(password)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])[:10]
}
