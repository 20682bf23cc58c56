package reader

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// A frame is a byte that says what it is, the length of what follows in four bytes, and that. Orders go to the reader,
// facts come back.
type frameKind byte

const (
	orderJob     frameKind = 'J' // Job
	orderInput   frameKind = 'I' // Input
	orderContent frameKind = 'C' // of the input before, as it is
	orderServed  frameKind = 'S' // bytes that were asked for, behind a servedState
	orderEnd     frameKind = 'E' // there are no more inputs

	factReady      frameKind = 'r' // Confinement
	factSightings  frameKind = 's' // see appendSighting
	factProgress   frameKind = 'p' // Counters
	factOpened     frameKind = 'o' // position
	factClosed     frameKind = 'c' // position
	factCheckpoint frameKind = 'k' // Checkpoint
	factEnded      frameKind = 'e' // Report
	factWanted     frameKind = 'w' // wanted
)

// frameLongest bounds a frame: the largest is an input's content, or a State with all the tables of a database.
const frameLongest = 16 << 20

// position is where a reader stands in an input: in which layer (-1: in none), and how many streams it has begun.
type position struct{ Layer, Streams int64 }

// wanted is what a reader asks its parent for: bytes of the input from an offset, or, when that is negative, the next
// ones.
type wanted struct{ Offset, Length int64 }

// servedState says whether there is more behind bytes that were served. Of a source that failed it stands before the
// reason.
type servedState byte

const (
	servedMore servedState = iota
	servedLast
	servedFailed
)

// frameHead is how long the beginning of a frame is.
const frameHead = 5

// frameWriter writes frames to a pipe. Several goroutines may use it: frames are never mixed.
type frameWriter struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

func (f *frameWriter) writeFrame(kind frameKind, content []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.buf = append(append(f.buf[:0], make([]byte, frameHead)...), content...)
	return f.sendFrame(kind, f.buf)
}

// writeInPlace sends a frame whose content stands behind room for its head, without copying it.
func (f *frameWriter) writeInPlace(kind frameKind, frame []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sendFrame(kind, frame)
}

// sendFrame writes all at once, so that who reads it is woken once.
func (f *frameWriter) sendFrame(kind frameKind, frame []byte) error {
	frame[0] = byte(kind)
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(frame)-frameHead))
	_, err := f.w.Write(frame)
	return err
}

// writeJSON sends v as the content of a frame.
func (f *frameWriter) writeJSON(kind frameKind, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.writeFrame(kind, text)
}

// readFrame reads a frame into room, which grows if it has to.
func readFrame(r *bufio.Reader, room []byte) (frameKind, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, room, err
	}
	n := int(binary.LittleEndian.Uint32(head[1:]))
	if n > frameLongest {
		return 0, room, fmt.Errorf("a frame of %d bytes", n)
	}
	if cap(room) < n {
		room = make([]byte, n)
	}
	room = room[:n]
	_, err := io.ReadFull(r, room)
	return frameKind(head[0]), room, err
}
