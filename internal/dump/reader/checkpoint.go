package reader

import (
	"encoding/json"
	"time"
)

// mayCheck makes a Checkpoint after so many more bytes were searched, if one is due.
func (c *reading) mayCheck(searched int64) {
	if c.sinceCheck += searched; c.checkDue() {
		c.sendCheckpoint()
	}
}

// checkDue reports whether it is time for a checkpoint: after a while, or after as many bytes as the job asks for.
func (c *reading) checkDue() bool {
	return time.Since(c.checkedAt) >= checkpointEvery || c.job.Often > 0 && c.sinceCheck >= c.job.Often
}

// sendCheckpoint tells a place from which another reader can go on.
func (c *reading) sendCheckpoint() { exitOnError(c.out.writeJSON(factCheckpoint, c.checkpoint())) }

// checkpoint tells all that was found: everything before c.at has been searched.
func (c *reading) checkpoint() Checkpoint {
	c.pending.Wait()
	for _, w := range c.workers {
		w.flushBatch()
	}
	k := Checkpoint{At: c.at, Counters: c.counters()}
	if c.at.Span > 0 {
		var err error
		k.Rows, err = json.Marshal(c.rows)
		exitOnError(err)
	}
	c.sinceCheck, c.checkedAt = 0, time.Now()
	return k
}
