package scan

import "testing"

// The tests of marks run with the widest registers that the processor has; those without must find the same.
//
//vigia:shows marks and places of numbers without the widest registers of the processor are the same
//vigia:broken one digit too many in narrow registers
func TestNarrowMarks(t *testing.T) {
	defer func(was bool) { wide = was }(wide)
	wide = false
	t.Run("marks", TestMarks)
	t.Run("places", TestPlaces)
}
