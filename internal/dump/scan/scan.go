// Package scan turns dump bytes of any kind into identifiers: e-mail addresses, CPFs, phone numbers, payment cards,
// CNPJs and random Pix keys.
//
// A Scanner reads one stream and calls back with every identifier in its normal form; package container opens files and
// archives and hands out the streams inside them. It knows neither breaches, fingerprints nor storage. A finder anchors
// on '@' and on runs of digits, so a combo list, a table, JSON, SQL, HTML or a memory image are all the same to it;
// package record tells what a number is by the column it stands in, and what else its record holds.
//
// Invariants: memory does not grow with the input; nothing that was read is written anywhere; every value handed out is
// its own normal form in package identifier.
package scan

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// Found receives one identifier in normal form. The bytes are valid during the call only. The same value may come many
// times.
type Found func(kind identifier.Kind, normal []byte)

// margin is how far a decision may look to either side of its anchor. The longest identifier, an e-mail address, has
// 254 bytes.
const margin = 512

// Scanner finds the identifiers of one text after another without telling their records. It is not safe for use by
// several goroutines; each needs its own.
type Scanner struct{ recorder *Recorder }

// NewScanner makes a Scanner that calls found.
func NewScanner(found Found) *Scanner {
	return &Scanner{NewRecorder(func(s *record.Sighting) { found(s.Kind, s.Normal) })}
}

// Scan reads r to its end and returns the number of bytes it took from it.
func (s *Scanner) Scan(ctx context.Context, r io.Reader) (int64, error) {
	return s.recorder.Scan(ctx, r, "")
}

// finder finds what may be identifiers in a text.
type finder struct {
	// addSign is called with each identifier that is told by its signs, and where in the text at hand it stands;
	// addWeak with those that count only where the name of a column says so; addNumber with each number.
	addSign, addWeak func(kind identifier.Kind, normal []byte, from, to int)
	addNumber        func(*record.Number) bool
	isView           bool // the text is a decoded view of another
	decoder          *decoder
	done             int          // numbers that begin before this have been read
	taken            int          // groups that begin before this are of numbers that were found
	wanted           []int        // where the text at hand has something to decode, as far as it was searched
	text             [margin]byte // the value being put together
	marks            marks
	groups           [2*mostGroups + 1]group
	reading          record.Number
	// runs are where digits were seen that may be columns of fixed width, and layout what is known of these.
	runs   []int
	layout fixedRows
}

// extract searches b[from:limit]. Signs and numbers are searched for one after the other in each stretch of text, which
// is still in the nearest cache then.
func (s *finder) extract(b []byte, from, limit int) {
	for ; from < limit; from += stretch {
		s.marks.readBitmaps(b, from)
		s.readSigns(b, from, limit)
		s.done = s.numbers(b, from, limit, s.done)
	}
}

// FillBuffer reads until p is full or r ends. Unlike io.ReadFull it keeps the end of r apart from a stream that was cut
// off, for which decoders return io.ErrUnexpectedEOF.
func FillBuffer(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// CountingReader counts the bytes that were read from Source.
type CountingReader struct {
	Source io.Reader
	Count  int64
}

func (c *CountingReader) Read(p []byte) (int, error) {
	n, err := c.Source.Read(p)
	c.Count += int64(n)
	return n, err
}

// MeteredReader adds the bytes that are read to a count that other goroutines may look at, for progress.
type MeteredReader struct {
	io.Reader
	Count *atomic.Int64
}

func (m MeteredReader) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.Count.Add(int64(n))
	return n, err
}

// The classes of a byte. One table look-up answers every question the extractor asks of a byte.
const (
	inLocal  uint16 = 1 << iota // may stand in the local part of an address as dumps have them
	inDomain                    // may stand in a domain name
	digit                       // 0 to 9
	letter                      // a to z, any case
	hexOnly                     // a to f, any case
	dot
	rare   // needs a closer look next to an address: an escape, a quote, a byte beyond ASCII
	inName // letters, digits and what joins the words of a name
	upper  // A to Z
	hyphen
)

// class is what the finder has to know of a byte.
var class = func() (t [256]uint16) {
	for c := range 256 {
		b := byte(c)
		switch {
		case b >= '0' && b <= '9':
			t[c] = digit | inLocal | inDomain | inName
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			t[c] = letter | inLocal | inDomain | inName
			if b|0x20 <= 'f' {
				t[c] |= hexOnly
			}
			if b&0x20 == 0 {
				t[c] |= upper
			}
		case b >= 0x80:
			t[c] = rare
		}
	}
	for _, c := range "_+-" {
		t[c] |= inLocal
	}
	t['_'] |= inName
	t['.'] = inLocal | inDomain | dot
	t['-'] |= inDomain | hyphen
	t['%'] = inLocal | rare
	t['\''], t['\\'] = rare, rare
	return t
}()

// lower maps ASCII letters to lower case and leaves other bytes.
var lower = func() (t [256]byte) {
	for c := range 256 {
		t[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			t[c] += 'a' - 'A'
		}
	}
	return t
}()

// isDigit reports whether c is an ASCII digit. Bytes below '0' wrap around and are larger than 9 too.
func isDigit(c byte) bool { return c-'0' <= 9 }

// isHexDigit reports whether c is a hexadecimal digit.
func isHexDigit(c byte) bool { return class[c]&(digit|hexOnly) != 0 }

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
	pieces := &Pieces{
		r:     text,
		size:  PieceSize,
		about: about{name: name, mail: mail},
		chain: newChain(0, record.State{}),
	}
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
		Bytes:  p.text,
		From:   p.from,
		Limit:  p.limit,
		Begins: p.number == 0,
		Ends:   p.limit == len(p.text),
		Name:   about.name,
		Mail:   about.mail,
		SQL:    about.sql,
		Base:   p.base,
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

// piece is a part of a stream: text to look at, of which [from, limit) is to be searched and the rest is there to be
// seen.
type piece struct {
	text        []byte
	from, limit int
	number      int64 // 0: the text begins with it
	base        int64 // where in the text it begins
}

// PieceSize is large enough that what two pieces have in common costs little beside searching them.
const PieceSize = 1 << 20

// Overlap is what two pieces have in common: either sees as far beyond the border between them as records reach.
const Overlap = 2 * record.Reach

// ScanParallel is Scan with a goroutine for each Recorder. Which of them calls back with an identifier is left to
// chance; all of them together find what one would find.
func ScanParallel(ctx context.Context, r io.Reader, name string, recorders []*Recorder) (int64, error) {
	counted := &CountingReader{Source: r}
	text, mail := decodedMail(counted)
	pieces := &Pieces{
		r:     text,
		size:  PieceSize,
		about: about{name: name, mail: mail},
		chain: newChain(0, record.State{}),
	}
	_, err := pieces.Scan(ctx, math.MaxInt64, recorders)
	return counted.Count, err
}

// Splittable reports whether a text that begins like this may be scanned from its middle: it is not in need of
// decoding.
func Splittable(start []byte) bool { return !encoded(start[:min(len(start), sniffed)]) }

// Place is where in a text to begin: with which piece, and what those before it said.
type Place struct {
	Name  string // of the file, with its folders
	First int64
	State record.State
}

// Pieces is a text, which needs no decoding, cut into pieces that are searched by themselves. Where piece n is depends
// on the size of pieces alone: it is bytes n*size to (n+1)*size+Overlap, less where the text ends. So the same pieces
// are found by a reader of all of the text and by one that goes on in its middle, and all pieces together find the same
// however they are shared out.
type Pieces struct {
	r       io.Reader
	mapped  []byte               // the text as a whole, if it is in memory
	touch   func(from, to int64) // is told of what is taken from it
	size    int64
	overlap [Overlap]byte
	kept    int
	number  int64 // of the next piece
	ended   bool
	about   about
	chain   *chain
}

// NewPieces cuts r, which begins with the first piece that is wanted.
func NewPieces(r io.Reader, size int64, from Place) *Pieces {
	return &Pieces{
		r:      r,
		size:   size,
		number: from.First,
		about:  about{name: from.Name, sql: from.State.IsDump},
		chain:  newChain(from.First, from.State),
	}
}

// NewMappedPieces cuts a text that is in memory as a whole, without copying it. touch is called with where in the
// text lies what each piece adds, before that is searched.
func NewMappedPieces(text []byte, size int64, from Place, touch func(from, to int64)) *Pieces {
	p := NewPieces(nil, size, from)
	p.mapped, p.touch = text, touch
	return p
}

// State returns what the pieces so far say of the rows of the next one.
func (p *Pieces) State() record.State { return p.chain.before(p.number) }

// Scan searches the next n pieces with a goroutine for each Recorder, and says whether there are more. Each goroutine
// reads its pieces itself, one after the other, so that it searches what is still in the cache of its own core.
func (p *Pieces) Scan(ctx context.Context, n int64, recorders []*Recorder) (more bool, err error) {
	group, ctx := errgroup.WithContext(ctx)
	var reading sync.Mutex
	for _, r := range recorders {
		group.Go(func() error {
			for {
				reading.Lock()
				left := n > 0 && !p.ended
				n--
				var next piece
				var err error
				if left {
					next, err = p.cut(ctx, r)
				}
				reading.Unlock()
				if !left {
					return nil
				}
				r.tell(next, &p.about, p.chain)
				if err != nil {
					return err
				}
			}
		})
	}
	err = group.Wait()
	return !p.ended, err
}

// cut reads the next piece. Pieces overlap on both sides, so that each can be searched without the others. What came
// before an error is a piece too.
func (p *Pieces) cut(ctx context.Context, r *Recorder) (piece, error) {
	next := piece{number: p.number, base: p.number * p.size}
	p.number++
	if err := ctx.Err(); err != nil {
		p.ended = true
		return next, err
	}
	var err error
	if p.mapped != nil {
		size, end := int64(len(p.mapped)), next.base+p.size+Overlap
		if next.text = p.mapped[min(next.base, size):min(end, size)]; end > size {
			err = io.EOF
		}
		p.touch(min(next.base+int64(p.kept), size), min(end, size))
	} else {
		var n int
		buf := r.room(p.size)
		copy(buf, p.overlap[:p.kept])
		n, err = FillBuffer(p.r, buf[p.kept:])
		next.text = buf[:p.kept+n]
	}
	next.limit = len(next.text) - record.Reach
	if next.number > 0 {
		next.from = min(record.Reach, len(next.text))
	} else {
		p.about.sql = record.IsSQL(next.text)
	}
	if err == nil {
		if p.kept = Overlap; p.mapped == nil {
			copy(p.overlap[:], next.text[len(next.text)-Overlap:])
		}
		return next, nil
	}
	p.ended = true
	next.limit = len(next.text)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return next, err
}
