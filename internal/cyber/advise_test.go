package cyber

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/identifier"
)

// shop, bank and paste are three breaches, the worst first.
var (
	bank = Breach{
		Name:     "banco",
		Title:    "Banco",
		Date:     time.Date(2025, 3, 9, 0, 0, 0, 0, time.UTC),
		Kind:     SourceStealer,
		Verified: true,
		Exposes:  []Exposed{ExposedPassword},
	}
	shop = Breach{
		Name:     "loja",
		Title:    "Loja",
		Date:     time.Date(2024, 11, 30, 0, 0, 0, 0, time.UTC),
		Kind:     SourceBreach,
		Verified: true,
		Exposes:  []Exposed{ExposedPassword, ExposedPhone},
	}
	paste = Breach{
		Name:     "papel",
		Title:    "Papel",
		Date:     time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		Kind:     SourcePaste,
		Verified: true,
		Exposes:  []Exposed{ExposedEmail},
	}
)

// told returns the ids of what a person is told, in order.
func told(list []Advice) string {
	var ids []string
	for _, a := range list {
		ids = append(ids, string(a.Item.ID))
	}
	return strings.Join(ids, " ")
}

// person has an e-mail address in all three breaches and a phone in one.
func person() *Posture {
	j := map[string]*judged{}
	for _, b := range []Breach{bank, shop, paste} {
		j[b.Name] = judgeBreach(b, modelNow)
	}
	return &Posture{Assets: []PostureAsset{
		{Kind: identifier.Email, Value: "ana@exemplo.com.br", open: []*judged{j["papel"], j["loja"], j["banco"]}},
		{Kind: identifier.Phone, Value: "+5511987654321", open: []*judged{j["loja"]}},
	}}
}

// TestConditions: to whom an item applies. Each condition is held against somebody it fits and somebody it just does
// not.
func TestConditions(t *testing.T) {
	phone := []PostureDevice{{System: IOS, ValidUntil: modelNow.AddDate(0, 0, 10)}}
	desk := []PostureDevice{{System: Windows, ValidUntil: modelNow.AddDate(0, 0, 10)}}
	for name, c := range map[string]struct {
		when Condition
		p    Posture
		want bool
	}{
		"nothing asked":         {Condition{}, Posture{}, true},
		"three open findings":   {Condition{OpenFindings: 3}, *person(), true},
		"four open findings":    {Condition{OpenFindings: 4}, *person(), false},
		"no findings, and none": {Condition{NoFindings: true}, Posture{}, true},
		"no findings, but one not looked for": {
			Condition{NoFindings: true}, Posture{Assets: []PostureAsset{{Kind: identifier.Email, Waits: true}}}, false,
		},
		"no findings, but some":            {Condition{NoFindings: true}, *person(), false},
		"no device, and none":              {Condition{NoDevice: DeviceAll}, Posture{}, true},
		"no device, but a phone":           {Condition{NoDevice: DeviceAll}, Posture{Devices: phone}, false},
		"no phone, but a computer":         {Condition{NoDevice: DeviceMobile}, Posture{Devices: desk}, true},
		"no computer, but one":             {Condition{NoDevice: DeviceDesktop}, Posture{Devices: desk}, false},
		"has a phone":                      {Condition{HasDevice: DeviceMobile}, Posture{Devices: phone}, true},
		"has a phone, but a computer":      {Condition{HasDevice: DeviceMobile}, Posture{Devices: desk}, false},
		"has any, but none":                {Condition{HasDevice: DeviceAll}, Posture{}, false},
		"a key ends within ten days":       {Condition{KeyEndsWithin: 10}, Posture{Devices: phone}, true},
		"a key ends within nine days":      {Condition{KeyEndsWithin: 9}, Posture{Devices: phone}, false},
		"a key ends, but there is none":    {Condition{KeyEndsWithin: 9}, Posture{}, false},
		"card not watched":                 {Condition{NotWatched: identifier.Card}, *person(), true},
		"phone not watched, but it is":     {Condition{NotWatched: identifier.Phone}, *person(), false},
		"phone watched":                    {Condition{Watched: identifier.Phone}, *person(), true},
		"card watched, but it is not":      {Condition{Watched: identifier.Card}, *person(), false},
		"an open case":                     {Condition{OpenCase: true}, Posture{OpenCases: 1}, true},
		"an open case, but none":           {Condition{OpenCase: true}, Posture{WaitingCases: 1}, false},
		"a waiting case":                   {Condition{WaitingCase: true}, Posture{WaitingCases: 1}, true},
		"a waiting case, but none":         {Condition{WaitingCase: true}, Posture{OpenCases: 1}, false},
		"answered so":                      {Condition{Answered: map[ContentID][]string{"q": {"a", "b"}}}, Posture{Answers: map[ContentID]string{"q": "b"}}, true},
		"answered otherwise":               {Condition{Answered: map[ContentID][]string{"q": {"a", "b"}}}, Posture{Answers: map[ContentID]string{"q": "c"}}, false},
		"not answered":                     {Condition{Answered: map[ContentID][]string{"q": {"a"}}}, Posture{}, false},
		"a stealer":                        {Condition{Sources: []SourceKind{SourceStealer}}, *person(), true},
		"phishing, but none":               {Condition{Sources: []SourceKind{SourcePhish}}, *person(), false},
		"a password was exposed":           {Condition{Exposes: []Exposed{ExposedHealth, ExposedPassword}}, *person(), true},
		"a card was exposed, but none":     {Condition{Exposes: []Exposed{ExposedCard}}, *person(), false},
		"a phone was found":                {Condition{Assets: []identifier.Kind{identifier.Phone}}, *person(), true},
		"a card was found, but none":       {Condition{Assets: []identifier.Kind{identifier.Card}}, *person(), false},
		"at least low":                     {Condition{Severity: SeverityLow}, *person(), true},
		"at least low, but nothing at all": {Condition{Severity: SeverityLow}, Posture{}, false},
		"as bad as the worst":              {Condition{Severity: judgeBreach(bank, modelNow).Breach.severityLevel()}, *person(), true},
	} {
		got := told(selectAdvice(&c.p, indexCatalogue([]Item{{ID: "x", Type: ContentTip, When: c.when}}), modelNow)) == "x"
		if got != c.want {
			t.Errorf("%s: applies %t", name, got)
		}
	}
	mild := person()
	mild.Assets = mild.Assets[:1]
	mild.Assets[0].open = mild.Assets[0].open[:1] // the old paste
	if got := told(
		selectAdvice(mild, indexCatalogue([]Item{{ID: "x", When: Condition{Severity: SeverityCritical}}}), modelNow),
	); got != "" {
		t.Error("an old paste counts as critical")
	}
}

// TestAdviceNamesTheWorst: the text names the worst finding that fits, by the value that fits, and counts the others.
func TestAdviceNamesTheWorst(t *testing.T) {
	text := Item{ID: "x", Title: "{vazamento}", Body: "{valor} em {data}.", More: "E mais {mais}."}
	mail, phone := identifier.MaskValue(identifier.Email, "ana@exemplo.com.br"), identifier.MaskValue(identifier.Phone, "+5511987654321")
	for name, c := range map[string]struct {
		when        Condition
		title, body string
	}{
		"any":            {Condition{Severity: SeverityLow}, "Banco", mail + " em 03/2025. E mais 2."},
		"of a phone":     {Condition{Assets: []identifier.Kind{identifier.Phone}}, "Loja", phone + " em 11/2024."},
		"with passwords": {Condition{Exposes: []Exposed{ExposedPassword}}, "Banco", mail + " em 03/2025. E mais 1."},
	} {
		it := text
		it.When = c.when
		list := selectAdvice(person(), indexCatalogue([]Item{it}), modelNow)
		if len(list) != 1 || list[0].Title != c.title || list[0].Body != c.body {
			t.Errorf("%s: %+v", name, list)
		}
	}
	if list := selectAdvice(
		person(),
		indexCatalogue([]Item{{ID: "x", Title: "T", Body: "B"}}),
		modelNow,
	); list[0].Title != "T" ||
		list[0].Body != "B" {
		t.Errorf("%+v", list)
	}
}

// TestFindingsAlike: however many findings are alike they are counted, and what differs is told apart.
func TestFindingsAlike(t *testing.T) {
	p := &Posture{Assets: []PostureAsset{{Kind: identifier.Email, Value: "ana@exemplo.com.br"}}}
	for i := range 30 {
		b := shop
		b.Name, b.Title = fmt.Sprintf("loja%02d", i), fmt.Sprintf("Loja %02d", i)
		p.Assets[0].open = append(p.Assets[0].open, judgeBreach(b, modelNow))
	}
	p.Assets[0].open = append(p.Assets[0].open, judgeBreach(paste, modelNow), judgeBreach(bank, modelNow))
	items := []Item{
		{ID: "all", Title: "{vazamento}", More: "{mais}", When: Condition{Severity: SeverityLow}},
		{ID: "shops", Title: "{vazamento}", More: "{mais}", When: Condition{Sources: []SourceKind{SourceBreach}}},
		{
			ID:    "pastes",
			Title: "{vazamento}",
			Body:  "one",
			More:  "{mais}",
			When:  Condition{Sources: []SourceKind{SourcePaste}},
		},
	}
	var got []string
	for _, a := range selectAdvice(p, indexCatalogue(items), modelNow) {
		got = append(got, a.Title+": "+strings.TrimSpace(a.Body))
	}
	if fmt.Sprint(got) != "[Banco: 31 Loja 00: 29 Papel: one]" {
		t.Error(got)
	}
}

// TestSettledQuestion: an item that asks is told until the answer leaves nothing to mend.
func TestSettledQuestion(t *testing.T) {
	items := indexCatalogue(
		[]Item{
			{
				ID: "q",
				Question: &ValidationQuestion{
					Options: []Option{{Value: "sim"}, {Value: "quase", Risk: 2}, {Value: "nao", Risk: 5}},
				},
			},
		},
	)
	if items.weight != 5 {
		t.Errorf("an unanswered question weighs %d", items.weight)
	}
	for answer, want := range map[string]string{"": "q", "sim": "", "quase": "q", "nao": "q", "outra": "q"} {
		if got := told(
			selectAdvice(&Posture{Answers: map[ContentID]string{"q": answer}}, items, modelNow),
		); got != want {
			t.Errorf("answered %q: told %q", answer, got)
		}
	}
}

// TestSentences: every blank is filled wherever it stands, and nothing else changes.
func TestSentences(t *testing.T) {
	worst := &exposure{
		judged: judged{Breach: Breach{Title: "B", Date: modelNow}},
		assets: []*PostureAsset{{Kind: identifier.Email, Value: "ana@exemplo.com.br"}},
	}
	value, date := identifier.MaskValue(identifier.Email, "ana@exemplo.com.br"), modelNow.Format("01/2006")
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{vazamento}": "B", "{valor}{data}": value + date,
		"a {data} b {vazamento} c {valor} d {mais} e": "a " + date + " b B c " + value + " d 3 e", "{outra} {valor} {": "{outra} " + value + " {",
	} {
		if got := (&Item{Title: text}).fillAdvice(worst, 3).Title; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestToldApart: two findings that differ in one thing are told apart by an item that asks for that thing.
func TestToldApart(t *testing.T) {
	mail, phone := identifier.Email, identifier.Phone
	plain := Breach{
		Name:     "a",
		Title:    "A",
		Date:     shop.Date,
		Kind:     SourceBreach,
		Verified: true,
		Exposes:  []Exposed{ExposedEmail, ExposedCPF},
	}
	for name, c := range map[string]struct {
		change func(*Breach)
		kind   identifier.Kind
		when   Condition
	}{
		"severity": {func(b *Breach) { b.SpamList = true }, mail, Condition{Severity: SeverityMedium}},
		"source":   {func(b *Breach) { b.Kind = SourcePaste }, mail, Condition{Sources: []SourceKind{SourceBreach}}},
		"classes":  {func(b *Breach) { b.Exposes = []Exposed{ExposedEmail, ExposedDocument} }, mail, Condition{Exposes: []Exposed{ExposedCPF}}},
		"values":   {func(*Breach) {}, phone, Condition{Assets: []identifier.Kind{mail}}},
	} {
		other := plain
		other.Name, other.Title, other.Date = "b", "B", plain.Date.AddDate(1, 0, 0)
		c.change(&other)
		p := &Posture{Assets: []PostureAsset{
			{
				Kind:  c.kind,
				Value: "x",
				open:  []*judged{judgeBreach(other, modelNow)},
			},
			{Kind: mail, Value: "ana@exemplo.com.br", open: []*judged{judgeBreach(plain, modelNow)}},
		}}
		list := selectAdvice(
			p,
			indexCatalogue([]Item{{ID: "x", Title: "{vazamento}", Body: "one", More: "{mais}", When: c.when}}),
			modelNow,
		)
		if len(list) != 1 || list[0].Title != "A" || list[0].Body != "one" {
			t.Errorf("%s: %+v", name, list)
		}
		any := selectAdvice(
			p,
			indexCatalogue([]Item{{ID: "x", Body: "one", More: "{mais}", When: Condition{Severity: SeverityLow}}}),
			modelNow,
		)
		if len(any) != 1 || any[0].Body != "one 1" {
			t.Errorf("%s: both: %+v", name, any)
		}
	}
}

// TestWorstFirst: the worst breach comes first however old it is, of equally bad ones the latest, and each with the
// person's values in the order in which they were added.
func TestWorstFirst(t *testing.T) {
	named := func(b Breach, name string, years int) *judged {
		b.Name, b.Date = name, modelNow.AddDate(-years, 0, 0)
		return judgeBreach(b, modelNow)
	}
	list := []*judged{
		named(paste, "new-mild", 0),
		named(bank, "old-bad", 9),
		named(bank, "bad", 1),
		named(shop, "b", 2),
		named(shop, "a", 2),
	}
	p := &Posture{}
	for i := range 40 {
		p.Assets = append(p.Assets, PostureAsset{Kind: identifier.Email, Value: fmt.Sprint(i), open: list})
	}
	var names []string
	for _, e := range p.joinExposures() {
		names = append(names, e.Name)
		for i, a := range e.assets {
			if a.Value != fmt.Sprint(i) {
				t.Errorf("%s: value %d is %s", e.Name, i, a.Value)
				break
			}
		}
	}
	if fmt.Sprint(names) != "[bad old-bad a b new-mild]" {
		t.Error(names)
	}
}
