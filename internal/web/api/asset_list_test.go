package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestListSaysWhatIsKept: the database refuses a value in the middle of a list. The answer says how many were decided
// before, exactly those are watched, and the same list sent again adds the rest and nothing twice. Under an idempotency
// key the list is one whole: nothing of it is kept.
func TestListSaysWhatIsKept(t *testing.T) {
	s := newService(t, sqldb.PostgreSQL)
	s.unlimited(t, s.Live)
	count := func() (n int) {
		t.Helper()
		err := s.DB.ReadPool().QueryRowContext(t.Context(), `SELECT count(*) FROM asset`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	post := func(key string) answered {
		h := http.Header{"x-api-key": {s.Live.APIKey}}
		if key != "" {
			h.Set("idempotency-key", key)
		}
		return s.do(t, call{method: "POST", path: "/v1/cyber/assets", body: assetsOf(0, 1000), header: h})
	}
	fails := func(on bool) {
		t.Helper()
		statement := `DROP TRIGGER refuse_many ON asset`
		if on {
			statement = `CREATE TRIGGER refuse_many BEFORE INSERT ON asset FOR EACH ROW
				WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_many()`
		}
		if err := storetest.Write(context.Background(), s.Env, statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := storetest.Write(t.Context(), s.Env, `CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF (SELECT count(*) FROM asset) >= 600 THEN RAISE EXCEPTION 'no more' USING ERRCODE = '53100'; END IF;
			RETURN NEW;
		END $$`); err != nil {
		t.Fatal(err)
	}
	fails(true)
	if got := post(
		"whole",
	); got.status != http.StatusServiceUnavailable || strings.Contains(got.header.Get(detailHeader), "decided") ||
		count() != 0 {
		t.Errorf("under a key: %d %q, %d kept", got.status, got.header.Get(detailHeader), count())
	}
	got := post("")
	if want := "items: the first 500 were decided and 500 of them are watched"; got.status != http.StatusServiceUnavailable ||
		!strings.HasPrefix(got.header.Get(detailHeader), want) {
		t.Errorf("%d %q", got.status, got.header.Get(detailHeader))
	}
	if n := count(); n != 500 {
		t.Errorf("%d are kept", n)
	}
	fails(false)
	if got := post(""); !strings.Contains(got.body, `"totalAdded":1000`) || count() != 1000 {
		t.Errorf("sent again: %d %s, %d kept", got.status, got.body, count())
	}
}

// TestListAsSingles: a list is held to what single requests are held to: a value that the person has, under either
// digest, is passed over, twice in one list too; the limit of values of a person counts those of the list.
func TestListAsSingles(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.unlimited(t, s.Live)
		who := hashMadeOf(cpfOf(7), s.Live)
		long := string(partner.LongUserHash(cpfOf(7), s.Live.Salt))
		item := func(kind, value, user string) string {
			return fmt.Sprintf(`{"type":%q,"value":%q,"userHash":%q}`, kind, value, user)
		}
		send := func(items ...string) answered {
			return s.as(t, s.Live, http.MethodPost, "/v1/cyber/assets", `{"items":[`+strings.Join(items, ",")+`]}`)
		}
		values := func(user string) int {
			return strings.Count(s.as(t, s.Live, http.MethodGet, "/v1/cyber/monitoring/"+user, "").body, `"id"`)
		}
		s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("email", "ana@exemplo.com.br", who))
		got := send(
			item("cpf", cpfOf(7), long), // both digests are one person from here on
			item("email", "Ana@exemplo.com.br", long),
			item("email", "ana@exemplo.com.br", who),
			item("phone", "+5511987654321", who),
			item("phone", "+5511987654321", long),
		)
		if got.status != http.StatusOK || !strings.Contains(got.body, `"totalAdded":5`) || values(who) != 3 ||
			values(long) != 3 {
			t.Errorf("%d %s: %d and %d values", got.status, got.body, values(who), values(long))
		}
		var many []string
		for i := range 98 {
			many = append(many, item("email", fmt.Sprintf("a%d@exemplo.com.br", i), who))
		}
		got = send(many...)
		if !strings.Contains(got.body, `"totalAdded":97,"totalNotAdded":1,"notAdded":[{"item":97,`) ||
			values(who) != 100 {
			t.Errorf("%s: %d values", got.body, values(who))
		}
	})
}

// TestListsAreDivided: SQLite has one writer, and single writes of others wait for what is in it, so a list is stored by
// several transactions.
func TestListsAreDivided(t *testing.T) {
	s := newService(t, sqldb.SQLite)
	s.unlimited(t, s.Live)
	var largest, all int64
	err := s.DB.WatchWriter(t.Context(), func(h sqldb.Hold) {
		n := h.RowsWritten()
		largest, all = max(largest, n), all+n
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.as(t, s.Live, http.MethodPost, "/v1/cyber/assets", assetsOf(0, 1000)); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if all < 1000 || largest*3 > all {
		t.Errorf("the largest transaction wrote %d of %d rows", largest, all)
	}
}
