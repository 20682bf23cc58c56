package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// openSources are inputs that are open. Those that are files of some size go to the reader when it starts, by their
// number.
type openSources struct {
	byInput map[int]io.ReadCloser
	number  map[int]int // from 1, of files
	files   []*os.File
}

// errAnotherReader has the import go on with a new child that is given the next files.
var errAnotherReader = errors.New("a file that the reader was not started with")

// openAhead opens the next input, whatever it is, and files behind it.
func (s *openSources) openAhead(ctx context.Context, inputs []Input, next int) error {
	for ; next < len(inputs) && inputs[next].refused != ""; next++ {
	}
	if next == len(inputs) {
		return nil
	}
	first, err := inputs[next].open(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", inputs[next].Name, err)
	}
	s.addSource(next, first)
	for next++; next < len(inputs) && len(s.files) < filesAhead; next++ {
		in := inputs[next]
		if in.path == "" || in.isSet || in.refused != "" || in.Size <= inlineSize {
			continue
		}
		if f, err := in.open(ctx); err == nil { // else it is told when its turn comes
			s.addSource(next, f)
		}
	}
	return nil
}

// addSource keeps an open source for its input.
func (s *openSources) addSource(input int, source io.ReadCloser) {
	s.byInput[input] = source
	if f := largeFile(source); f != nil {
		s.files = append(s.files, f)
		s.number[input] = len(s.files)
	}
}

func (s *openSources) openInput(ctx context.Context, in Input, number int) (io.ReadCloser, error) {
	if source := s.byInput[number]; source != nil {
		return source, nil
	}
	source, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	if largeFile(source) != nil {
		return nil, errors.Join(errAnotherReader, source.Close())
	}
	s.byInput[number] = source
	return source, nil
}

// closeInput closes the source of an input that is read.
func (s *openSources) closeInput(number int) {
	if source := s.byInput[number]; source != nil {
		_ = source.Close() // only read
		delete(s.byInput, number)
	}
}

// closeAll closes what is still open.
func (s *openSources) closeAll() {
	for number := range s.byInput {
		s.closeInput(number)
	}
}

// largeFile returns a source that is a file to be handed to a reader as such, else nil.
func largeFile(source io.Reader) *os.File {
	f, ok := source.(*os.File)
	if !ok || runtime.GOOS == "windows" { // which cannot hand over files
		return nil
	}
	if stat, err := f.Stat(); err != nil || !stat.Mode().IsRegular() || stat.Size() <= inlineSize {
		return nil
	}
	return f
}
