package leak

import (
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
)

// Auto, among the classes of a breach that is being imported, stands for those that are found in it. Once it is
// published they have taken its place.
const Auto cyber.Exposed = "auto"

// CheckNewBreach is Check for a breach that is to be imported: Auto may be among its classes, and is if they are left out.
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

// SettleExposes puts the classes that an import found in the place of Auto.
func SettleExposes(named []cyber.Exposed, t *Tally) []cyber.Exposed {
	if !slices.Contains(named, Auto) {
		return named
	}
	found, list := t.FoundClasses(), []cyber.Exposed(nil)
	for _, e := range cyber.AllExposed() {
		if slices.Contains(named, e) || slices.Contains(found, e) {
			list = append(list, e)
		}
	}
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
	identifier.Email: cyber.ExposedEmail, identifier.CPF: cyber.ExposedCPF, identifier.Phone: cyber.ExposedPhone, identifier.Card: cyber.ExposedCard,
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
	var list []cyber.Exposed
	for _, e := range cyber.AllExposed() {
		if n := t.Classes[string(e)]; n > 0 && n*foundShare >= t.Told || kinds[e] > 0 && kinds[e]*foundShare >= all {
			list = append(list, e)
		}
	}
	return list
}

// CompareClasses compares the classes that the operator named with those that were found. It returns those named but
// not found, and those found but not named. Where no records could be told apart, only identifiers can be missing.
func (t *Tally) CompareClasses(named []cyber.Exposed) (nowhere, unnamed []cyber.Exposed) {
	if len(t.Found) == 0 || slices.Contains(named, Auto) {
		return nil, nil
	}
	found := t.FoundClasses()
	for _, e := range cyber.AllExposed() {
		names, there := slices.Contains(named, e), slices.Contains(found, e)
		told := t.Told > 0 || slices.Contains([]cyber.Exposed{cyber.ExposedEmail, cyber.ExposedCPF, cyber.ExposedPhone, cyber.ExposedCard}, e)
		switch {
		case names && !there && told:
			nowhere = append(nowhere, e)
		case there && !names:
			unnamed = append(unnamed, e)
		}
	}
	return nowhere, unnamed
}
