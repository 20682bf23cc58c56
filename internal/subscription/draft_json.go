package subscription

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

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
