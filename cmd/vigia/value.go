package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// longestValue bounds what is read of a value.
const longestValue = 4 << 10

// personal is the value of a flag that names a person. It is read when the command line is, and once: what records the
// command and what runs it see the same.
type personal string

// UnmarshalText implements encoding.TextUnmarshaler, which is how flags are read.
func (p *personal) UnmarshalText(text []byte) error {
	value, err := personalValue(string(text), os.Stdin)
	*p = personal(value)
	return err
}

// personalValue returns the value of a flag, or reads it from elsewhere: "-" is the first line of standard input,
// "@FILE" that of a file. Other users of the machine can see command lines, and shells keep them in their history.
func personalValue(text string, stdin io.Reader) (string, error) {
	name, inFile := strings.CutPrefix(text, "@")
	if text != "-" && !inFile {
		return text, nil
	}
	from := stdin
	if inFile {
		f, err := openNamedFile(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }() // only read
		from = f
	}
	line, err := bufio.NewReader(io.LimitReader(from, longestValue)).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return "", fmt.Errorf("read the value: %w", err)
	}
	return line, nil
}
