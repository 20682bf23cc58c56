package api

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vigiahq/vigia/internal/subscription"
)

// TestBulksLeaveAProcessorFree: bulks compute on all processors but one, and one that leaves its processor lets the next
// begin.
func TestBulksLeaveAProcessorFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission()
		most := max(1, runtime.GOMAXPROCS(0)-1)
		bulks := make([]*bulkWork, most)
		for i := range bulks {
			bulks[i] = a.beginBulk()
			bulks[i].takeProcessor()
			bulks[i].takeProcessor() // has it already
		}
		began := false
		go func() {
			next := a.beginBulk()
			next.takeProcessor()
			began = true
			next.end()
		}()
		synctest.Wait()
		if began {
			t.Errorf("more than %d bulks compute", most)
		}
		bulks[0].leaveProcessor()
		bulks[0].takeProcessor()
		synctest.Wait()
		if !began {
			t.Error("a processor that was left does not let the next begin")
		}
		for _, b := range bulks {
			b.end()
		}
		if len(a.processors) != 0 {
			t.Error(len(a.processors), "processors are still taken")
		}
	})
}

// TestBulkRoomIsBounded: bulks take bounded memory, the largest ones of one partner's slots leave room for another
// partner's, and what a bulk took is given back at its end.
func TestBulkRoomIsBounded(t *testing.T) {
	a := newAdmission()
	bulks := make([]*bulkWork, heavySlots+1) // all of one partner, then one of another
	for i := range bulks {
		bulks[i] = a.beginBulk()
		if err := bulks[i].growRoom(subscription.MaxItems, maxBulkBody); err != nil {
			t.Fatal(i, err)
		}
	}
	grown := 0
	for bulks[0].growRoom(itemsInTurn, 1<<20) == nil {
		if grown++; grown > bulkRoom>>20 {
			t.Fatal("room without end")
		}
	}
	if err := bulks[1].growRoom(0, 1<<20); !errors.Is(err, errRateLimited) {
		t.Error("one too many:", err)
	}
	for _, b := range bulks {
		b.end()
	}
	if a.bulk != 0 {
		t.Error(a.bulk, "bytes left behind")
	}
}

// TestSmallBodiesAreBounded: bodies of one partner leave room for those of another.
func TestSmallBodiesAreBounded(t *testing.T) {
	a := newAdmission()
	var backs []func()
	for {
		back, err := a.takeBodyRoom("one", -1, maxSmallBody)
		if err != nil {
			break
		}
		backs = append(backs, back)
	}
	if _, err := a.takeBodyRoom("other", 100, maxSmallBody); err != nil || len(backs) != smallOfOne/maxSmallBody {
		t.Error("small bodies:", len(backs), err)
	}
	for _, back := range backs {
		back()
	}
	if a.of["one"].small != 0 || a.small != 100 {
		t.Error("left behind:", a.of["one"].small, a.small)
	}
}

// TestHeavyRequestsShareSlots: bulks and long lists of one partner wait for each other, and no other partner does.
func TestHeavyRequestsShareSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission()
		var held []func()
		for range heavySlots {
			release, err := a.takeHeavySlot(t.Context(), "one")
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, release)
		}
		start := time.Now()
		_, err := a.takeHeavySlot(t.Context(), "one")
		if !errors.Is(err, errRateLimited) || time.Since(start) != slotWait {
			t.Error("one too many:", err, time.Since(start))
		}
		if _, err := a.takeHeavySlot(t.Context(), "other"); err != nil {
			t.Error("another partner:", err)
		}
		held[0]()
		if _, err := a.takeHeavySlot(t.Context(), "one"); err != nil {
			t.Error("after one ended:", err)
		}
	})
}
