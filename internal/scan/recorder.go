package scan

import (
	"context"
	"io"
	"sync"

	"github.com/vigiahq/vigia/internal/scan/record"
)

// Recorder finds the identifiers of one text after another and tells the record that each stands in. It is not safe for
// use by several goroutines; each needs its own.
type Recorder struct {
	finder  finder
	records *record.Reader
	buf     []byte
}

// NewRecorder makes a Recorder that calls found.
func NewRecorder(found record.Found) *Recorder {
	r := &Recorder{records: record.NewReader(found)}
	r.finder.addSign, r.finder.addWeak, r.finder.addNumber = r.records.Add, r.records.AddWeak, r.records.AddNumber
	return r
}

// Scan reads source to its end and returns the number of bytes it took from it. UTF-16 is recognised and read as such.
// name is the file, with its folders, that source is.
func (r *Recorder) Scan(ctx context.Context, source io.Reader, name string) (int64, error) {
	counted := &CountingReader{Source: source}
	text, mail := decodedMail(counted)
	pieces := &Pieces{r: text, size: PieceSize, about: about{name: name, mail: mail}, chain: newChain(0, record.State{})}
	for !pieces.ended {
		next, err := pieces.cut(ctx, r)
		r.tell(next, &pieces.about, pieces.chain)
		if err != nil {
			return counted.Count, err
		}
	}
	return counted.Count, nil
}

// room returns a buffer for a piece of the given size.
func (r *Recorder) room(size int64) []byte {
	if n := int(size + Overlap); len(r.buf) != n {
		r.buf = make([]byte, n)
	}
	return r.buf
}

// about is what is known of a text as a whole.
type about struct {
	name      string
	mail, sql bool
}

// chunk is how much of a text is searched at once, in whole cells.
const chunk = 16 * cell

// tell finds the identifiers of a piece and hands out those that begin in it. Those of its neighbours that may stand in
// the same record have to be known too.
func (r *Recorder) tell(p piece, about *about, chain *chain) {
	t := record.Text{
		Bytes: p.text, From: p.from, Limit: p.limit, Begins: p.number == 0, Ends: p.limit == len(p.text), Name: about.name, Mail: about.mail, SQL: about.sql, Base: p.base,
	}
	r.records.StartText(t)
	from, limit := max(0, p.from-record.Known), min(len(p.text), p.limit+record.Known)
	f := &r.finder
	f.wanted, f.done, f.taken = f.wanted[:0], 0, 0
	for from < limit { // some cells at a time, which are still in the cache when they are looked at for what is coded
		end := from + chunk - int((p.base+int64(from))%cell)
		end = min(end, limit)
		f.extract(p.text, from, end)
		f.decodeCells(p.text, p.base, from, end)
		from = end
	}
	r.readFixedRows(p.text, p.base)
	chain.publish(p.number, r.records.SurveyText())
	r.records.TellRecords(func() record.State { return chain.before(p.number) })
	chain.release(p.number)
}

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
	c := &chain{next: first, said: map[int64]func(record.State) record.State{}, states: map[int64]record.State{first: state}, done: map[int64]bool{}}
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
