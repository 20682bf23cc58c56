package subscription

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// Bounds of an item's members.
const (
	maxText      = 255
	maxCard      = 32
	maxMetadata  = 8 << 10
	minGroupSize = 50
)

// checker holds one item against the rules and gathers everything that is wrong with it.
type checker struct {
	digits   identifier.CheckDigits
	today    Day
	problems []Problem
}

func (c *checker) fail(f Field, r Rule) { c.problems = append(c.problems, Problem{f, r}) }

// item returns the subscription that a draft describes; it counts only if no problem was found.
func (c *checker) item(d *Draft) Subscription {
	if d.Broken != "" {
		c.fail(FieldItem, d.Broken)
		return Subscription{}
	}
	s := Subscription{
		Start: c.requiredDay(FieldStartDate, d.StartDate),
	}
	s.Expiry = c.expiry(d.ExpiryDate)
	if s.Expiry != 0 && s.Start != 0 && s.Expiry < s.Start {
		c.fail(FieldExpiryDate, RuleBeforeStart)
	}
	s.Plan = plan.ID(c.required(FieldPlanID, d.PlanID, plan.MaxID, RuleLength255))
	switch {
	case s.Plan == "":
	case !partner.Printable(string(s.Plan), plan.MaxID):
		c.fail(FieldPlanID, RulePrintable)
	case partner.Dots(string(s.Plan)):
		c.fail(FieldPlanID, RuleDots)
	}
	s.GroupSize, s.Holder = c.group(d)
	s.Beneficiary = c.beneficiary(d)
	s.Metadata = c.metadata(d.Metadata)
	s.InternalID = c.optional(FieldInternalID, d.InternalID, maxText, RuleLength255)
	return s
}

// metadata reads a text that holds JSON; line breaks between its values are the partner's affair.
func (c *checker) metadata(t Text) string {
	text := strings.TrimSpace(t.Value)
	switch {
	case t.Presence == WrongType:
		c.fail(FieldMetadata, RuleNotText)
	case text == "":
	case len(text) > maxMetadata:
		c.fail(FieldMetadata, RuleLength8K)
	case !jsontext.Value(text).IsValid():
		c.fail(FieldMetadata, RuleJSON)
	}
	return text
}

// group reads the members that only group plans need; for others what they say is not looked at.
func (c *checker) group(d *Draft) (size int64, holder string) {
	switch d.IsGroup.Presence {
	case Absent, Null:
		c.fail(FieldIsGroup, RuleRequired)
		return 0, ""
	case WrongType:
		c.fail(FieldIsGroup, RuleNotFlag)
		return 0, ""
	case Given:
	}
	if !d.IsGroup.Value {
		c.optional(FieldGroupSize, d.GroupSize, math.MaxInt, "")
		c.optional(FieldHolder, d.BenefitHolder, math.MaxInt, "")
		return 0, ""
	}
	if text := c.required(FieldGroupSize, d.GroupSize, maxText, RuleLength255); text != "" {
		n, ok := wholeNumber(text)
		switch {
		case !ok:
			c.fail(FieldGroupSize, RuleWholeNumber)
		case n < minGroupSize:
			c.fail(FieldGroupSize, RuleGroupMinimum)
		}
		size = n
	}
	if text, ok := c.given(FieldHolder, d.BenefitHolder); ok {
		holder = c.identifier(FieldHolder, text, func(s string) (string, error) { return identifier.ParseCNPJ(s, c.digits) })
	}
	return size, holder
}

// wholeNumber reads digits, which may have a minus before them.
func wholeNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && s[0] != '+'
}

func (c *checker) beneficiary(d *Draft) Beneficiary {
	if !c.nested(FieldBeneficiary, d.Beneficiary) {
		return Beneficiary{}
	}
	b := Beneficiary{
		PrimaryCard: c.required(FieldPrimaryCard, d.PrimaryCard, maxCard, RuleLength32),
		UserCard:    c.required(FieldUserCard, d.UserCard, maxCard, RuleLength32),
		Name:        c.required(FieldName, d.Name, maxText, RuleLength255),
	}
	if text, ok := c.given(FieldCPF, d.CPF); ok {
		b.CPF = c.identifier(FieldCPF, text, func(s string) (string, error) { return identifier.ParseCPFDigits(s, c.digits) })
	}
	b.BirthDate, b.Gender = c.birthDate(d.BirthDate), c.gender(d.Gender)
	b.Email, b.Phone = c.email(d.Email), c.phone(d.Phone)
	b.Address = c.address(d)
	return b
}

func (c *checker) birthDate(t Text) string {
	day := c.requiredDay(FieldBirthDate, t)
	if day == 0 {
		return ""
	}
	if day > c.today {
		c.fail(FieldBirthDate, RuleFuture)
	}
	return day.String()
}

func (c *checker) gender(t Text) string {
	gender := c.required(FieldGender, t, maxText, RuleGender)
	if gender != "" && gender != "M" && gender != "F" {
		c.fail(FieldGender, RuleGender)
	}
	return gender
}

// email and phone are checked by their rules and kept as the partner wrote them.
func (c *checker) email(t Text) string {
	text, ok := c.given(FieldEmail, t)
	if ok {
		c.identifier(FieldEmail, text, identifier.ParseEmail)
	}
	return text
}

func (c *checker) phone(t Text) string {
	text, ok := c.given(FieldPhone, t)
	if ok {
		c.identifier(FieldPhone, text, identifier.ParsePhoneWithCountryCode)
	}
	return text
}

func (c *checker) address(d *Draft) Address {
	if !c.nested(FieldAddress, d.Address) {
		return Address{}
	}
	var a Address
	a.Zipcode = c.zipcode(d.Zipcode)
	a.Street = c.required(FieldStreet, d.Street, maxText, RuleLength255)
	a.Number = c.required(FieldNumber, d.Number, maxText, RuleLength255)
	a.Complement = c.optional(FieldComplement, d.Complement, maxText, RuleLength255)
	a.Neighborhood = c.required(FieldNeighborhood, d.Neighborhood, maxText, RuleLength255)
	a.City = c.required(FieldCity, d.City, maxText, RuleLength255)
	a.State = c.state(d.State)
	return a
}

func (c *checker) zipcode(t Text) string {
	text, ok := c.given(FieldZipcode, t)
	if !ok {
		return ""
	}
	return c.identifier(FieldZipcode, text, identifier.ParseCEP)
}

func (c *checker) state(t Text) string {
	text, ok := c.given(FieldState, t)
	if !ok {
		return ""
	}
	return c.identifier(FieldState, text, identifier.ParseState)
}

func (c *checker) nested(f Field, p Presence) bool {
	switch p {
	case Absent, Null:
		c.fail(f, RuleRequired)
	case WrongType:
		c.fail(f, RuleNotNested)
	case Given:
		return true
	}
	return false
}

// given returns the trimmed text of a required member, and whether there is any.
func (c *checker) given(f Field, t Text) (string, bool) {
	if t.Presence == WrongType {
		c.fail(f, RuleNotText)
		return "", false
	}
	text := strings.TrimSpace(t.Value)
	if text == "" {
		c.fail(f, RuleRequired)
	}
	return text, text != ""
}

func (c *checker) required(f Field, t Text, limit int, tooLong Rule) string {
	text, _ := c.given(f, t)
	return c.line(f, text, limit, tooLong)
}

// line bounds a text and lets no control characters in: what is kept is shown in lists, letters and logs of others.
func (c *checker) line(f Field, text string, limit int, tooLong Rule) string {
	if tooManyRunes(text, limit) {
		c.fail(f, tooLong)
		return ""
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		c.fail(f, RulePrintable)
		return ""
	}
	return text
}

func (c *checker) optional(f Field, t Text, limit int, tooLong Rule) string {
	if t.Presence == WrongType {
		c.fail(f, RuleNotText)
		return ""
	}
	return c.line(f, strings.TrimSpace(t.Value), limit, tooLong)
}

func tooManyRunes(s string, limit int) bool {
	return len(s) > limit && utf8.RuneCountInString(s) > limit
}

func (c *checker) identifier(f Field, text string, parse func(string) (string, error)) string {
	normal, err := parse(text)
	if err != nil {
		c.fail(f, Rule(fault.CodeOf(err)))
	}
	return normal
}

func (c *checker) requiredDay(f Field, t Text) Day {
	text, ok := c.given(f, t)
	if !ok {
		return 0
	}
	day, ok := ParseDay(text)
	if !ok {
		c.fail(f, RuleDate)
	}
	return day
}

// expiry reads a member that must be there but may be empty or null: no end.
func (c *checker) expiry(t Text) Day {
	if t.Presence == Null || t.Presence == Given && strings.TrimSpace(t.Value) == "" {
		return 0
	}
	return c.requiredDay(FieldExpiryDate, t)
}
