package subscription

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
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

// addProblem notes that a field breaks a rule.
func (c *checker) addProblem(f Field, r Rule) { c.problems = append(c.problems, Problem{f, r}) }

// checkItem returns the subscription that a draft describes; it counts only if no problem was found.
func (c *checker) checkItem(d *Draft) Subscription {
	if d.Broken != "" {
		c.addProblem(FieldItem, d.Broken)
		return Subscription{}
	}
	s := Subscription{
		Start: c.requiredDay(FieldStartDate, d.StartDate),
	}
	s.Expiry = c.checkExpiry(d.ExpiryDate)
	if s.Expiry != 0 && s.Start != 0 && s.Expiry < s.Start {
		c.addProblem(FieldExpiryDate, RuleBeforeStart)
	}
	s.Plan = plan.ID(c.checkRequired(FieldPlanID, d.PlanID, plan.MaxID, RuleLength255))
	switch {
	case s.Plan == "":
	case !partner.IsPrintable(string(s.Plan), plan.MaxID):
		c.addProblem(FieldPlanID, RulePrintable)
	case partner.IsDotSegment(string(s.Plan)):
		c.addProblem(FieldPlanID, RuleDots)
	}
	s.GroupSize, s.Holder = c.checkGroup(d)
	s.Beneficiary = c.beneficiary(d)
	s.Metadata = c.checkMetadata(d.Metadata)
	s.InternalID = c.checkOptional(FieldInternalID, d.InternalID, maxText, RuleLength255)
	return s
}

// checkMetadata reads a text that holds JSON; line breaks between its values are the partner's affair.
func (c *checker) checkMetadata(t Text) string {
	text := strings.TrimSpace(t.Value)
	switch {
	case t.Presence == WrongType:
		c.addProblem(FieldMetadata, RuleNotText)
	case text == "":
	case len(text) > maxMetadata:
		c.addProblem(FieldMetadata, RuleLength8K)
	case !jsontext.Value(text).IsValid():
		c.addProblem(FieldMetadata, RuleJSON)
	}
	return text
}

// checkGroup reads the members that only group plans need; for others what they say is not looked at.
func (c *checker) checkGroup(d *Draft) (size int64, holder string) {
	switch d.IsGroup.Presence {
	case Absent, Null:
		c.addProblem(FieldIsGroup, RuleRequired)
		return 0, ""
	case WrongType:
		c.addProblem(FieldIsGroup, RuleNotFlag)
		return 0, ""
	case Given:
	}
	if !d.IsGroup.Value {
		c.checkOptional(FieldGroupSize, d.GroupSize, math.MaxInt, "")
		c.checkOptional(FieldHolder, d.BenefitHolder, math.MaxInt, "")
		return 0, ""
	}
	if text := c.checkRequired(FieldGroupSize, d.GroupSize, maxText, RuleLength255); text != "" {
		n, ok := wholeNumber(text)
		switch {
		case !ok:
			c.addProblem(FieldGroupSize, RuleWholeNumber)
		case n < minGroupSize:
			c.addProblem(FieldGroupSize, RuleGroupMinimum)
		}
		size = n
	}
	if text, ok := c.requireText(FieldHolder, d.BenefitHolder); ok {
		holder = c.identifier(
			FieldHolder,
			text,
			func(s string) (string, error) { return identifier.ParseCNPJ(s, c.digits) },
		)
	}
	return size, holder
}

// wholeNumber reads digits, which may have a minus before them.
func wholeNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && s[0] != '+'
}

// checkNested reports whether an object is there, and notes a problem otherwise.
func (c *checker) checkNested(f Field, p Presence) bool {
	switch p {
	case Absent, Null:
		c.addProblem(f, RuleRequired)
	case WrongType:
		c.addProblem(f, RuleNotNested)
	case Given:
		return true
	}
	return false
}

// requireText returns the trimmed text of a required member, and whether there is any.
func (c *checker) requireText(f Field, t Text) (string, bool) {
	if t.Presence == WrongType {
		c.addProblem(f, RuleNotText)
		return "", false
	}
	text := strings.TrimSpace(t.Value)
	if text == "" {
		c.addProblem(f, RuleRequired)
	}
	return text, text != ""
}

// checkRequired reads a member that must be there and not be empty.
func (c *checker) checkRequired(f Field, t Text, limit int, tooLong Rule) string {
	text, _ := c.requireText(f, t)
	return c.checkLine(f, text, limit, tooLong)
}

// checkLine bounds a text and lets no control characters in: what is kept is shown in lists, letters and logs of
// others.
func (c *checker) checkLine(f Field, text string, limit int, tooLong Rule) string {
	if tooManyRunes(text, limit) {
		c.addProblem(f, tooLong)
		return ""
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		c.addProblem(f, RulePrintable)
		return ""
	}
	return text
}

// checkOptional reads a member that may be left out.
func (c *checker) checkOptional(f Field, t Text, limit int, tooLong Rule) string {
	if t.Presence == WrongType {
		c.addProblem(f, RuleNotText)
		return ""
	}
	return c.checkLine(f, strings.TrimSpace(t.Value), limit, tooLong)
}

// tooManyRunes reports whether s has more than limit characters. It counts them only if there are more bytes than that.
func tooManyRunes(s string, limit int) bool {
	return len(s) > limit && utf8.RuneCountInString(s) > limit
}

// identifier returns the normal form that parse gives, or notes the rule that the text breaks.
func (c *checker) identifier(f Field, text string, parse func(string) (string, error)) string {
	normal, err := parse(text)
	if err != nil {
		c.addProblem(f, Rule(fault.CodeOf(err)))
	}
	return normal
}

// requiredDay returns the day of a member that must be there, and notes a problem if it is missing or no date.
func (c *checker) requiredDay(f Field, t Text) Day {
	text, ok := c.requireText(f, t)
	if !ok {
		return 0
	}
	day, ok := ParseDay(text)
	if !ok {
		c.addProblem(f, RuleDate)
	}
	return day
}

// checkExpiry reads a member that must be there but may be empty or null: no end.
func (c *checker) checkExpiry(t Text) Day {
	if t.Presence == Null || t.Presence == Given && strings.TrimSpace(t.Value) == "" {
		return 0
	}
	return c.requiredDay(FieldExpiryDate, t)
}
