// Package vigia holds what the top of the tree has for readers of a running service: the list of changes. It stands
// here because go:embed reaches no folder above, and a copy would be old by tomorrow.
package vigia

import _ "embed" // the list travels inside the binary

// Changelog is CHANGELOG.md.
//
//go:embed CHANGELOG.md
var Changelog string
