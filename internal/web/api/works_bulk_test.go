package api

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestBulksLeaveAProcessorFree: bulks compute on all processors but one, and one that gives its turn up lets the next
// begin.
func TestBulksLeaveAProcessorFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkLimits()
		most := max(1, runtime.GOMAXPROCS(0)-1)
		turns := make([]*processorTurn, most)
		for i := range turns {
			turns[i] = w.newProcessorTurn()
			turns[i].beginProcessorTurn()
			turns[i].beginProcessorTurn() // has it already
		}
		began := false
		go func() {
			next := w.newProcessorTurn()
			next.beginProcessorTurn()
			began = true
			next.endProcessorTurn()
		}()
		synctest.Wait()
		if began {
			t.Errorf("more than %d bulks compute", most)
		}
		turns[0].yieldProcessor()
		synctest.Wait()
		if !began {
			t.Error("a turn that was given up does not let the next begin")
		}
	})
}

// TestOneBulkOfAPartnerWrites: a second bulk of a partner waits for the first one to end, and another partner's does
// not.
func TestOneBulkOfAPartnerWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkLimits()
		begin := func(id partner.ID) (end func()) {
			pass, err := w.enterBulk(id, lightBody+1)
			if err == nil {
				end, err = pass.beginLoad(t.Context())
			}
			if err != nil {
				t.Error(err)
				return func() {}
			}
			return end
		}
		endFirst := begin("a")
		began := false
		go func() {
			end := begin("a")
			began = true
			end()
		}()
		begin("b")() // another partner's does not wait
		synctest.Wait()
		if began {
			t.Error("two bulks of a partner write at once")
		}
		endFirst()
		synctest.Wait()
		if !began {
			t.Error("the next one may not begin")
		}
	})
}
