package subscription

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// DraftReader reads items written in JSON. It goes on after a member of the wrong type, so that all problems of an item are
// found at once. It is reused from item to item and belongs to one goroutine.
type DraftReader struct {
	src bytes.Reader
	dec *jsontext.Decoder
}

// NewDraftReader makes a reader.
func NewDraftReader() *DraftReader {
	r := &DraftReader{}
	r.dec = jsontext.NewDecoder(&r.src)
	return r
}

// Read fills d from the JSON of one item. Unknown members are left out. Broken JSON (a member name twice, text that is not UTF-8, half of
// a surrogate pair, at any depth) is returned besides being noted in d: in a list it makes the whole list unreadable, in a file one line.
func (r *DraftReader) Read(item []byte, d *Draft) error {
	*d = Draft{}
	r.src.Reset(item)
	r.dec.Reset(&r.src)
	var err error
	if r.dec.PeekKind() == '{' {
		err = r.object(func(name []byte) error { return r.member(d, name) })
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

func (r *DraftReader) member(d *Draft, name []byte) error {
	switch string(name) {
	case "start_date":
		return r.text(&d.StartDate)
	case "expiry_date":
		return r.text(&d.ExpiryDate)
	case "plan_id":
		return r.text(&d.PlanID)
	case "is_group_plan":
		return r.flag(&d.IsGroup)
	case "group_size":
		return r.textOrNumber(&d.GroupSize)
	case "benefit_holder":
		return r.text(&d.BenefitHolder)
	case "partner_metadata":
		return r.text(&d.Metadata)
	case "partner_internal_id":
		return r.text(&d.InternalID)
	case "beneficiary":
		return r.nested(&d.Beneficiary, func(name []byte) error { return r.beneficiary(d, name) })
	}
	return r.dec.SkipValue()
}

func (r *DraftReader) beneficiary(d *Draft, name []byte) error {
	switch string(name) {
	case "primary_card":
		return r.text(&d.PrimaryCard)
	case "user_card":
		return r.text(&d.UserCard)
	case "name":
		return r.text(&d.Name)
	case "cpf":
		return r.text(&d.CPF)
	case "birth_date":
		return r.text(&d.BirthDate)
	case "gender":
		return r.text(&d.Gender)
	case "email":
		return r.text(&d.Email)
	case "phone_number":
		return r.text(&d.Phone)
	case "address":
		return r.nested(&d.Address, func(name []byte) error { return r.address(d, name) })
	}
	return r.dec.SkipValue()
}

func (r *DraftReader) address(d *Draft, name []byte) error {
	switch string(name) {
	case "zipcode":
		return r.text(&d.Zipcode)
	case "street":
		return r.text(&d.Street)
	case "number":
		return r.text(&d.Number)
	case "complement":
		return r.text(&d.Complement)
	case "neighborhood":
		return r.text(&d.Neighborhood)
	case "city":
		return r.text(&d.City)
	case "state":
		return r.text(&d.State)
	}
	return r.dec.SkipValue()
}

// object reads an object and calls each for every member, which must read the member's value.
func (r *DraftReader) object(each func(name []byte) error) error {
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

func (r *DraftReader) nested(p *Presence, each func(name []byte) error) error {
	switch r.dec.PeekKind() {
	case '{':
		*p = Given
		return r.object(each)
	case 'n':
		*p = Null
	default:
		*p = WrongType
	}
	return r.dec.SkipValue()
}

func (r *DraftReader) text(t *Text) error {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case '"':
		*t = GivenText(unquoted(raw))
	case 'n':
		t.Presence = Null
	case '0':
		*t = Text{WrongType, string(raw)} // a failure repeats it the way it was sent
	default:
		t.Presence = WrongType
	}
	return nil
}

func (r *DraftReader) textOrNumber(t *Text) error {
	if r.dec.PeekKind() != '0' {
		return r.text(t)
	}
	raw, err := r.dec.ReadValue()
	if err == nil {
		*t = GivenText(string(raw))
	}
	return err
}

func (r *DraftReader) flag(f *Flag) error {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case 't', 'f':
		*f = Flag{Given, raw.Kind() == 't'}
	case 'n':
		f.Presence = Null
	default:
		f.Presence = WrongType
	}
	return nil
}

// unquoted is the text of a JSON string that the decoder has found valid.
func unquoted(raw jsontext.Value) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil { // not for valid JSON
		return ""
	}
	return string(text)
}
