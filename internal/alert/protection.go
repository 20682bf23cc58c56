package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
)

// CaseChange is the data of CaseStatusChanged.
type CaseChange struct {
	Case     cyber.CaseID     `json:"caseId"`
	Service  cyber.ServiceID  `json:"serviceId"`
	Previous cyber.CaseStatus `json:"previousStatus"`
	Status   cyber.CaseStatus `json:"status"`
}

// CaseMessage is the data of CaseMessageAdded: who wrote, never what.
type CaseMessage struct {
	Case    cyber.CaseID    `json:"caseId"`
	Service cyber.ServiceID `json:"serviceId"`
	From    string          `json:"from"` // "support" or "person"
}

// CaseBooking is the data of CaseBooked.
type CaseBooking struct {
	Case        cyber.CaseID    `json:"caseId"`
	Service     cyber.ServiceID `json:"serviceId"`
	Appointment string          `json:"appointment"` // in TimeFormat
}

// CaseRating is the data of CaseRated.
type CaseRating struct {
	Case    cyber.CaseID    `json:"caseId"`
	Service cyber.ServiceID `json:"serviceId"`
	Rating  int             `json:"rating"`
}

// CaseEvents returns the events of new lines of a case's history. Notes are internal and cause none, and an attachment
// is part of the event of its message.
func CaseEvents(c cyber.Case, lines []cyber.CaseMove) (events []Event, err error) {
	for _, m := range lines {
		var kind Type
		var data any
		switch m.Kind {
		case cyber.MoveStatus:
			kind, data = CaseStatusChanged, CaseChange{Case: c.ID, Service: c.Service, Previous: m.From, Status: m.To}
		case cyber.MoveReply:
			kind, data = CaseMessageAdded, CaseMessage{c.ID, c.Service, "support"}
		case cyber.MoveMessage:
			kind, data = CaseMessageAdded, CaseMessage{c.ID, c.Service, "person"}
		case cyber.MoveBooking:
			kind, data = CaseBooked, CaseBooking{c.ID, c.Service, c.Booked.UTC().Format(TimeFormat)}
		case cyber.MoveRating:
			kind, data = CaseRated, CaseRating{c.ID, c.Service, c.Rating}
		case cyber.MoveNote, cyber.MoveAttachment:
			continue
		}
		e, err := NewEvent(c.Partner, kind, c.User, m.At, data)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// KeyExpiry is the data of KeyExpiring. It never holds the key.
type KeyExpiry struct {
	Key        cyber.KeyID  `json:"keyId"`
	System     cyber.System `json:"operatingSystem"`
	ValidUntil string       `json:"validUntil"` // in TimeFormat
}

// KeyExpires tells that a device's key ends soon.
func KeyExpires(d cyber.Device, at time.Time) (Event, error) {
	return NewEvent(d.Partner, KeyExpiring, d.User, at, KeyExpiry{Key: d.ID, System: d.System, ValidUntil: d.ValidUntil.UTC().Format(TimeFormat)})
}

// KeyActivation is the data of KeyActivated.
type KeyActivation struct {
	Key         cyber.KeyID  `json:"keyId"`
	System      cyber.System `json:"operatingSystem"`
	ActivatedAt string       `json:"activatedAt"` // in TimeFormat
}

// KeyActivates tells that a device is protected from now on.
func KeyActivates(d cyber.Device) (Event, error) {
	return NewEvent(d.Partner, KeyActivated, d.User, d.ActivatedAt, KeyActivation{d.ID, d.System, d.ActivatedAt.UTC().Format(TimeFormat)})
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
func NewKeyEndEvent(d cyber.Device, at time.Time, movedTo cyber.KeyID) (Event, error) {
	user := d.User
	if d.EndReason == cyber.EndErased {
		user = ""
	}
	return NewEvent(d.Partner, KeyEnded, user, at, KeyEnd{d.ID, d.System, d.EndReason, d.EndedAt.UTC().Format(TimeFormat), movedTo})
}
