package reader_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/reader"
)

// TestBudgetIsOfTheFile: what earlier readers took of an input counts, each mebibyte that is unpacked adds to what it
// may take, and what one input took is not the next one's.
func TestBudgetIsOfTheFile(t *testing.T) {
	const size = 1 << 20
	text := bytes.Repeat([]byte("ana@exemplo.com.br\n"), size/19)
	budget := reader.Budget{Base: time.Hour, PerMiB: time.Hour}
	p, err := reader.StartProcess(
		context.Background(),
		reader.Job{Workers: 1, Span: 1 << 18, Piece: 1 << 16, Budget: budget},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	read := func(number int, spent reader.Spent) error {
		in := reader.Input{
			Name:  "a",
			Size:  int64(len(text)),
			From:  reader.Cursor{Input: number},
			Spent: spent,
		}
		if err := p.Read(in, nil, bytes.NewReader(text)); err != nil {
			return err
		}
		for {
			fact, err := p.Next()
			if err != nil || fact.Ended != nil {
				return err
			}
		}
	}
	if err := read(0, reader.Spent{Processor: 2 * time.Hour, Bytes: 2 << 20}); err != nil {
		t.Error("two hours, of an hour and two mebibytes:", err)
	}
	if took := p.Spent().Processor; took < 2*time.Hour {
		t.Errorf("it took %v", took)
	}
	if err := read(1, reader.Spent{}); err != nil || p.Spent().Processor > time.Hour {
		t.Error("the next input:", err, p.Spent())
	}
	var ended *reader.Ended
	for number := 2; ended == nil; number++ { // what is read before the watch looks is read
		err := read(number, reader.Spent{Processor: 20 * time.Hour})
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
	}
	if ended.Why != reader.EndBudget || ended.Spent.Processor < 20*time.Hour {
		t.Errorf("twenty hours: %+v", ended)
	}
}
