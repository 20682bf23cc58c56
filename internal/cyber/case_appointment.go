package cyber

import (
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Appointment is one preferred time.
type Appointment struct {
	// At is the member "appointment", if the element has one.
	At time.Time
	// JSON is the element as it was sent.
	JSON string
}

// Wishes are the times that a person would like, best first.
type Wishes struct {
	Times []time.Time
	Mode  partner.Mode
}

// appointmentLayouts are the forms of an ISO 8601 date-time that are understood: extended or basic, with or without
// seconds and their fraction, with or without an offset.
var appointmentLayouts = [...]string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05Z07",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04Z0700",
	"2006-01-02T15:04Z07",
	"2006-01-02T15:04",
	"20060102T150405Z0700",
	"20060102T150405Z07",
	"20060102T150405",
	"20060102T1504Z0700",
	"20060102T1504Z07",
	"20060102T1504",
}

// saoPaulo is what a time without an offset is taken in: the zone has kept this offset since 2019.
var saoPaulo = time.FixedZone("America/Sao_Paulo", -3*60*60)

// ParseAppointment reads an ISO 8601 date-time. Without an offset it is Brasília time.
func ParseAppointment(field, s string) (time.Time, error) {
	for _, layout := range appointmentLayouts {
		if at, err := time.ParseInLocation(layout, s, saoPaulo); err == nil && at.Year() >= 1970 {
			return at.UTC(), nil
		}
	}
	return time.Time{}, ErrCaseInvalid.With(field, fault.DateTimeISO)
}
