package scan

import (
	"sync"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
)

// chain passes the State of a text's rows from each piece to the next, whichever worker searches them. A piece
// publishes its own change before it asks for the State before it, so no worker waits for long.
type chain struct {
	mu     sync.Mutex
	moved  sync.Cond
	next   int64 // the first piece that has not said anything
	said   map[int64]func(record.State) record.State
	states map[int64]record.State // before each piece
	done   map[int64]bool
}

// newChain returns a chain whose first piece is first, with the State before it: an import may resume in the middle of
// a text.
func newChain(first int64, state record.State) *chain {
	c := &chain{
		next:   first,
		said:   map[int64]func(record.State) record.State{},
		states: map[int64]record.State{first: state},
		done:   map[int64]bool{},
	}
	c.moved.L = &c.mu
	return c
}

// publish records how piece n changes the State before it, and applies all changes that are next in order. Only the
// first call for a piece counts.
func (c *chain) publish(n int64, change func(record.State) record.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < c.next || c.said[n] != nil {
		return
	}
	c.said[n] = change
	for {
		change := c.said[c.next]
		if change == nil {
			break
		}
		c.states[c.next+1] = change(c.states[c.next])
		delete(c.said, c.next)
		if c.done[c.next] {
			delete(c.states, c.next)
			delete(c.done, c.next)
		}
		c.next++
	}
	c.moved.Broadcast()
}

// before waits for the State before piece n.
func (c *chain) before(n int64) record.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.next < n {
		c.moved.Wait()
	}
	return c.states[n]
}

// release drops the State before piece n, which is not needed any more. For a piece that could not be read it also
// publishes that the State is unchanged, so that the pieces behind it do not wait for ever.
func (c *chain) release(n int64) {
	c.publish(n, func(s record.State) record.State { return s })
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < c.next {
		delete(c.states, n)
		return
	}
	c.done[n] = true
}
