package console

import (
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
)

// perLane is how many cases the desk shows of each status, or of all; a status by itself is read page by page.
const perLane = 25

// lane is one status of the queue with the cases in it.
type lane struct {
	cyber.Lane
	Tickets []ticket
	// Whole is the address of the status by itself.
	Whole string
}

// parseLaneMark reads a place in a lane.
func parseLaneMark(text string) cyber.LaneMark {
	due, id, _ := strings.Cut(text, ".")
	return cyber.LaneMark{Due: parseMicros(due), ID: cyber.CaseID(id)}
}

// formatLaneMark writes a place that parseLaneMark reads; empty at the end of the lane.
func formatLaneMark(m cyber.LaneMark) string {
	return formatMark(cyber.Mark{At: m.Due, ID: string(m.ID)})
}
