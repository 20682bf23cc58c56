package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestCountsThatCannotBeKept: the counts of a partner whose flush fails are handed over by the next one, together with
// what was counted in between and while it was failing; those that were kept are not counted twice.
func TestCountsThatCannotBeKept(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	score := &route{method: "GET", path: "/cyber/score/{userHash}"}
	watch := &route{method: "POST", path: "/cyber/monitoring"}
	c := NewCounter()
	count := func(id partner.ID, rt *route, status int) {
		c.countRequest(partner.Caller{Partner: id}, rt, status, now, now, nil)
	}
	type operation struct {
		id   partner.ID
		name string
	}
	type counted struct{ sent, refused int64 }
	errAway := errors.New("the database is away")
	flush := func(fails partner.ID, during func()) (map[operation]counted, error) {
		kept := map[operation]counted{}
		err := c.FlushCounts(t.Context(), func(
			_ context.Context, id partner.ID, counts []partner.Requests, _ []partner.LoggedRequest,
		) error {
			if id == fails {
				during()
				return errAway
			}
			for _, n := range counts {
				kept[operation{id, n.Operation}] = counted{n.Sent, n.Refused}
			}
			return nil
		})
		return kept, err
	}
	want := func(when string, got, want map[operation]counted) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("%s: kept %v, want %v", when, got, want)
		}
	}
	count("pt_1", score, http.StatusOK)
	count("pt_1", score, http.StatusNotFound)
	count("pt_1", watch, http.StatusOK)
	count("pt_2", score, http.StatusOK)
	kept, err := flush("pt_1", func() {
		count("pt_1", score, http.StatusBadRequest)
		count("pt_2", watch, http.StatusOK)
	})
	if !errors.Is(err, errAway) {
		t.Errorf("a failed flush: %v", err)
	}
	want("the first", kept, map[operation]counted{{"pt_2", "GET /cyber/score/{userHash}"}: {1, 0}})
	count("pt_1", score, http.StatusOK)
	if kept, err = flush("pt_2", func() {}); !errors.Is(err, errAway) {
		t.Errorf("a failed flush: %v", err)
	}
	want("the second", kept, map[operation]counted{
		{"pt_1", "GET /cyber/score/{userHash}"}: {4, 2},
		{"pt_1", "POST /cyber/monitoring"}:      {1, 0},
	})
	if kept, err = flush("", nil); err != nil {
		t.Fatal(err)
	}
	want("the third", kept, map[operation]counted{{"pt_2", "POST /cyber/monitoring"}: {1, 0}})
	if kept, err = flush("", nil); err != nil {
		t.Fatal(err)
	}
	want("the fourth", kept, map[operation]counted{})
}
