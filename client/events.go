package client

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// EventBody is what happened.
type EventBody struct {
	// Type says what Data is.
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	// Data is a value, never a pointer, of the type that belongs to Type: LeakDetectedData for
	// EventTypeMonitoringLeakDetected, and so on. For a type that this package does not know it is a json.RawMessage.
	Data any `json:"data"`
	// raw is the body as it came: what is passed on must be the very bytes that were signed.
	raw json.RawMessage
}

// MarshalJSON returns the body as it came.
func (b EventBody) MarshalJSON() ([]byte, error) { return b.raw, nil }

// eventData holds a zero value of the data of each type.
var eventData = map[EventType]any{
	EventTypeMonitoringLeakDetected:      LeakDetectedData{},
	EventTypeMonitoringStatusChanged:     MonitoringStatusChangedData{},
	EventTypeMonitoringFirstLooksChanged: FirstLooksChangedData{},
	EventTypeFindingStepDue:              FindingStepDueData{},
	EventTypeCaseStatusChanged:           CaseStatusChangedData{},
	EventTypeCaseMessageAdded:            CaseMessageAddedData{},
	EventTypeCaseAppointmentChanged:      CaseAppointmentChangedData{},
	EventTypeCaseRated:                   CaseRatedData{},
	EventTypeEppKeyExpiring:              KeyExpiringData{},
	EventTypeEppKeyActivated:             KeyActivatedData{},
	EventTypeEppKeyEnded:                 KeyEndedData{},
	EventTypeSubscriptionEnded:           SubscriptionChangedData{},
	EventTypeSubscriptionSuspended:       SubscriptionChangedData{},
	EventTypeSubscriptionResumed:         SubscriptionChangedData{},
	EventTypeErasureRequested:            ErasureRequestedData{},
	EventTypeErasureCancelled:            ErasureCancelledData{},
	EventTypeErasureCompleted:            ErasureCompletedData{},
}

// UnmarshalJSON reads a body and gives Data the type that belongs to it.
func (b *EventBody) UnmarshalJSON(raw []byte) error {
	var wire struct {
		Type      EventType       `json:"type"`
		Timestamp time.Time       `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return err
	}
	*b = EventBody{Type: wire.Type, Timestamp: wire.Timestamp, Data: wire.Data, raw: slices.Clone(raw)}
	zero, known := eventData[b.Type]
	if !known {
		return nil
	}
	data := reflect.New(reflect.TypeOf(zero))
	if err := json.Unmarshal(wire.Data, data.Interface()); err != nil {
		return fmt.Errorf("data of %s: %w", b.Type, err)
	}
	b.Data = data.Elem().Interface()
	return nil
}
