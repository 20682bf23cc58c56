// Package telemetry is how the service tells what it does: structured logs, the request id, metrics and traces.
//
// It knows no product word. The invariant it keeps is one of restraint: what it is handed may be written to disk and
// shipped away, so callers hand it ids, codes and route templates, never a path, a header or a value of a person.
package telemetry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// LogOptions choose how log lines look.
type LogOptions struct {
	// Level is the least severe level that is written.
	Level slog.Level
	// Format is "json", "text", or "auto": text on a terminal, JSON elsewhere.
	Format string
}

// NewLogger writes to w.
func NewLogger(w io.Writer, o LogOptions) *slog.Logger {
	opts := &slog.HandlerOptions{Level: o.Level}
	text := o.Format == "text"
	if f, ok := w.(*os.File); ok && o.Format != "json" {
		text = text || term.IsTerminal(int(f.Fd()))
	}
	var h slog.Handler = slog.NewJSONHandler(w, opts)
	if text {
		h = slog.NewTextHandler(w, opts)
	}
	return slog.New(withRequestID{h})
}

// withRequestID adds the request id of the context to every line.
type withRequestID struct{ slog.Handler }

func (h withRequestID) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h withRequestID) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withRequestID{h.Handler.WithAttrs(attrs)}
}

func (h withRequestID) WithGroup(name string) slog.Handler {
	return withRequestID{h.Handler.WithGroup(name)}
}

// LogFile appends lines to a file through a buffer that is written out several times a second. A process that is killed
// loses the lines of the last moments; a request does not wait for the disk to log what it did.
type LogFile struct {
	mu   sync.Mutex
	f    *os.File
	w    *bufio.Writer
	stop chan struct{}
	done chan struct{}
}

// Lines of the log file are written when so many bytes wait, or after that time.
const (
	logBuffer = 64 << 10
	logFlush  = 200 * time.Millisecond
)

// OpenLogFile opens or creates the file with mode 0600.
func OpenLogFile(path string) (*LogFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log file: %w", err)
	}
	l := &LogFile{f: f, w: bufio.NewWriterSize(f, logBuffer), stop: make(chan struct{}), done: make(chan struct{})}
	go l.flushLoop()
	return l, nil
}

// Write takes one line; the logger hands over whole lines.
func (l *LogFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

// flushLoop writes the buffer out several times a second.
func (l *LogFile) flushLoop() {
	defer close(l.done)
	tick := time.NewTicker(logFlush)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.mu.Lock()
			_ = l.w.Flush() // the buffer keeps the error: the next Write and Close return it
			l.mu.Unlock()
		}
	}
}

// Close writes what is left.
func (l *LogFile) Close() error {
	close(l.stop)
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.w.Flush(), l.f.Close())
}
