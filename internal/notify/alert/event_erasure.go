package alert

import (
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// ErasureRequest is the data of ErasureRequested.
type ErasureRequest struct {
	Erasure string `json:"erasureId"`
	Due     string `json:"dueAt"` // in TimeFormat
}

// NewErasureRequest tells that the erasure of a person was asked for, and until when it can be cancelled.
func NewErasureRequest(id partner.ID, user partner.UserHash, erasure string, at, due time.Time) Event {
	data := ErasureRequest{Erasure: erasure, Due: due.UTC().Format(TimeFormat)}
	return NewEvent(id, ErasureRequested, user, at, data)
}

// ErasureCancellation is the data of ErasureCancelled.
type ErasureCancellation struct {
	Erasure string `json:"erasureId"`
}

// NewErasureCancellation tells that a person is not erased after all.
func NewErasureCancellation(id partner.ID, user partner.UserHash, erasure string, at time.Time) Event {
	return NewEvent(id, ErasureCancelled, user, at, ErasureCancellation{Erasure: erasure})
}

// ErasureCompletion is the data of ErasureCompleted.
type ErasureCompletion struct {
	Erasure string `json:"erasureId"`
	Removed int64  `json:"removed"`
}

// NewErasureCompletion tells that an erasure is over. The event names no person: it outlives them.
func NewErasureCompletion(id partner.ID, erasure string, removed int64, at time.Time) Event {
	return NewEvent(id, ErasureCompleted, "", at, ErasureCompletion{Erasure: erasure, Removed: removed})
}
