package store

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
)

// mentions are the texts by which a kept answer may speak of a person.
type mentions struct {
	// naming identify the person: an answer that holds one of them is about the person.
	naming []string
	// more are only taken out of answers that are: others may share them, such as a name.
	more []string
	// all stands for every text.
	all bool
}

// mentionsOf gathers them from what is held and from the ways of spelling a user hash.
func (s Subjects) mentionsOf(ctx context.Context, h subject.Held, p subject.Person) (mentions, error) {
	var m mentions
	name := func(texts ...string) { m.naming = append(m.naming, texts...) }
	if p.CPF != "" {
		salt, err := Partners(s).OpenSalt(ctx, h.Partner.ID)
		if err != nil {
			return m, err
		}
		d256, d512 := partner.PersonDigests(p.CPF, salt)
		name(digestSpellings(d256[1:])...)
		name(digestSpellings(d512[1:])...)
		name(p.CPF, p.CPF[:3]+"."+p.CPF[3:6]+"."+p.CPF[6:9]+"-"+p.CPF[9:])
	}
	name(string(p.User))
	name(namesOfHeld(h)...)
	for _, a := range h.Assets {
		name(a.Value)
	}
	for _, sub := range h.Subscriptions {
		b := sub.Beneficiary
		name(b.CPF, b.Email, b.Phone, b.PrimaryCard, b.UserCard)
		m.more = append(m.more, b.Name, b.BirthDate, b.Address.Street, b.Address.Zipcode, sub.InternalID)
	}
	for _, d := range h.Devices {
		name(d.Key)
		m.more = append(m.more, d.Name)
	}
	m.naming, m.more = longEnough(m.naming), longEnough(m.more)
	return m, nil
}

// longEnough leaves out texts so short that they would be found anywhere.
func longEnough(texts []string) []string {
	return slices.DeleteFunc(uniqueValues(texts), func(t string) bool { return len(t) < 4 })
}

// digestSpellings returns the ways in which a digest may be written: see partner.UserHash.
func digestSpellings(digest []byte) []string {
	text := hex.EncodeToString(digest)
	return []string{
		text,
		strings.ToUpper(text),
		base64.RawStdEncoding.EncodeToString(digest),
		base64.RawURLEncoding.EncodeToString(digest),
	}
}

// redacted stands where something of the person stood.
const redacted = "***"

// redactText replaces what names the person.
func (m mentions) redactText(text string) string {
	if m.all {
		return redacted
	}
	for _, list := range [][]string{m.naming, m.more} {
		for _, t := range list {
			text = strings.ReplaceAll(text, t, redacted)
		}
	}
	return text
}

// redactBody replaces texts inside JSON strings, so that the answer keeps its shape. A body that is no JSON is replaced
// whole.
func (m mentions) redactBody(body []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return []byte(`{}`)
	}
	out, err := json.Marshal(m.redactValue(v))
	if err != nil {
		return []byte(`{}`)
	}
	return out
}

// redactValue redacts strings at any depth, and keys of objects too, since a key may name the person. With all set keys
// stay: field names are the service's own.
func (m mentions) redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return m.redactText(v)
	case []any:
		for i := range v {
			v[i] = m.redactValue(v[i])
		}
	case map[string]any:
		for k, item := range v {
			if !m.all { // names of fields are the service's own
				delete(v, k)
				k = m.redactText(k)
			}
			v[k] = m.redactValue(item)
		}
	}
	return v
}
