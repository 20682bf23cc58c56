package api

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

func addAsset(kind, value, user string) string {
	return fmt.Sprintf(`{"type":%q,"value":%q,"userHash":%q}`, kind, value, user)
}

// TestMonitoringLimit: one person's values are bounded; what is there already is no new one.
func TestMonitoringLimit(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		user := hashOf("muitos")
		for i := range cyber.MaxAssets {
			if a := s.as(
				t,
				s.Live,
				http.MethodPost,
				"/v1/cyber/monitoring",
				addAsset("email", fmt.Sprintf("p%d@exemplo.com.br", i), user),
			); a.status != http.StatusOK {
				t.Fatal(i, a)
			}
		}
		if a := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/monitoring",
			addAsset("email", "P7@exemplo.com.br", user),
		); a.status != http.StatusOK {
			t.Error("one that is there:", a)
		}
		a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", addAsset("email", "mais@exemplo.com.br", user))
		if a.status != http.StatusConflict || !strings.Contains(a.body, "Limite de dados monitorados") {
			t.Error("one more:", a)
		}
		if a := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/monitoring",
			addAsset("email", "mais@exemplo.com.br", hashOf("outra")),
		); a.status != http.StatusOK {
			t.Error("another person:", a)
		}
	})
}

// TestMonitoringJoinsDigests: once the person's own CPF is watched, both digests of it are the same person, in every
// spelling.
func TestMonitoringJoinsDigests(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		const cpf = "52998224725"
		d256, d512 := partner.PersonDigests(cpf, s.Live.Salt)
		short, long := hex.EncodeToString(d256[1:]), strings.ToUpper(hex.EncodeToString(d512[1:]))
		list := func(user string) string {
			return s.as(t, s.Live, http.MethodGet, "/v1/cyber/monitoring/"+user, "").body
		}
		post := func(body string) {
			t.Helper()
			if a := s.as(t, s.Live, http.MethodPost, "/v1/cyber/monitoring", body); a.status != http.StatusOK {
				t.Fatal(a)
			}
		}
		post(addAsset("email", "ana@exemplo.com.br", short))
		post(addAsset("email", "ana@exemplo.com.br", long)) // nobody knows yet that these are one
		if list(short) == list(long) {
			t.Error("two hashes are one person before anybody said so")
		}
		post(addAsset("cpf", "529.982.247-25", long))
		got := list(short)
		if got != list(long) || strings.Count(got, `"id"`) != 2 || strings.Count(got, "ana@") != 1 {
			t.Errorf("after the CPF is known:\n%s\n%s", got, list(long))
		}
		id := got[strings.Index(got, "as_"):][:39]
		if a := s.as(t, s.Live, http.MethodDelete, "/v1/cyber/monitoring/"+id+"/"+long, ""); a.status != http.StatusOK {
			t.Error(a)
		}
		if strings.Contains(list(short)+list(long), "ana@") {
			t.Error("a twin under the other digest survived the removal")
		}
		other := hashOf("outra pessoa")
		post(addAsset("email", "outra@exemplo.com.br", other))
		if a := s.as(
			t,
			s.Live,
			http.MethodPost,
			"/v1/cyber/monitoring",
			addAsset("cpf", cpf, other),
		); a.status != http.StatusBadRequest ||
			list(other) == list(short) {
			t.Error("a CPF joined a hash that was not made of it:", a)
		}
	})
}

// TestMonitoringTwinsAtOnce: the same value sent many times at the same moment is one asset.
func TestMonitoringTwinsAtOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		user := hashOf("pressa")
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				if a := s.as(
					t,
					s.Sandbox,
					http.MethodPost,
					"/v1/cyber/monitoring",
					addAsset("email", "ana@vazamento.test", user),
				); a.status != http.StatusOK {
					t.Error(a)
				}
			})
		}
		group.Wait()
		if got := s.as(t, s.Sandbox, http.MethodGet, "/v1/cyber/monitoring/"+user, "").body; strings.Count(got, `"id"`) != 1 {
			t.Error(got)
		}
		if got := s.as(t, s.Sandbox, http.MethodGet, "/v1/cyber/findings/"+user, "").body; strings.Count(got, `"state"`) != 1 {
			t.Error(got)
		}
	})
}
