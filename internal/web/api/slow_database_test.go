package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
)

// TestSlowDatabaseIsUnavailable asks every route while the database lets nothing through: what needs it is answered 503
// with a time to come back once the request's time is over, and nothing is answered 500.
func TestSlowDatabaseIsUnavailable(t *testing.T) {
	for _, engine := range sqldbtest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			ctx := context.Background()
			s := newService(t, engine)
			handler := newHandler(t, s.Env)
			handler.DatabaseTime = 300 * time.Millisecond
			if _, err := handler.Gate.Authenticate(
				ctx,
				s.Sandbox.APIKey,
				partner.ScopeCyber,
			); err != nil { // known from before
				t.Fatal(err)
			}
			var unavailable atomic.Int64
			err := s.DB.InTransaction(ctx, func(tx *sqldb.Tx) error {
				if engine == sqldb.PostgreSQL {
					var tables string
					err := tx.QueryRowContext(ctx, `SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables WHERE schemaname = current_schema()`).Scan(&tables)
					if err != nil {
						return err
					}
					if _, err := tx.ExecContext(ctx, `LOCK TABLE `+tables); err != nil {
						return err
					}
				}
				var asked sync.WaitGroup
				for _, rt := range routes {
					if rt.outside || rt.body == streamBody { // these have more time
						continue
					}
					asked.Go(func() {
						req := httptest.NewRequest(rt.method, sample(rt), strings.NewReader(sampleBody(rt)))
						req.Header.Set("x-api-key", s.Sandbox.APIKey)
						req.Header.Set("idempotency-key", "slow "+rt.method+rt.path)
						answer := httptest.NewRecorder()
						handler.ServeHTTP(answer, req)
						switch {
						case answer.Code == http.StatusServiceUnavailable && answer.Header().Get("retry-after") != "":
							unavailable.Add(1)
						case answer.Code >= http.StatusInternalServerError:
							t.Errorf("%s %s: %d %s", rt.method, rt.path, answer.Code, answer.Body)
						}
					})
				}
				asked.Wait()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := unavailable.Load(); n < 10 {
				t.Errorf("%d routes said that the database is not there", n)
			}
		})
	}
}
