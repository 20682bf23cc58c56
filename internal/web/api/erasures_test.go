package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/subject"
)

// runErasures carries out what is due, as a worker does.
func (s *service) runErasures(ctx context.Context) error {
	trail := operator.NewTrail(s.Store.Audit, s.Clock.Now)
	rights := subject.NewRights(s.Store.Subjects, s.Store.Partners, trail, s.Clock.Now)
	_, err := rights.RunDueErasures(ctx, false, func([]subject.Tombstone) error { return nil })
	return err
}

// TestErasureByThePartner: asked for, followed, cancelled until it begins, carried out after a day.
func TestErasureByThePartner(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		user := hashOf("apagar")
		watch := `{"type":"email","value":"apagar@exemplo.com.br","userHash":"` + user + `"}`
		if got := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", watch); got.status != http.StatusOK {
			t.Fatal(got.status, got.body)
		}
		ask := func() (e erasureItem) {
			t.Helper()
			s.as(t, s.Live, http.MethodPost, "/v1/erasures", `{"userHash":"`+user+`","reason":"pedido"}`).into(t, &e)
			return e
		}
		follow := func(id string) (e erasureItem) {
			t.Helper()
			s.as(t, s.Live, http.MethodGet, "/v1/erasures/"+id, "").into(t, &e)
			return e
		}
		cancel := func(id string) answered { return s.as(t, s.Live, http.MethodDelete, "/v1/erasures/"+id, "") }
		first := ask()
		if first.State != subject.RequestPending || first.UserHash != user || follow(first.ID) != first {
			t.Errorf("%+v %+v", first, follow(first.ID))
		}
		if again := ask(); again != first {
			t.Errorf("asked again: %+v, first %+v", again, first)
		}
		for range 2 {
			if got := cancel(first.ID); got.status != http.StatusOK {
				t.Error("cancel:", got.status, got.body)
			}
		}
		if got := follow(first.ID); got.State != subject.RequestCancelled || got.UserHash != "" || got.EndedAt == "" {
			t.Errorf("%+v", got)
		}
		second := ask()
		s.Clock.Advance(24 * time.Hour)
		if err := s.runErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := follow(second.ID)
		want := got
		want.State, want.UserHash = subject.RequestCompleted, ""
		difftest.Check(t, "the request", got, want)
		if got.Removed == nil || *got.Removed == 0 {
			t.Errorf("%+v", got)
		}
		if got := cancel(second.ID); got.status != http.StatusConflict {
			t.Error("cancel what is over:", got.status, got.body)
		}
		var list []any
		mustDecode(t, s.as(t, s.Live, http.MethodGet, "/v1/cyber/monitoring/"+user, ""), &list)
		if len(list) != 0 {
			t.Error("still watched:", list)
		}
	})
}

// TestOpenErasures: what is open is listed as its own address shows it, newest first, page by page, and what is over is
// not. Requests of others are not seen, and a page that is none is refused.
func TestOpenErasures(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		list := func(who tenant, query string) (page erasurePage) {
			t.Helper()
			s.as(t, who, http.MethodGet, "/v1/erasures"+query, "").into(t, &page)
			return page
		}
		same := func(when string, page erasurePage, want ...erasureItem) {
			t.Helper()
			if !slices.Equal(page.Erasures, want) || page.Erasures == nil {
				t.Errorf("%s: %+v, want %+v", when, page.Erasures, want)
			}
		}
		same("before any", list(s.Live, ""))
		var asked []erasureItem // newest first
		for _, name := range []string{"um", "dois", "três"} {
			var e erasureItem
			body := `{"userHash":"` + hashOf(name) + `","reason":"pedido"}`
			s.as(t, s.Live, http.MethodPost, "/v1/erasures", body).into(t, &e)
			asked = append([]erasureItem{e}, asked...)
			s.Clock.Advance(time.Second)
		}
		var one erasureItem
		s.as(t, s.Live, http.MethodGet, "/v1/erasures/"+asked[0].ID, "").into(t, &one)
		if one != asked[0] {
			t.Errorf("%+v, listed %+v", one, asked[0])
		}
		all := list(s.Live, "")
		same("all", all, asked...)
		want := all
		want.Page, want.PageSize, want.TotalItems, want.HasNext = 1, 50, 3, false
		difftest.Check(t, "all on one page", all, want)
		first, second := list(s.Live, "?page_size=2"), list(s.Live, "?page=2&page_size=2")
		same("the first page", first, asked[:2]...)
		same("the second page", second, asked[2])
		if !first.HasNext {
			t.Errorf("%+v", first)
		}
		want = second
		want.HasNext, want.Page, want.TotalItems = false, 2, 3
		difftest.Check(t, "the second page", second, want)
		same("past the last", list(s.Live, "?page=2147483647"))
		if got := list(s.Live, "?page_size=1000"); got.PageSize != 100 {
			t.Error("a page of", got.PageSize)
		}
		same("another partner's", list(s.Sandbox, ""))
		for _, query := range []string{"?page=0", "?page_size=0", "?page=a", "?state=pending"} {
			if got := s.as(t, s.Live, http.MethodGet, "/v1/erasures"+query, ""); got.status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", query, got.status, got.body)
			}
		}
		s.as(t, s.Live, http.MethodDelete, "/v1/erasures/"+asked[1].ID, "")
		same("one is cancelled", list(s.Live, ""), asked[0], asked[2])
		s.Clock.Advance(24 * time.Hour)
		if err := s.runErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		same("the others are completed", list(s.Live, ""))
	})
}

// TestErasureRefusals: without a reason or a person nothing is asked for; whether the person is known is not told.
func TestErasureRefusals(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		for _, body := range []string{
			`{"userHash":"a"}`,
			`{"userHash":"a","reason":"  "}`,
			`{"userHash":"a","reason":"` + strings.Repeat("x", 1001) + `"}`,
			`{"reason":"pedido"}`,
			`{"userHash":"extra","reason":"pedido"}`,
		} {
			if got := s.as(t, s.Live, http.MethodPost, "/v1/erasures", body); got.status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
		}
		got := s.as(t, s.Live, http.MethodPost, "/v1/erasures", `{"userHash":"ninguem","reason":"pedido"}`)
		if got.status != http.StatusOK {
			t.Error("a person whom the partner does not know:", got.status, got.body)
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if got := s.as(t, s.Live, method, "/v1/erasures/er_nunca", ""); got.status != http.StatusNotFound {
				t.Errorf("%s of an unknown id: %d", method, got.status)
			}
		}
	})
}

// TestErasureOfAStranger: of a person whom the partner never named, nothing was removed: the request itself and one that
// was cancelled before are no records about them.
func TestErasureOfAStranger(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		ask := func() (e erasureItem) {
			body := `{"userHash":"` + hashOf("nunca vista") + `","reason":"pedido"}`
			s.as(t, s.Live, http.MethodPost, "/v1/erasures", body).into(t, &e)
			return e
		}
		s.as(t, s.Live, http.MethodDelete, "/v1/erasures/"+ask().ID, "")
		asked := ask()
		s.Clock.Advance(24 * time.Hour)
		if err := s.runErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got erasureItem
		s.as(t, s.Live, http.MethodGet, "/v1/erasures/"+asked.ID, "").into(t, &got)
		if got.State != subject.RequestCompleted || got.Removed == nil || *got.Removed != 0 {
			t.Errorf("%+v removed %v", got, got.Removed)
		}
		var events struct {
			Events []struct {
				Type string
				Data struct{ Removed *int64 }
			}
		}
		s.as(t, s.Live, http.MethodGet, "/v1/events", "").into(t, &events)
		for _, e := range events.Events {
			if e.Type == "erasure.completed" && (e.Data.Removed == nil || *e.Data.Removed != 0) {
				t.Error("the event says otherwise:", e.Data.Removed)
			}
		}
	})
}

// TestErasureNeedsItsScope: no key has it unless it was asked for, and no other scope includes it.
func TestErasureNeedsItsScope(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		registry := partner.NewRegistry(s.Store.Partners, s.Clock.Now, nil)
		for _, mode := range []partner.Mode{partner.Live, partner.Sandbox} {
			p, made, err := registry.CreatePartner(t.Context(), "Novo", mode, partner.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			secret(made.APIKey)
			first := tenant{Partner: p, Credentials: made}
			got := s.as(t, first, http.MethodPost, "/v1/erasures", `{"userHash":"a","reason":"pedido"}`)
			if got.status != http.StatusForbidden {
				t.Errorf("the first key of a %s partner: %d", mode, got.status)
			}
			if got := s.as(t, first, http.MethodGet, "/v1/erasures", ""); got.status != http.StatusForbidden {
				t.Errorf("the first key of a %s partner lists them: %d", mode, got.status)
			}
			own := registry.ForPartner(p.ID, true)
			if list, err := own.ListScopeGivers(t.Context(), p.ID); err != nil ||
				slices.Contains(list.Self, partner.ScopePrivacy) {
				t.Error("the partner's people give it without the operator:", list, err)
			}
			scopes := []partner.Scope{partner.ScopePrivacy}
			if _, _, err := registry.CreateKey(t.Context(), p.ID, "encarregado", scopes, time.Time{}); err != nil {
				t.Fatal(err)
			}
			if list, err := own.ListScopeGivers(t.Context(), p.ID); err != nil ||
				!slices.Contains(list.Self, partner.ScopePrivacy) {
				t.Error("an administrator gives what the partner holds:", list, err)
			}
			developer := registry.ForPartner(p.ID, false)
			_, _, err = developer.CreateKey(t.Context(), p.ID, "outra", scopes, time.Time{})
			if !errors.Is(err, partner.ErrInvalid) {
				t.Error("a developer gives it:", err)
			}
		}
	})
}
