//go:build !race

package seal

// underRace says that the race detector is on.
const underRace = false
