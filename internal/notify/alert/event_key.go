package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// KeyExpiry is the data of KeyExpiring. It never holds the key.
type KeyExpiry struct {
	Key        cyber.KeyID  `json:"keyId"`
	System     cyber.System `json:"operatingSystem"`
	ValidUntil string       `json:"validUntil"` // in TimeFormat
}

// KeyExpires tells that a device's key ends soon.
func KeyExpires(d cyber.Device, at time.Time) Event {
	return NewEvent(
		d.Partner,
		KeyExpiring,
		d.User,
		at,
		KeyExpiry{Key: d.ID, System: d.System, ValidUntil: d.ValidUntil.UTC().Format(TimeFormat)},
	)
}

// KeyActivation is the data of KeyActivated.
type KeyActivation struct {
	Key         cyber.KeyID  `json:"keyId"`
	System      cyber.System `json:"operatingSystem"`
	ActivatedAt string       `json:"activatedAt"` // in TimeFormat
}

// KeyActivates tells that a device is protected from now on.
func KeyActivates(d cyber.Device) Event {
	return NewEvent(
		d.Partner,
		KeyActivated,
		d.User,
		d.ActivatedAt,
		KeyActivation{d.ID, d.System, d.ActivatedAt.UTC().Format(TimeFormat)},
	)
}

// KeyEnd is the data of KeyEnded.
type KeyEnd struct {
	Key     cyber.KeyID     `json:"keyId"`
	System  cyber.System    `json:"operatingSystem"`
	Reason  cyber.EndReason `json:"reason"`
	EndedAt string          `json:"endedAt"` // in TimeFormat
	// MovedTo is the key of the device that took the place of this one.
	MovedTo cyber.KeyID `json:"movedTo,omitempty"`
}

// NewKeyEndEvent returns the event of a key that ended, for whatever reason. If the person was erased the event names
// no person.
func NewKeyEndEvent(d cyber.Device, at time.Time, movedTo cyber.KeyID) Event {
	user := d.User
	if d.EndReason == cyber.EndErased {
		user = ""
	}
	return NewEvent(
		d.Partner,
		KeyEnded,
		user,
		at,
		KeyEnd{d.ID, d.System, d.EndReason, d.EndedAt.UTC().Format(TimeFormat), movedTo},
	)
}
