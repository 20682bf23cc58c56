package telemetry

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// LogFile appends lines to a file through a buffer that is written out several times a second. A process that is killed
// loses the lines of the last moments; a request does not wait for the disk to log what it did.
type LogFile struct {
	path string
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
	f, err := openLogFile(path)
	if err != nil {
		return nil, err
	}
	l := &LogFile{
		path: path,
		f:    f,
		w:    bufio.NewWriterSize(f, logBuffer),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	go l.flushLoop()
	return l, nil
}

// openLogFile opens the file to be appended to.
func openLogFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log file: %w", err)
	}
	return f, nil
}

// Reopen goes on in the file that has the name now, because a rotation has moved the other one away. No line is lost or
// split. When there is no such file to be had, the old one stays in use.
func (l *LogFile) Reopen() error {
	next, err := openLogFile(l.path)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	flushed := l.w.Flush()
	closed := l.f.Close()
	l.f = next
	l.w.Reset(next)
	return errors.Join(flushed, closed)
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
