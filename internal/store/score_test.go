package store_test

import (
	"context"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestScoresAreSealed: a table that was copied does not tell how endangered anybody is; the history, the last score and
// a day that was kept twice read as they were kept.
func TestScoresAreSealed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		p, _ := e.NewPartner(t, partner.Live)
		want := []cyber.ScoreDay{{Day: 20000, Breach: 685, Assessment: 920}, {Day: 20003, Breach: 0, Assessment: 633}}
		for _, d := range append([]cyber.ScoreDay{{Day: 20003, Breach: 1, Assessment: 2}}, want...) {
			if err := e.Advice.KeepScore(ctx, p.ID, "u1", d); err != nil {
				t.Fatal(err)
			}
		}
		got, err := e.Advice.ScoreDays(ctx, p.ID, "u1")
		if err != nil {
			t.Fatal(err)
		}
		difftest.Check(t, "the days", got, want)
		if posture, err := e.Advice.ReadPosture(ctx, p.ID, "u1", true); err != nil || posture.Last != want[1] {
			t.Error(posture, err)
		}
		var sealed int
		err = e.DB.ReadPool().QueryRowContext(ctx, `SELECT count(DISTINCT sealed) FROM score_day`).Scan(&sealed)
		if err != nil || sealed != 2 {
			t.Errorf("%d sealed, %v", sealed, err)
		}
	})
}
