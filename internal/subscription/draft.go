package subscription

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Draft is an item as a partner sent it: only its shape has been looked at.
type Draft struct {
	// Broken is set when the item could not be read to its end; then it is its only problem.
	Broken Rule

	StartDate, ExpiryDate, PlanID, BenefitHolder, Metadata, InternalID Text
	// GroupSize is text even when it came as a number.
	GroupSize                                                         Text
	IsGroup                                                           Flag
	Beneficiary                                                       Presence
	PrimaryCard, UserCard, Name, CPF, BirthDate, Gender, Email, Phone Text
	Address                                                           Presence
	Zipcode, Street, Number, Complement, Neighborhood, City, State    Text
}

// Presence tells how a member came. Null counts as absent, except where the contract gives it a meaning.
type Presence uint8

// The ways.
const (
	Absent Presence = iota
	Null
	Given
	WrongType
)

// Text is a member that should be a string. Value is its text, or what was written instead if that was a number.
type Text struct {
	Presence
	Value string
}

// Flag is a member that should be true or false.
type Flag struct {
	Presence
	Value bool
}

// NewTextField returns a member with a value.
func NewTextField(s string) Text { return Text{Given, s} }

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

// Subscriptions as people write them, an item of a bulk request in JSON, a line of a file, a row of a table, are read
// into drafts. The partner API, the console and the command line share this, so that the same record means the same
// thing everywhere. What makes a value right is not known here: that is the rule's, which is handed drafts.

// ItemReader reads items written in JSON. It goes on after a member of the wrong type, so that all problems of an item
// are found at once. It is reused from item to item and belongs to one goroutine.
type ItemReader struct {
	src bytes.Reader
	dec *jsontext.Decoder
}

func NewItemReader() *ItemReader {
	r := &ItemReader{}
	r.dec = jsontext.NewDecoder(&r.src)
	return r
}

// Read fills d from the JSON of one item. Unknown members are left out. Broken JSON (a member name twice, text that is
// not UTF-8, half of a surrogate pair, at any depth) is returned besides being noted in d: in a list it makes the whole
// list unreadable, in a file one line.
func (r *ItemReader) Read(item []byte, d *Draft) error {
	*d = Draft{}
	r.src.Reset(item)
	r.dec.Reset(&r.src)
	var err error
	if r.dec.PeekKind() == '{' {
		err = r.readObject(func(name []byte) error { return r.readMember(d, name) })
	} else {
		d.Broken = RuleNotObject
		err = r.dec.SkipValue()
	}
	if err != nil {
		d.Broken = RuleUnreadable
		if errors.Is(err, jsontext.ErrDuplicateName) {
			d.Broken = RuleRepeatedMember
		}
	}
	return err
}

func (r *ItemReader) readMember(d *Draft, name []byte) error {
	switch string(name) {
	case "start_date":
		return r.readText(&d.StartDate)
	case "expiry_date":
		return r.readText(&d.ExpiryDate)
	case "plan_id":
		return r.readText(&d.PlanID)
	case "is_group_plan":
		return r.readFlag(&d.IsGroup)
	case "group_size":
		return r.textOrNumber(&d.GroupSize)
	case "benefit_holder":
		return r.readText(&d.BenefitHolder)
	case "partner_metadata":
		return r.readText(&d.Metadata)
	case "partner_internal_id":
		return r.readText(&d.InternalID)
	case "beneficiary":
		return r.readNested(&d.Beneficiary, func(name []byte) error { return r.beneficiary(d, name) })
	}
	return r.dec.SkipValue()
}

// beneficiary reads one member of the beneficiary into d; unknown members are skipped.
func (r *ItemReader) beneficiary(d *Draft, name []byte) error {
	switch string(name) {
	case "primary_card":
		return r.readText(&d.PrimaryCard)
	case "user_card":
		return r.readText(&d.UserCard)
	case "name":
		return r.readText(&d.Name)
	case "cpf":
		return r.readText(&d.CPF)
	case "birth_date":
		return r.readText(&d.BirthDate)
	case "gender":
		return r.readText(&d.Gender)
	case "email":
		return r.readText(&d.Email)
	case "phone_number":
		return r.readText(&d.Phone)
	case "address":
		return r.readNested(&d.Address, func(name []byte) error { return r.readAddress(d, name) })
	}
	return r.dec.SkipValue()
}

func (r *ItemReader) readAddress(d *Draft, name []byte) error {
	switch string(name) {
	case "zipcode":
		return r.readText(&d.Zipcode)
	case "street":
		return r.readText(&d.Street)
	case "number":
		return r.readText(&d.Number)
	case "complement":
		return r.readText(&d.Complement)
	case "neighborhood":
		return r.readText(&d.Neighborhood)
	case "city":
		return r.readText(&d.City)
	case "state":
		return r.readText(&d.State)
	}
	return r.dec.SkipValue()
}

// readObject reads an object and calls each for every member, which must read the member's value.
func (r *ItemReader) readObject(each func(name []byte) error) error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() == '"' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		name := raw[1 : len(raw)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			if name, err = jsontext.AppendUnquote(nil, raw); err != nil {
				return err
			}
		}
		if err := each(name); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken() // the closing brace, or what is wrong instead of it
	return err
}

// readNested reads an object inside an item.
func (r *ItemReader) readNested(p *Presence, each func(name []byte) error) error {
	switch r.dec.PeekKind() {
	case '{':
		*p = Given
		return r.readObject(each)
	case 'n':
		*p = Null
	default:
		*p = WrongType
	}
	return r.dec.SkipValue()
}

// readText reads a text, or null.
func (r *ItemReader) readText(t *Text) error {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case '"':
		*t = NewTextField(unquoteText(raw))
	case 'n':
		t.Presence = Null
	case '0':
		*t = Text{Presence: WrongType, Value: string(raw)} // a failure repeats it the way it was sent
	default:
		t.Presence = WrongType
	}
	return nil
}

// textOrNumber reads a text, or a number as the text of its digits: a group's size may be sent as either.
func (r *ItemReader) textOrNumber(t *Text) error {
	if r.dec.PeekKind() != '0' {
		return r.readText(t)
	}
	raw, err := r.dec.ReadValue()
	if err == nil {
		*t = NewTextField(plainNumber(string(raw)))
	}
	return err
}

// plainNumber writes a whole JSON number in digits alone: some encoders write 120 as 120.0 or 1.2e2. Other numbers stay
// as they are, for the rules to refuse.
func plainNumber(raw string) string {
	const exact = 1 << 53
	if f, err := strconv.ParseFloat(raw, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= exact {
		return strconv.FormatInt(int64(f), 10)
	}
	return raw
}

// readFlag reads true, false or null.
func (r *ItemReader) readFlag(f *Flag) error {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case 't', 'f':
		*f = Flag{Presence: Given, Value: raw.Kind() == 't'}
	case 'n':
		f.Presence = Null
	default:
		f.Presence = WrongType
	}
	return nil
}

// unquoteText returns the text of a JSON string that the decoder has found valid.
func unquoteText(raw jsontext.Value) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil { // not for valid JSON
		return ""
	}
	return string(text)
}

// csvColumns are the columns that fill a member with text.
var csvColumns = map[string]func(d *Draft) *Text{
	"start_date":          func(d *Draft) *Text { return &d.StartDate },
	"expiry_date":         func(d *Draft) *Text { return &d.ExpiryDate },
	"plan_id":             func(d *Draft) *Text { return &d.PlanID },
	"group_size":          func(d *Draft) *Text { return &d.GroupSize },
	"benefit_holder":      func(d *Draft) *Text { return &d.BenefitHolder },
	"partner_metadata":    func(d *Draft) *Text { return &d.Metadata },
	"partner_internal_id": func(d *Draft) *Text { return &d.InternalID },
	"primary_card":        func(d *Draft) *Text { return &d.PrimaryCard },
	"user_card":           func(d *Draft) *Text { return &d.UserCard },
	"name":                func(d *Draft) *Text { return &d.Name },
	"cpf":                 func(d *Draft) *Text { return &d.CPF },
	"birth_date":          func(d *Draft) *Text { return &d.BirthDate },
	"gender":              func(d *Draft) *Text { return &d.Gender },
	"email":               func(d *Draft) *Text { return &d.Email },
	"phone_number":        func(d *Draft) *Text { return &d.Phone },
	"zipcode":             func(d *Draft) *Text { return &d.Zipcode },
	"street":              func(d *Draft) *Text { return &d.Street },
	"number":              func(d *Draft) *Text { return &d.Number },
	"complement":          func(d *Draft) *Text { return &d.Complement },
	"neighborhood":        func(d *Draft) *Text { return &d.Neighborhood },
	"city":                func(d *Draft) *Text { return &d.City },
	"state":               func(d *Draft) *Text { return &d.State },
}

// CSV is a table with a heading. Columns are named like the members of an item, with or without the path in front.
type CSV struct {
	in      *csv.Reader
	columns []func(d *Draft, value string) // nil for one that is left out
	// Heading is the first line as it was read, and Comma what stands between its columns: a file of rejects repeats
	// both.
	Heading []string
	Comma   rune
}

// NewCSVReader reads a table whose first line names its columns. Columns are separated by commas or semicolons; ones it
// does not know are left out.
func NewCSVReader(r io.Reader) (*CSV, error) {
	in := bufio.NewReader(r)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = in.Discard(3)
	}
	first, err := in.Peek(in.Size())
	if len(first) == 0 {
		return nil, ErrFile.With("", fault.FileEmpty).Because(err)
	}
	first, _, _ = bytes.Cut(first, []byte{'\n'})
	c := &CSV{Comma: ','}
	if bytes.Count(first, []byte{';'}) > bytes.Count(first, []byte{','}) {
		c.Comma = ';'
	}
	c.in = csv.NewReader(in)
	c.in.Comma, c.in.FieldsPerRecord, c.in.ReuseRecord = c.Comma, -1, true
	heading, err := c.in.Read()
	if err != nil {
		return nil, ErrFile.With("", fault.NoColumnNames).Because(err)
	}
	c.Heading = append(c.Heading, heading...)
	return c, c.bindColumns()
}

// bindColumns finds out which column is which member.
func (c *CSV) bindColumns() error {
	seen := map[string]bool{}
	for _, title := range c.Heading {
		name := strings.ToLower(strings.TrimSpace(title))
		name = name[strings.LastIndexByte(name, '.')+1:]
		var put func(*Draft, string)
		if member, known := csvColumns[name]; known {
			put = func(d *Draft, value string) { *member(d) = NewTextField(value) }
		} else if name == "is_group_plan" {
			put = func(d *Draft, value string) { d.IsGroup = parseFlag(value) }
		}
		if put != nil && seen[name] {
			return ErrFile.With("", fault.ColumnTwice, name)
		}
		seen[name] = true
		c.columns = append(c.columns, put)
	}
	for _, need := range []string{"plan_id", "cpf"} {
		if !seen[need] {
			return ErrFile.With("", fault.ColumnMissing, need)
		}
	}
	return nil
}

// parseFlag reads a yes or a no.
func parseFlag(s string) Flag {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1", "sim", "s":
		return Flag{Presence: Given, Value: true}
	case "false", "0", "nao", "não", "n":
		return Flag{Presence: Given}
	case "":
		return Flag{}
	}
	return Flag{Presence: WrongType}
}

// Next reads the next record.
func (c *CSV) Next(d *Draft) (int, []byte, error) {
	record, err := c.in.Read()
	line, _ := c.in.FieldPos(0)
	*d = Draft{Beneficiary: Given, Address: Given, ExpiryDate: Text{Presence: Null}}
	var broken *csv.ParseError
	switch {
	case errors.As(err, &broken):
		d.Broken = RuleUnreadable
		return broken.StartLine, nil, nil
	case err != nil:
		return 0, nil, err
	case len(record) != len(c.Heading):
		d.Broken = RuleUnreadable
	}
	for i, put := range c.columns {
		if i < len(record) && put != nil {
			if !utf8.ValidString(record[i]) {
				d.Broken = RuleUnreadable
			}
			put(d, record[i])
		}
	}
	return line, c.encodeRecord(record), nil
}

// encodeRecord writes a record the way it can be read again.
func (c *CSV) encodeRecord(record []string) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.Comma = c.Comma
	_ = w.Write(record) // to a buffer
	w.Flush()
	return bytes.TrimRight(text.Bytes(), "\n")
}
