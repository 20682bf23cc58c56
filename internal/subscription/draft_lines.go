package subscription

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// jsonLines reads one item of the bulk request per line.
type jsonLines struct {
	in     *bufio.Reader
	reader *ItemReader
	line   int
}

// maxLine bounds a line; an item cannot be larger than its members' bounds allow.
const maxLine = 1 << 20

// NewJSONLines reads items as a bulk request has them, one per line.
func NewJSONLines(r io.Reader) Source {
	return &jsonLines{in: bufio.NewReaderSize(r, maxLine), reader: NewItemReader()}
}

// Next reads the next line that is not empty into d, and returns its number and text; io.EOF at the end. A line that is
// no JSON is noted in d, and only a line that is too long ends the file.
func (j *jsonLines) Next(d *Draft) (int, []byte, error) {
	for {
		j.line++
		text, err := j.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, nil, ErrFile.With("", fault.LineLonger, j.line, maxLine)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, nil, fmt.Errorf("read file: %w", err)
		}
		text = bytes.TrimSpace(text)
		if len(text) > 0 {
			_ = j.reader.Read(text, d) // noted in d: a broken line is its own affair
			return j.line, text, nil
		}
		if err != nil {
			return 0, nil, io.EOF
		}
	}
}
