package console

import (
	"context"
	"errors"
	"slices"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
)

// explained says in words what a finding rests on: the record that was read, and what was known before it.
type explained struct {
	// Record says what kind of record it was, and Held what stood in it.
	Record, Held string
	// HasPassword says that a readable password stood in that very record.
	HasPassword bool
	// Sites are those that a stealer took credentials for, Passwords how many stood beside the value.
	Sites     []string
	Passwords int
	// Known says that the leak's index was asked; it cannot be once the leak was taken back.
	Known bool
	// News says that it told something that no leak before it did; Earlier are those.
	News    bool
	Earlier []earlierLeak
	// Why are the reasons of the severity, and Raises what would make it graver.
	Why    []string
	Raises string
}

// earlierLeak is a leak that held the value before.
type earlierLeak struct {
	Name, Title  string
	Exposed      string
	SamePassword bool
}

// explainFinding asks the leak's index what it says of the value, by the same rule that decided on the alert.
func (c *Console) explainFinding(ctx context.Context, found cyber.Found) (explained, error) {
	f := found.Finding
	e := explained{
		Record:      "registro com este dado",
		Held:        joinExposed(f.Breach.Exposes),
		HasPassword: f.Basis() == cyber.BasisRow && f.Breach.Has(cyber.ExposedPassword),
		Sites:       f.Trace.Sites,
		Passwords:   len(f.Trace.Passwords),
	}
	if f.Basis() != cyber.BasisRow {
		e.Record = "só se sabe do vazamento como um todo, não do registro deste dado"
	}
	e.Why, e.Raises = reasonsOfSeverity(f)
	if c.confined || f.Breach.Name == cyber.SandboxBreach { // other leaks are the service's, and a sandbox has no index
		return e, nil
	}
	told, err := c.Rules.Breaches.Explain(ctx, f.Breach.Name, found.Asset.Kind, found.Asset.Value)
	if errors.Is(err, leak.ErrBreachNotFound) { // taken back: its index is gone
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.Known, e.News = told.Found, told.News
	for _, before := range told.Earlier {
		e.Earlier = append(e.Earlier, earlierLeak{
			Name:         before.Breach.Name,
			Title:        before.Breach.Title,
			Exposed:      joinExposed(before.Breach.Exposes),
			SamePassword: before.SamePassword,
		})
	}
	return e, nil
}

// reasonsOfSeverity says why a finding is as grave as it is, in the order in which cyber.SeverityOf decides, and what
// would make it graver; nothing when it cannot be.
func reasonsOfSeverity(f cyber.Finding) (why []string, raises string) {
	b := f.Breach
	switch {
	case b.Fabricated:
		return []string{"O vazamento é forjado, no todo ou em parte: não passa de baixa"}, ""
	case b.SpamList:
		return []string{"O vazamento é uma lista de spam: não passa de baixa"}, ""
	}
	if f.OwnSite {
		why = append(why, "A credencial levada é de um site do próprio parceiro")
	}
	if f.WatchedSite {
		why = append(why, "A credencial levada é de um site monitorado para o parceiro")
	}
	if b.Kind == cyber.SourceStealer {
		why = append(why, "Um programa ladrão levou o dado do aparelho da pessoa")
	}
	document := b.Has(cyber.ExposedCPF, cyber.ExposedDocument)
	identity := b.Has(cyber.ExposedName, cyber.ExposedBirthDate, cyber.ExposedAddress)
	for _, one := range []struct {
		holds bool
		text  string
	}{
		{b.Has(cyber.ExposedPassword), "Há uma senha legível, que pode ser tentada em outras contas"},
		{b.Has(cyber.ExposedCard), "Há dados de um cartão"},
		{b.Has(cyber.ExposedFinancial), "Há dados financeiros"},
		{document && identity, "Há um documento junto de nome, nascimento ou endereço: dá para se passar pela pessoa"},
		{document && !identity, "Há um documento, sem nome, nascimento ou endereço"},
		{b.Has(cyber.ExposedPasswordHash), "Há uma senha cifrada"},
		{b.Has(cyber.ExposedCookies), "Há cookies, que podem abrir contas sem senha"},
		{b.Has(cyber.ExposedHealth), "Há dados de saúde"},
		{b.Kind == cyber.SourcePhish, "A pessoa foi alvo de phishing"},
	} {
		if one.holds {
			why = append(why, one.text)
		}
	}
	if len(why) == 0 {
		why = []string{"Só dados de contato: nada que abra uma conta ou identifique a pessoa"}
	}
	if f.Basis() != cyber.BasisRow {
		why = slices.Insert(why, 0, "Do registro não se sabe: conta o que o vazamento expõe como um todo")
	}
	switch f.Severity {
	case cyber.SeverityCritical:
	case cyber.SeverityHigh:
		raises = "Seria crítica se a credencial fosse de um site do parceiro, ou com dados de cartão junto da senha"
	default:
		raises = "Seria alta com uma senha legível, um cartão, ou um documento junto de nome ou endereço"
	}
	return why, raises
}

// mainClass is the order in which a finding is named by what leaked.
var mainClass = []cyber.Exposed{
	cyber.ExposedPassword, cyber.ExposedCard, cyber.ExposedCPF, cyber.ExposedDocument, cyber.ExposedPasswordHash,
	cyber.ExposedCookies, cyber.ExposedFinancial, cyber.ExposedHealth, cyber.ExposedEmail, cyber.ExposedPhone,
}

// titleOfFinding names a finding by the worst that leaked, and by the leak.
func titleOfFinding(f cyber.Finding) string {
	for _, class := range mainClass {
		if slices.Contains(f.Breach.Exposes, class) {
			return exposedLabels([]cyber.Exposed{class})[0] + " no vazamento " + f.Breach.Title
		}
	}
	return "Dados no vazamento " + f.Breach.Title
}
