package leak

import (
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// checkExposes refuses a breach that names no class of data or an unknown one, and puts the classes in their usual
// order, without repeats.
func checkExposes(b *cyber.Breach) error {
	if len(b.Exposes) == 0 {
		return ErrBreachInvalid.With("exposes", fault.NameAClass)
	}
	ordered := selectClasses(func(c cyber.Exposed) bool { return slices.Contains(b.Exposes, c) })
	if slices.ContainsFunc(b.Exposes, func(c cyber.Exposed) bool { return !slices.Contains(ordered, c) }) {
		return ErrBreachInvalid.With("exposes", fault.ClassesAre, classNames())
	}
	b.Exposes = ordered
	return nil
}

// selectClasses returns the classes of data that are wanted, in their usual order.
func selectClasses(wanted func(cyber.Exposed) bool) (list []cyber.Exposed) {
	for _, c := range cyber.AllExposed() {
		if wanted(c) {
			list = append(list, c)
		}
	}
	return list
}

// classNames returns the names of all classes of data, for an error that lists them.
func classNames() string {
	names := make([]string, 0, 16)
	for _, c := range cyber.AllExposed() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// ParseExposes reads a list of classes separated by commas.
func ParseExposes(list []string) []cyber.Exposed {
	var classes []cyber.Exposed
	for _, part := range list {
		for _, name := range strings.Split(part, ",") {
			if name = strings.TrimSpace(name); name != "" {
				classes = append(classes, cyber.Exposed(name))
			}
		}
	}
	return classes
}

// Auto, among the classes of a breach that is being imported, stands for those that are found in it. Once it is
// published they have taken its place.
const Auto cyber.Exposed = "auto"

// SettleExposes puts the classes that an import found in the place of Auto.
func (Judge) SettleExposes(named []cyber.Exposed, t *Tally) []cyber.Exposed {
	if !slices.Contains(named, Auto) {
		return named
	}
	found := t.FoundClasses()
	list := selectClasses(func(e cyber.Exposed) bool { return slices.Contains(named, e) || slices.Contains(found, e) })
	if len(list) == 0 {
		return []cyber.Exposed{cyber.ExposedOther}
	}
	return list
}

// foundShare is how common a class must be to count as found: it must stand beside one identifier in foundShare. Less
// is noise, such as a note typed into the wrong field.
const foundShare = 100

// ofKinds are the classes that identifiers are themselves.
var ofKinds = map[identifier.Kind]cyber.Exposed{
	identifier.Email:  cyber.ExposedEmail,
	identifier.CPF:    cyber.ExposedCPF,
	identifier.Phone:  cyber.ExposedPhone,
	identifier.Card:   cyber.ExposedCard,
	identifier.PixKey: cyber.ExposedFinancial,
}

// FoundClasses returns the classes that an import found: those that stand in the records of at least one in a hundred
// of the identifiers whose records could be told, and the identifiers themselves, if they are at least one in a
// hundred.
func (t *Tally) FoundClasses() []cyber.Exposed {
	var all int64
	kinds := map[cyber.Exposed]int64{}
	for _, k := range identifier.ListKinds() {
		n := t.Found[k.String()]
		all += n
		if e, ok := ofKinds[k]; ok {
			kinds[e] += n
		}
	}
	return selectClasses(func(e cyber.Exposed) bool {
		n := t.Classes[string(e)]
		return n > 0 && n*foundShare >= t.Told || kinds[e] > 0 && kinds[e]*foundShare >= all
	})
}

// CompareClasses compares the classes that the operator named with those that were found. It returns those named but
// not found, and those found but not named. Where no records could be told apart, only identifiers can be missing.
func (t *Tally) CompareClasses(named []cyber.Exposed) (nowhere, unnamed []cyber.Exposed) {
	if len(t.Found) == 0 || slices.Contains(named, Auto) {
		return nil, nil
	}
	found := t.FoundClasses()
	identifiers := []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedCPF, cyber.ExposedPhone, cyber.ExposedCard}
	nowhere = selectClasses(func(e cyber.Exposed) bool {
		return slices.Contains(named, e) && !slices.Contains(found, e) &&
			(t.Told > 0 || slices.Contains(identifiers, e))
	})
	return nowhere, selectClasses(
		func(e cyber.Exposed) bool { return slices.Contains(found, e) && !slices.Contains(named, e) },
	)
}
