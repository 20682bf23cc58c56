package subscription

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

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
