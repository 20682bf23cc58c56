package leak

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// checkReserved refuses names that the service uses itself.
func checkReserved(name string) error {
	if name == cyber.SandboxBreach {
		return ErrBreachInvalid.With("name", fault.SandboxBreach, cyber.SandboxBreach)
	}
	return nil
}

// nameForm is what a name looks like: it is part of file names and of what partners read.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,79}$`)

// ValidName reports whether a breach can be called so.
func ValidName(name string) bool { return nameForm.MatchString(name) && !strings.Contains(name, "..") }

// CheckBreach validates what is told of a breach, trims its texts and puts its classes in order.
func CheckBreach(b *cyber.Breach, now time.Time) error {
	b.Title = strings.TrimSpace(b.Title)
	b.Source = strings.TrimSpace(b.Source)
	b.Description = strings.TrimSpace(b.Description)
	b.Kind = cmp.Or(b.Kind, cyber.SourceBreach)
	kinds := []cyber.SourceKind{
		cyber.SourceBreach,
		cyber.SourceCombolist,
		cyber.SourceStealer,
		cyber.SourcePaste,
		cyber.SourcePhish,
	}
	return errors.Join(
		fault.When(!ValidName(b.Name), ErrBreachInvalid.With("name", fault.BreachName)),
		checkReserved(b.Name),
		fault.When(!partner.IsPrintableLine(b.Title, 1, 200), ErrBreachInvalid.With("title", fault.PlainLength, 200)),
		fault.When(
			!partner.IsPrintableLine(b.Source, 0, 500) || !partner.Paragraphs(b.Description, 0, 4000),
			ErrBreachInvalid.With("source", fault.BreachTexts),
		),
		fault.When(
			b.Date.IsZero() || b.Date.After(now) || b.Date.Year() < 1970,
			ErrBreachInvalid.With("date", fault.DayRange),
		),
		fault.When(
			!slices.Contains(kinds, b.Kind),
			ErrBreachInvalid.With("kind", fault.OneOf, "breach, combolist, stealer, paste, phish"),
		),
		checkExposes(b),
	)
}

// ParseBreachDay reads a day as YYYY-MM-DD.
func ParseBreachDay(s string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, ErrBreachInvalid.With("date", fault.DayFormat).Because(err)
	}
	return t, nil
}

// CheckNewBreach is CheckBreach for a breach that is to be imported: Auto may be among its classes, and is if they are
// left out.
func CheckNewBreach(b *cyber.Breach, now time.Time) error {
	named := slices.DeleteFunc(slices.Clone(b.Exposes), func(e cyber.Exposed) bool { return e == Auto })
	auto := len(named) == 0 || len(named) < len(b.Exposes)
	if b.Exposes = named; len(named) == 0 {
		b.Exposes = []cyber.Exposed{cyber.ExposedOther} // for the check
	}
	if err := CheckBreach(b, now); err != nil {
		return err
	}
	if len(named) == 0 {
		b.Exposes = nil
	}
	if auto {
		b.Exposes = append(b.Exposes, Auto)
	}
	return nil
}
