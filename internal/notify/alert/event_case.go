package alert

import "github.com/vigiahq/vigia/internal/cyber"

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
func CaseEvents(c cyber.Case, lines []cyber.CaseMove) (events []Event) {
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
		events = append(events, NewEvent(c.Partner, kind, c.User, m.At, data))
	}
	return events
}
