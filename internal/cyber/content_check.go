package cyber

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

var (
	slug        = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	placeholder = regexp.MustCompile(`\{[^}]*\}`)
)

// Bounds of an item of the catalogue, in characters.
const (
	maxSlug     = 64
	maxTitle    = 120
	maxBody     = 1000
	maxOptions  = 10
	maxRisk     = 10
	maxRank     = 1000
	maxKeyAhead = 366
)

// isContentSlug reports whether s is made of lower-case letters, digits and hyphens.
func isContentSlug(s string) bool { return len(s) <= maxSlug && slug.MatchString(s) }

// checkItem says what is wrong with an item.
func (it Item) checkItem() error {
	bad := func(field string, rule fault.Rule, args ...any) *fault.Error {
		return ErrContentInvalid.With(field, rule, args...).In(foldToASCII(string(it.ID)))
	}
	if !isContentSlug(string(it.ID)) {
		return ErrContentInvalid.With("id", fault.HyphenatedWords, maxSlug)
	}
	wrong := []error{
		fault.When(
			it.Type != ContentAlert && it.Type != ContentAdvice && it.Type != ContentTip,
			bad("type", fault.OneOf, "alert, advice, tip"),
		),
		fault.When(!it.Device.isKnown(), bad("device", fault.OneOf, "all, mobile, desktop")),
		fault.When(it.Rank < 1 || it.Rank > maxRank, bad("rank", fault.OneTo, maxRank)),
		fault.When(!partner.Paragraphs(it.Title, 1, maxTitle), bad("title", fault.Length, maxTitle)),
		fault.When(
			!partner.Paragraphs(it.Body, 1, maxBody) || !partner.Paragraphs(it.More, 0, maxBody),
			bad("body", fault.Length, maxBody),
		),
	}
	if word, ok := it.strayPlaceholder(); ok {
		wrong = append(wrong, bad(word, fault.NoSuchWord))
	}
	if f := it.When.checkCondition(); f != nil {
		wrong = append(wrong, f.In("when").In(foldToASCII(string(it.ID))))
	}
	if it.Question != nil && it.When.aboutFinding() {
		wrong = append(wrong, bad("question", fault.FindingCannotAsk))
	} else if it.Question != nil {
		if f := it.Question.checkQuestion(); f != nil {
			wrong = append(wrong, f.In("question").In(foldToASCII(string(it.ID))))
		}
	}
	return errors.Join(wrong...)
}

// strayPlaceholder returns a word in braces that nothing would be put for.
func (it Item) strayPlaceholder() (string, bool) {
	allowed := map[string]bool{}
	if it.When.aboutFinding() {
		allowed = map[string]bool{"{vazamento}": true, "{valor}": true, "{data}": true}
	}
	for _, word := range placeholder.FindAllString(it.Title+it.Body, -1) {
		if !allowed[word] {
			return foldToASCII(word), true
		}
	}
	for _, word := range placeholder.FindAllString(it.More, -1) {
		if !allowed[word] && (word != "{mais}" || !it.When.aboutFinding()) {
			return foldToASCII(word), true
		}
	}
	return "", false
}

// checkCondition says what is wrong with a condition, or nothing.
func (c Condition) checkCondition() *fault.Error {
	for _, e := range c.Exposes {
		if !slices.Contains(AllExposed(), e) {
			return ErrContentInvalid.With("exposes", fault.UnknownClass)
		}
	}
	for _, s := range c.Sources {
		if !slices.Contains([]SourceKind{SourceBreach, SourceCombolist, SourceStealer, SourcePaste, SourcePhish}, s) {
			return ErrContentInvalid.With("sources", fault.UnknownSource)
		}
	}
	switch {
	case c.Severity != "" && severityOrder(c.Severity) < 0:
		return ErrContentInvalid.With("severity", fault.OneOf, "low, medium, high, critical")
	case c.NoDevice != "" && !c.NoDevice.isKnown() || c.HasDevice != "" && !c.HasDevice.isKnown():
		return ErrContentInvalid.With("no_device, has_device", fault.OneOf, "all, mobile, desktop")
	case c.KeyEndsWithin < 0 || c.KeyEndsWithin > maxKeyAhead:
		return ErrContentInvalid.With("key_ends_within", fault.DaysUpTo, maxKeyAhead)
	case c.OpenFindings < 0:
		return ErrContentInvalid.With("open_findings", fault.NotNegative)
	}
	for id, values := range c.Answered {
		if !isContentSlug(string(id)) || len(values) == 0 {
			return ErrContentInvalid.With("answered", fault.ItemAndValues)
		}
	}
	return nil
}

// checkQuestion says what is wrong with a question, or nothing.
func (q ValidationQuestion) checkQuestion() *fault.Error {
	if !partner.Paragraphs(q.Text, 1, maxBody) || !partner.Paragraphs(q.Mends, 1, maxBody) {
		return ErrContentInvalid.With("text and mends", fault.Length, maxBody)
	}
	if len(q.Options) < 2 || len(q.Options) > maxOptions {
		return ErrContentInvalid.With("options", fault.TwoToTenOptions)
	}
	seen, best := map[string]bool{}, maxRisk
	for _, o := range q.Options {
		if !isContentSlug(o.Value) || seen[o.Value] || !partner.Paragraphs(o.Label, 1, maxTitle) || o.Risk < 0 ||
			o.Risk > maxRisk {
			return ErrContentInvalid.With("options", fault.OptionFormat)
		}
		seen[o.Value], best = true, min(best, o.Risk)
	}
	if best != 0 || q.WorstRisk() == 0 {
		return ErrContentInvalid.With("options", fault.OptionsOfRisk)
	}
	return nil
}

// isKnown reports whether the type is one of ours.
func (d DeviceType) isKnown() bool { return d == DeviceAll || d == DeviceMobile || d == DeviceDesktop }

// foldToASCII keeps fault details in plain ASCII, whatever an operator wrote.
func foldToASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// severityOrder returns the rank of a severity, the mildest first; -1 for an unknown one.
func severityOrder(s Severity) int {
	return slices.Index(Severities(), s)
}

// offersAnswer reports whether the value is one of the options.
func (q ValidationQuestion) offersAnswer(value string) bool {
	return slices.ContainsFunc(q.Options, func(o Option) bool { return o.Value == value })
}
