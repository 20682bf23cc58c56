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
	mu   sync.Mutex
	f    *os.File
	w    *bufio.Writer
	stop chan struct{}
	done chan struct{}
}

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
