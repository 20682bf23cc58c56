package stated

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// text is a text being read.
type text struct {
	ctx   context.Context //nolint:containedctx // of this reading, and no longer than it
	build builder
	wrong Wrong
	begun bool
	sum   Summary
}

// refuseLine tells of a line that is not taken.
func (t *text) refuseLine(line int64, why *fault.Error) error {
	t.sum.Wrong++
	return t.wrong(line, why)
}

// eachLine calls take with each line that is not blank, without its end.
func (t *text) eachLine(r io.Reader, take func(number int64, line []byte) error) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for number := int64(1); ; number++ {
		if number%1024 == 0 && t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		line, err := lines.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = lines.ReadSlice('\n') {
			if len(long) <= Longest {
				long = append(long, line...)
			}
		}
		if len(long) > 0 {
			line = append(long, line...)
			long = line
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, bom)
		}
		if len(line) > Longest {
			if err := t.refuseLine(number, ErrRecord.Note("line: at most %d bytes", Longest)); err != nil {
				return err
			}
		} else if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			if err := take(number, line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil // its end
		}
	}
}

// parseObject reads a line as one JSON object.
func parseObject(line []byte) (map[string]any, *fault.Error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil || members == nil {
		return nil, ErrRecord.Note("line: one JSON object")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, ErrRecord.Note("line: one JSON object, and nothing after it")
	}
	return members, nil
}

// takeLine takes a line of vigia-records.
func (t *text) takeLine(number int64, line []byte) error {
	members, why := parseObject(line)
	if !t.begun {
		if t.begun = true; why == nil {
			why = t.takeHeader(members)
		}
		if why != nil {
			return ErrText.Note("line %d: %s", number, why.Detail())
		}
		return nil
	}
	if why == nil {
		why = t.takeRecord(members)
	}
	if why != nil {
		return t.refuseLine(number, why)
	}
	t.sum.Records++
	return nil
}

// takeHeader takes the first line.
func (t *text) takeHeader(members map[string]any) *fault.Error {
	if version, ok := members["vigia_records"].(json.Number); !ok || version.String() != "1" {
		return ErrText.Note(`vigia_records: the first line is {"vigia_records": 1}`)
	}
	for name := range members {
		if name != "vigia_records" {
			return ErrText.Note("%s: the first line has vigia_records alone", printableName(name))
		}
	}
	return nil
}

// takeRecord takes a record, all of it or nothing.
func (t *text) takeRecord(members map[string]any) *fault.Error {
	t.build.resetRecord()
	for _, name := range Members() { // in one order, so that of two faults always the same is told
		if value, ok := members[name]; ok {
			if why := t.takeMember(name, value, true); why != nil {
				return why
			}
		}
	}
	for name := range members {
		if !isMember(name) {
			return ErrRecord.Note(
				"%s: not a member of a record; there are %s",
				printableName(name),
				strings.Join(Members(), ", "),
			)
		}
	}
	return t.build.handOut()
}

// takeMember takes a value, or each of a list.
func (t *text) takeMember(name string, value any, lists bool) *fault.Error {
	switch v := value.(type) {
	case nil:
		return nil
	case bool:
		if v {
			return t.build.noteMember(name)
		}
		return nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil
		}
		return t.build.putValue(name, v, isoDates)
	case []any:
		if !lists || name == memberSite || name == memberInfected {
			return ErrRecord.Note("%s: a string", name)
		}
		for _, one := range v {
			if why := t.takeMember(name, one, false); why != nil {
				return why
			}
		}
		return nil
	}
	return ErrRecord.Note("%s: a string, a list of strings, or true", name)
}

// printableName returns a member's name as it was sent, if it is safe to repeat in an error: a name should hold no
// personal data, but a supplier may send anything.
func printableName(name string) string {
	const longest = 40
	if len(name) > longest || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' }) ||
		strings.ContainsAny(name, "@") {
		return "a member"
	}
	digits := 0
	for _, c := range name {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	if digits > 4 {
		return "a member"
	}
	return name
}
