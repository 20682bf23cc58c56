package reader

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
)

// TestClaimsAreBounded: what a reader says of an input is believed up to what the input can hold, and ends it beyond.
func TestClaimsAreBounded(t *testing.T) {
	limits := container.Limits{Ratio: 10, Bytes: 1 << 40, Depth: 2, Entries: 50}
	const size, unpacked = 1 << 20, 20 << 20
	c := claims{limits: limits}
	c.beginInput(Cursor{Input: 3}, size)
	huge := Counters{Read: 1 << 60, Scanned: 1 << 60, Streams: 1 << 60}
	believed, progress, err := c.checkCounters(huge)
	if want := (Counters{Read: size, Scanned: size + unpacked, Streams: 50}); err != nil || believed != want {
		t.Errorf("%+v, %v, not %+v", believed, err, want)
	}
	if want := int64(readsOfInput*size + size + unpacked); progress != want {
		t.Errorf("progress %d, not %d", progress, want)
	}
	c.beginInput(Cursor{Input: 4}, -1)
	c.size += 7 // as served
	if believed, _, err := c.checkCounters(huge); err != nil || believed.Read != size+7 || believed.Streams != 100 {
		t.Errorf("%+v, %v", believed, err)
	}
	for _, told := range []Counters{{Read: -1}, {Scanned: -1 << 20}, {Streams: -1}} {
		if _, _, err := c.checkCounters(told); err == nil {
			t.Errorf("%+v is believed", told)
		}
	}
	for _, at := range []Cursor{
		{Input: 3},
		{Input: -1},
		{Input: 6},
		{Input: 4, Stream: -1},
		{Input: 4, Span: -1},
		{Input: 4, Done: true},
	} {
		if _, err := c.checkCheckpoint(&Checkpoint{At: at}); err == nil {
			t.Errorf("the place %+v is believed", at)
		}
	}
	for _, at := range []Cursor{{Input: 4}, {Input: 4, Stream: 9, Span: 2}, {Input: 5}} {
		if _, err := c.checkCheckpoint(&Checkpoint{At: at}); err != nil {
			t.Errorf("the place %+v is not believed", at)
		}
	}
	for _, r := range []Report{
		{Report: container.Report{Skipped: -1}},
		{Report: container.Report{Skipped: 1 << 60}},
		{Report: container.Report{Skips: make([]container.Skip, 2)}},
		{Report: container.Report{Skips: make([]container.Skip, 1000), Skipped: 1000}},
		{Records: &stated.Summary{LeftOut: 1 << 60}},
		{Records: &stated.Summary{Records: -1}},
	} {
		if c.checkReport(&r) == nil {
			t.Errorf("%+v is believed", r)
		}
	}
}

// TestClaimedProgressBuysNoTime: a reader that works on nothing and claims ever more progress ends as one without any.
func TestClaimedProgressBuysNoTime(t *testing.T) {
	defer func(c string, cpu time.Duration) { command, idleCPU = c, cpu }(command, idleCPU)
	command, idleCPU = "misbehave:progress", 200*time.Millisecond
	p, err := StartProcess(context.Background(), Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Read(Input{Name: "small", Inline: true}, []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = p.Next()
	}
	var ended *Ended
	if !errors.As(err, &ended) || ended.Why != endTime {
		t.Errorf("%v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestPlaceThatCannotBeEndsReader: a checkpoint before the first input would have been taken for an index.
func TestPlaceThatCannotBeEndsReader(t *testing.T) {
	defer func(c string) { command = c }(command)
	command = "misbehave:place"
	p, err := StartProcess(context.Background(), Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Next()
	var ended *Ended
	if !errors.As(err, &ended) || ended.Why != endCrash {
		t.Errorf("%v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
