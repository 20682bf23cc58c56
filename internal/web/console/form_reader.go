package console

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/plan"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// formReader reads the fields of a form and collects what is wrong with them, so that the operator is told all of it at
// once. A handler reads all fields and returns Err, or what a rule found wrong together with it.
type formReader struct {
	*request
	faults []error
}

func newFormReader(r *request) *formReader { return &formReader{request: r} }

// noteFault adds to what is wrong with the form; nil adds nothing.
func (f *formReader) noteFault(err error) {
	if err != nil {
		f.faults = append(f.faults, err)
	}
}

// err returns all that is wrong with the form; nil when nothing is.
func (f *formReader) err() error { return errors.Join(f.faults...) }

// joinFaults returns what a rule found wrong together with what is wrong with the form; nil when neither is.
func (f *formReader) joinFaults(ruleErr error) error { return errors.Join(f.err(), ruleErr) }

// readNumber returns a field that holds a whole number; an empty field is none.
func (f *formReader) readNumber(name string, none int) int {
	text := f.trimmedField(name)
	if text == "" {
		return none
	}
	n, ok := parseWhole(text)
	if !ok || n < 0 {
		f.noteFault(errForm.With(name, fault.WholeNumber))
	}
	return n
}

// readMoment returns a field of a date and a time; the empty field is the zero time.
func (f *formReader) readMoment(name string) time.Time {
	text := strings.TrimSpace(f.FormValue(name))
	if text == "" {
		return time.Time{}
	}
	t, err := parseMoment(name, text)
	f.noteFault(err)
	return t
}

// What people type, as they write it in Brazil: R$ 50.000,00, 24/12/2026 15:00, 1.000, 1,5. The forms that browsers
// send by themselves (2026-12-24, 2026-12-24T15:00) are read too. Every page reads amounts, days and numbers with these
// functions and writes them with those of format_number.go and format_time.go.

// parseReais reads 50000, 50.000, 50.000,50 and R$ 50.000,50.
func parseReais(field, text string) (plan.Money, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\u00a0", " "))
	text = strings.TrimSpace(strings.TrimPrefix(text, "R$"))
	whole, cents, _ := strings.Cut(strings.ReplaceAll(text, ".", ""), ",")
	if len(cents) == 1 {
		cents += "0"
	}
	if cents == "" {
		cents = "00"
	}
	n, err := strconv.ParseUint(whole, 10, 64)
	c, cerr := strconv.ParseUint(cents, 10, 64)
	if err != nil || cerr != nil || n > 1_000_000_000_000 || len(cents) != 2 {
		return 0, plan.ErrInvalid.With(field, fault.AmountFormat)
	}
	return plan.Money(n*100 + c), nil
}

// parseWhole reads a whole number, with or without dots between the thousands.
func parseWhole(text string) (int, bool) {
	plain := strings.ReplaceAll(text, ".", "")
	n, err := strconv.Atoi(plain)
	return n, err == nil && (plain == text || groupedNumber(int64(n)) == text)
}

// parseDayField reads 24/12/2026 and 2026-12-24 as the midnight of that day, UTC.
func parseDayField(field, text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	var wrong *time.ParseError
	for _, layout := range []string{"2/1/2006", time.DateOnly} {
		t, err := time.Parse(layout, text)
		if err == nil {
			return t, nil
		}
		if errors.As(err, &wrong) && strings.HasSuffix(wrong.Message, "out of range") {
			return time.Time{}, errForm.With(field, fault.NoSuchDay)
		}
	}
	return time.Time{}, errForm.With(field, fault.DateFormat)
}

// parseMoment reads 24/12/2026 15:00, and what a browser sends, by the clock of Brasília; a day alone is its first
// minute.
func parseMoment(field, text string) (time.Time, error) {
	text = strings.Join(strings.Fields(text), " ")
	for _, layout := range []string{"2/1/2006 15:04", "2/1/2006 15h04", "2/1/2006", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, brazil); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errForm.With(field, fault.MomentFormat)
}

// plainCNPJ takes the punctuation out of a CNPJ; what is none stays as it is, for the rule to refuse.
func plainCNPJ(text string) string {
	if cnpj, err := identifier.ParseWrittenCNPJ(text, identifier.Waived); err == nil {
		return cnpj
	}
	return text
}

// splitLines splits a text area, without empty lines.
func splitLines(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}
