package webhook

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that outlive the tests. One look takes less than half a second, in which a starved
// machine may not have ended those of the last connections: it gets more.
func TestMain(m *testing.M) {
	code := m.Run()
	left := goleak.Find()
	for range 50 {
		if left == nil {
			break
		}
		left = goleak.Find()
	}
	if left != nil {
		fmt.Fprintln(os.Stderr, left)
		code = max(code, 1)
	}
	os.Exit(code)
}
