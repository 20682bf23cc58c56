package scan

import (
	"context"
	"io"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
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
	chain.publish(p.number, r.records.SurveyText())
	r.records.TellRecords(func() record.State { return chain.before(p.number) })
	chain.release(p.number)
}
