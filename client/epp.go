package client

import (
	"context"
	"time"
)

// ProtectionState is where a key stands. Only an active one protects.
type ProtectionState string

// The states.
const (
	ProtectionIssued ProtectionState = "issued"
	ProtectionActive ProtectionState = "active"
	ProtectionEnded  ProtectionState = "ended"
)

// ProtectionDetail is a key and what became of it. An extension of the contract.
type ProtectionDetail struct {
	Device
	ID       string          `json:"keyId"`
	State    ProtectionState `json:"state"`
	IssuedAt time.Time       `json:"issuedAt"`
	// These are zero until it was activated, and until it ended.
	ActivatedAt time.Time `json:"activatedAt,omitzero"`
	LastSeenAt  time.Time `json:"lastSeenAt,omitzero"`
	EndedAt     time.Time `json:"endedAt,omitzero"`
	EndReason   string    `json:"endReason,omitempty"` // expired, revoked, moved or subscription
	// InstallLink is where the program of the device's system is installed from, InstallLinks those of all systems.
	InstallLink  string            `json:"installLink,omitempty"`
	InstallLinks map[string]string `json:"installLinks"`
}

// Protection reads a key by its id or by the activation key itself. An extension of the contract.
func (c *Client) Protection(ctx context.Context, key string, opts ...Option) (ProtectionDetail, error) {
	var one ProtectionDetail
	err := c.get(ctx, &one, "/cyber/epp/{key}", []string{key}, opts)
	return one, err
}

// ActivateProtection reports that the program on the device accepted its key: the device is protected from now on. An
// extension of the contract.
func (c *Client) ActivateProtection(ctx context.Context, key string, opts ...Option) error {
	return c.post(ctx, struct{}{}, &done{}, "/cyber/epp/{key}/activate", []string{key}, opts)
}

// ProtectionSeen reports that the program on the device runs. An extension of the contract.
func (c *Client) ProtectionSeen(ctx context.Context, key string, opts ...Option) error {
	return c.post(ctx, struct{}{}, &done{}, "/cyber/epp/{key}/heartbeat", []string{key}, opts)
}

// RevokeProtection ends a key of a person before its time. An extension of the contract.
func (c *Client) RevokeProtection(ctx context.Context, userHash, key string, opts ...Option) error {
	body := struct {
		UserHash string `json:"userHash"`
	}{userHash}
	return c.post(ctx, body, &done{}, "/cyber/epp/{key}/revoke", []string{key}, opts)
}

// MovedProtection is the key of the device that took the place of another.
type MovedProtection struct {
	ID string `json:"keyId"`
	ProtectionKey
}

// MoveProtection ends a key and issues one for another device of the same person, valid until the same time. An extension of
// the contract.
func (c *Client) MoveProtection(ctx context.Context, userHash, key string, system OperatingSystem, deviceName string, opts ...Option) (MovedProtection, error) {
	body := struct {
		UserHash string          `json:"userHash"`
		System   OperatingSystem `json:"operatingSystem"`
		Device   string          `json:"deviceName"`
	}{userHash, system, deviceName}
	var moved MovedProtection
	err := c.post(ctx, body, &moved, "/cyber/epp/{key}/move", []string{key}, opts)
	return moved, err
}
