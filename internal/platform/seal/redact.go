package seal

import (
	"fmt"
	"log/slog"
)

// redacted is what any formatting of keys prints.
const redacted = "seal.Keys(redacted)"

// Format writes the same fixed text for every verb, so that no print or log of a struct holding Keys shows a key.
func (k *Keys) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// String reveals nothing.
func (k *Keys) String() string { return redacted }

// GoString reveals nothing.
func (k *Keys) GoString() string { return redacted }

// LogValue reveals nothing.
func (k *Keys) LogValue() slog.Value { return slog.StringValue(redacted) }

// Format writes the same fixed text for every verb, so that no print or log of a struct holding a root shows it.
func (r *Root) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("seal.Root(redacted)")) }
