package client

import (
	"context"
	"crypto/sha1" //nolint:gosec // the contract's own choice: corpora of breached passwords are keyed by SHA-1
	"encoding/hex"
	"net/http"
	"time"
)

// AssetType is what kind of value is watched.
type AssetType string

// The kinds. Domain appears only in listings: the operator adds domains. PixKey and CNPJ are extensions of the contract:
// see AddExtra.
const (
	Email      AssetType = "email"
	CPF        AssetType = "cpf"
	Phone      AssetType = "phone"
	CreditCard AssetType = "credit_card"
	Domain     AssetType = "domain"
	PixKey     AssetType = "pix_key"
	CNPJ       AssetType = "cnpj"
)

// AssetStatus is what is known about a watched value.
type AssetStatus string

// The statuses.
const (
	Watched     AssetStatus = "monitorado"   // no open finding
	Alert       AssetStatus = "alerta"       // at least one
	Compromised AssetStatus = "comprometido" // one that exposed something usable against the person
)

// Asset is a watched value.
type Asset struct {
	ID     string      `json:"id"`
	Type   AssetType   `json:"type"`
	Value  string      `json:"value"`
	Status AssetStatus `json:"status"`
}

// done is how the service says that something was done.
type done struct {
	Status      int    `json:"status"`
	Description string `json:"description"`
}

// AddAsset watches a value of a person for leaks. Adding what is already there adds nothing.
func (c *Client) AddAsset(ctx context.Context, userHash string, kind AssetType, value string, opts ...Option) error {
	body := struct {
		Value    string    `json:"value"`
		Type     AssetType `json:"type"`
		UserHash string    `json:"userHash"`
	}{value, kind, userHash}
	return c.post(ctx, body, &done{}, "/cyber/monitoring", nil, opts)
}

// Assets lists what is watched for a person; empty for an unknown person.
func (c *Client) Assets(ctx context.Context, userHash string, opts ...Option) ([]Asset, error) {
	var list []Asset
	err := c.get(ctx, &list, "/cyber/monitoring/{userhash}", []string{userHash}, opts)
	return list, err
}

// RemoveAsset stops watching a value and erases it. It is ErrNotFound when there is no such asset; after a lost answer
// and another attempt that may also mean that the first one did it.
func (c *Client) RemoveAsset(ctx context.Context, userHash, assetID string, opts ...Option) error {
	return c.do(ctx, newCall(http.MethodDelete, "/cyber/monitoring/{id}/{userhash}", []string{assetID, userHash}, opts), &done{})
}

// AddExtra watches a random Pix key or a CNPJ of a person for leaks. An extension of the contract, like Extras and
// RemoveExtra: AddAsset, Assets and RemoveAsset do not know these kinds.
func (c *Client) AddExtra(ctx context.Context, userHash string, kind AssetType, value string, opts ...Option) error {
	body := struct {
		Value    string    `json:"value"`
		Type     AssetType `json:"type"`
		UserHash string    `json:"userHash"`
	}{value, kind, userHash}
	return c.post(ctx, body, &done{}, "/cyber/monitoring/extra", nil, opts)
}

// Extras lists the random Pix keys and CNPJs that are watched for a person.
func (c *Client) Extras(ctx context.Context, userHash string, opts ...Option) ([]Asset, error) {
	var list []Asset
	err := c.get(ctx, &list, "/cyber/monitoring/extra/{userhash}", []string{userHash}, opts)
	return list, err
}

// RemoveExtra stops watching a random Pix key or a CNPJ and erases it; ErrNotFound is as for RemoveAsset.
func (c *Client) RemoveExtra(ctx context.Context, userHash, assetID string, opts ...Option) error {
	return c.do(ctx, newCall(http.MethodDelete, "/cyber/monitoring/extra/{id}/{userhash}", []string{assetID, userHash}, opts), &done{})
}

// Service is a support service.
type Service struct {
	ID          string `json:"_id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Services lists the services for which a case can be opened.
func (c *Client) Services(ctx context.Context, opts ...Option) ([]Service, error) {
	var wire struct {
		Services []Service `json:"services"`
	}
	err := c.get(ctx, &wire, "/cyber/services", nil, opts)
	return wire.Services, err
}

// NewCase is a support case to open. Appointments and Questions are the partner's own objects; in an appointment the
// member "appointment", where present, is an ISO 8601 date-time.
type NewCase struct {
	ServiceID    string           `json:"serviceId"`
	UserHash     string           `json:"userHash"`
	Appointments []map[string]any `json:"appointments,omitempty"`
	Questions    []map[string]any `json:"questions,omitempty"`
}

// Case is an opened support case.
type Case struct {
	ID           string    `json:"id"`
	Status       string    `json:"status"`
	CreationDate time.Time `json:"creationDate"`
	ServiceID    string    `json:"serviceId"`
}

// OpenCase opens a support case.
func (c *Client) OpenCase(ctx context.Context, n NewCase, opts ...Option) (Case, error) {
	var wire struct {
		Task Case `json:"task"`
	}
	err := c.post(ctx, n, &wire, "/cyber/case", nil, opts)
	return wire.Task, err
}

// OperatingSystem is what a protected device runs.
type OperatingSystem string

// The systems.
const (
	Android OperatingSystem = "android"
	IOS     OperatingSystem = "ios"
	Windows OperatingSystem = "windows"
	MacOS   OperatingSystem = "macos"
)

// ProtectionKey activates the antivirus on a device.
type ProtectionKey struct {
	Key        string    `json:"eppKey"`
	ValidUntil time.Time `json:"validUntil"`
}

// IssueKey issues an antivirus key for a device. The same person, system and device name with a live key gets that key
// again.
func (c *Client) IssueKey(ctx context.Context, userHash string, system OperatingSystem, deviceName string, opts ...Option) (ProtectionKey, error) {
	body := struct {
		System   OperatingSystem `json:"operatingSystem"`
		Type     string          `json:"type"`
		Device   string          `json:"deviceName"`
		UserHash string          `json:"userHash"`
	}{system, "antivirus", deviceName, userHash}
	var key ProtectionKey
	err := c.post(ctx, body, &key, "/cyber/epp", nil, opts)
	return key, err
}

// Device is a device with a live key.
type Device struct {
	System     OperatingSystem `json:"operatingSystem"`
	Name       string          `json:"deviceName"`
	Key        string          `json:"eppKey"`
	ValidUntil time.Time       `json:"validUntil"`
}

// Devices lists the protected devices of a person, newest first. An empty userHash means all of the partner's, at most
// 1,000; Reply.Truncated tells when there are more.
func (c *Client) Devices(ctx context.Context, userHash string, opts ...Option) ([]Device, error) {
	k := newCall(http.MethodGet, "/cyber/epp", nil, opts)
	if userHash != "" {
		k.header.Set("x-user-hash", userHash) // a header: addresses end up in logs
	}
	var wire struct {
		Devices []Device `json:"protectedDevices"`
	}
	err := c.do(ctx, k, &wire)
	return wire.Devices, err
}

// Exposure reports whether a password is known from breaches, and what to do.
type Exposure struct {
	Exposed         bool     `json:"exposed"`
	Recommendations []string `json:"recommendations"`
}

// CheckPassword asks about a password. Only the first ten hex characters of its SHA-1 leave this process.
func (c *Client) CheckPassword(ctx context.Context, password string, opts ...Option) (Exposure, error) {
	sum := sha1.Sum([]byte(password)) //nolint:gosec // see the import
	return c.CheckPasswordPrefix(ctx, hex.EncodeToString(sum[:])[:10], opts...)
}

// CheckCredential asks whether a password is known together with a value that is watched for a person. Only the first ten
// hex characters of its SHA-1 leave this process. The key needs the scope credentials. Like CheckPassword it sends no
// idempotency key.
func (c *Client) CheckCredential(ctx context.Context, userHash, password string, opts ...Option) (Exposure, error) {
	sum := sha1.Sum([]byte(password)) //nolint:gosec // see the import
	k := newCall(http.MethodPost, "/cyber/credential-check", nil, opts)
	var e Exposure
	if err := k.encode(map[string]string{"userHash": userHash, "passwordHashPrefix": hex.EncodeToString(sum[:])[:10]}); err != nil {
		return e, err
	}
	return e, c.do(ctx, k, &e)
}

// CheckPasswordPrefix asks by the first ten hex characters of the SHA-1 or NTLM hash of a password. It sends no
// idempotency key: asking changes nothing, and an answer about a password should be kept nowhere. "Not exposed" is said
// of the algorithms that Reply.Corpus names, and of no other.
func (c *Client) CheckPasswordPrefix(ctx context.Context, prefix string, opts ...Option) (Exposure, error) {
	k := newCall(http.MethodPost, "/cyber/password-check", nil, opts)
	var e Exposure
	if err := k.encode(map[string]string{"passwordHashPrefix": prefix}); err != nil {
		return e, err
	}
	return e, c.do(ctx, k, &e)
}
