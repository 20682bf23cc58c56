package stored_test

import (
	"testing"

	"github.com/vigiahq/vigia/internal/store/dumptest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// env is everything around breaches, on a real store, with what only these tests ask of it.
type env struct{ *dumptest.Env }

// newEnv opens one with a live partner.
func newEnv(t *testing.T, e *storetest.Env) *env {
	t.Helper()
	return &env{dumptest.NewEnv(t, e)}
}
