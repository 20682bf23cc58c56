package telemetry

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// requestIDKey is the key of the request id in a context.
type requestIDKey struct{}

// WithRequestID puts the request's id into the context.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// MaxRequestID bounds a request id that a caller chose.
const MaxRequestID = 128

// NewRequestID returns the caller's id when it is 1 to 128 safe characters (letters, digits, '-', '_', '.', ':'), and a
// fresh one otherwise. Safe means that it cannot break a log line or a header.
func NewRequestID(fromCaller string) string {
	if safeRequestID(fromCaller) {
		return fromCaller
	}
	var raw [16]byte
	binary.NativeEndian.PutUint64(raw[:8], rand.Uint64()) //nolint:gosec // has to be unlike the others, not unguessable
	binary.NativeEndian.PutUint64(raw[8:], rand.Uint64()) //nolint:gosec // as above
	return hex.EncodeToString(raw[:])
}

// RequestIDOf returns the id that the context has, or else NewRequestID.
func RequestIDOf(ctx context.Context, fromCaller string) string {
	if id := RequestID(ctx); id != "" {
		return id
	}
	return NewRequestID(fromCaller)
}

// safeRequestID reports whether a client's request id may be logged and echoed: short, and of harmless characters
// only.
func safeRequestID(s string) bool {
	const harmless = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:"
	return s != "" && len(s) <= MaxRequestID && strings.Trim(s, harmless) == ""
}
