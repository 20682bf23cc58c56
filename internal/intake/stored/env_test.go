package stored_test

import (
	"testing"

	"github.com/vigiahq/vigia/internal/leak/leaktest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// env is everything around breaches, on a real store.
type env struct{ *leaktest.Env }

func newEnv(t *testing.T, e *storetest.Env) *env {
	t.Helper()
	return &env{leaktest.New(t, e)}
}
