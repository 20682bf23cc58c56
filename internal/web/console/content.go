package console

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// listContent shows all items of the catalogue: alerts, advice and tips, retired ones included.
func listContent(c *Console, r *request) (answer, error) {
	all, err := c.Rules.Content.ListItems(r.Context())
	return view{"content", "Conteúdo", all}, err
}

// sampleWords stand for what an item names of a finding.
var sampleWords = strings.NewReplacer(
	"{vazamento}",
	"Loja Exemplo",
	"{valor}",
	"a***@e***.br",
	"{data}",
	"01/03/2026",
	"{mais}",
	"2",
)

// withSampleWords returns an item with made-up words where it names a finding.
func withSampleWords(it cyber.Item) cyber.Item {
	it.Title, it.Body, it.More = sampleWords.Replace(it.Title), sampleWords.Replace(it.Body), sampleWords.Replace(it.More)
	return it
}

// contentView shows an item in its form.
func contentView(r *request, it cyber.Item) (answer, error) {
	page, shown := newContentForm(it, r.PostForm), withSampleWords(it)
	var b bytes.Buffer
	err := cyber.WriteContent(&b, []cyber.Item{it})
	page.YAML, page.Preview = b.String(), &shown
	return view{"content-item", it.Title, page}, err
}

// showContent shows the form of one item of the catalogue.
func showContent(c *Console, r *request) (answer, error) {
	return contentView(r, callRuleWith(r, c.Rules.Content.GetItem, cyber.ContentID(r.PathValue("id"))))
}

// saveContent keeps what the form holds, or shows how it would look.
func saveContent(c *Console, r *request) (answer, error) {
	now := callRuleWith(r, c.Rules.Content.GetItem, cyber.ContentID(r.PathValue("id")))
	it := parseItemForm(r, now.ID)
	it.Retired = now.Retired // that has a button of its own
	return c.keepContent(r, it)
}

// saveContentYAML saves an item from YAML, which must hold the item of the path and nothing else.
func saveContentYAML(c *Console, r *request) (answer, error) {
	items, err := cyber.ReadContent(strings.NewReader(r.PostFormValue("yaml")))
	if err != nil {
		return nil, err
	}
	if len(items) != 1 || string(items[0].ID) != r.PathValue("id") {
		return nil, cyber.ErrContentInvalid.With("yaml", fault.ExactlyThisItem)
	}
	return c.keepContent(r, items[0])
}

// keepContent saves a changed item, or only shows it as a person would see it when the preview button was used.
func (c *Console) keepContent(r *request, it cyber.Item) (answer, error) {
	if r.PostForm.Has("preview") {
		return contentView(r, it)
	}
	return c.changeAndRedirect(
		r,
		"content.edit",
		redirect{joinPath("content", string(it.ID)), "content.saved"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			return string(it.ID), "", in.Content.ImportItems(ctx, []cyber.Item{it}, false)
		},
	)
}

// resetContent undoes the operators' changes of an item; one that does not come with the program is deleted.
var resetContent = changeHandler(
	"content.reset",
	"id",
	"/content",
	"content.reset",
	func(r *request, in *Rules, id cyber.ContentID) (string, error) {
		return "", in.Content.ResetItem(r.Context(), id)
	},
)

// retireContent stops showing an item to people without deleting it; offerContent shows it again.
var retireContent, offerContent = setRetired("content.retire", true), setRetired("content.offer", false)

// setRetired retires an item or offers it again, and records the action in the audit trail.
func setRetired(action string, retired bool) handler {
	return changeHandler(
		action,
		"id",
		"/content/{id}",
		"content.saved",
		func(r *request, in *Rules, id cyber.ContentID) (string, error) {
			_, err := in.Content.EditItem(r.Context(), id, func(it *cyber.Item) { it.Retired = retired })
			return "", err
		},
	)
}

// exportContent downloads the catalogue as YAML, in the form that the import of the catalogue takes.
func exportContent(c *Console, r *request) (answer, error) {
	var b bytes.Buffer
	err := cyber.WriteContent(&b, callRule(r, c.Rules.Content.ListItems))
	return download{"catalogo.yaml", "application/yaml", &b}, err
}

const newContentYAML = `- id: minha-dica
  type: tip
  device: all
  rank: 100
  title: Título que a pessoa lê
  body: Texto em uma ou duas frases.
`

// newContentView returns the form of a new item.
func newContentView(r *request, it cyber.Item, preview *cyber.Item) view {
	page := newContentForm(it, r.PostForm)
	page.New, page.YAML, page.Preview = true, newContentYAML, preview
	return view{"content-new", "Novo conteúdo", page}
}

// newContent shows an empty form for an item of the catalogue.
func newContent(_ *Console, r *request) (answer, error) {
	return newContentView(r, cyber.Item{Type: cyber.ContentTip, Device: cyber.DeviceAll, Rank: 100}, nil), nil
}

// createContent adds the item of the form.
func createContent(c *Console, r *request) (answer, error) {
	it := parseItemForm(r, cyber.ContentID(r.trimmedField("id")))
	if r.PostForm.Has("preview") {
		shown := withSampleWords(it)
		return newContentView(r, it, &shown), nil
	}
	return c.addContent(r, []cyber.Item{it}, true)
}

// importContent adds the items of a catalogue in YAML.
func importContent(c *Console, r *request) (answer, error) {
	items, err := cyber.ReadContent(strings.NewReader(r.PostFormValue("yaml")))
	if err != nil {
		return nil, err
	}
	return c.addContent(r, items, !r.PostForm.Has("replace"))
}

// addContent stores items and records their ids in one line of the audit trail; fresh refuses ids that exist already.
func (c *Console) addContent(r *request, items []cyber.Item, fresh bool) (answer, error) {
	return c.changeAndRedirect(
		r,
		"content.add",
		redirect{"/content", "content.saved"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			names := mapList(items, func(it cyber.Item) string { return string(it.ID) })
			return strings.Join(names, " "), "", in.Content.ImportItems(ctx, items, fresh)
		},
	)
}

// contentForm is an item in the fields of a form, with what they offer.
type contentForm struct {
	cyber.Item
	// New is set while there is no such item yet: its id is a field.
	New bool
	// YAML is the same item for those who prefer that.
	YAML string
	// Preview is the item as a person would see it; nil before there is one.
	Preview *cyber.Item
	// Options are the rows of answers, with room for more.
	Options []optionRow
}

// optionRow is an answer in the form; the names of its fields begin with Row.
type optionRow struct {
	Row string
	cyber.Option
}

// answerFieldName names the fields of an answer: by letters, as a refusal names its field in letters.
func answerFieldName(i int) string { return "option_" + string(rune('a'+i)) + "_" }

const (
	// formOptions is how many answers the form has room for at least; spareOptions how many it adds to those that are there.
	formOptions  = 4
	spareOptions = 2
	mostOptions  = 10
)

var (
	contentTypes = []choiceOption{
		{
			string(cyber.ContentAlert),
			"Alerta",
		},
		{string(cyber.ContentAdvice), "Conselho"},
		{string(cyber.ContentTip), "Dica"},
	}
	contentDevices = []choiceOption{
		{
			string(cyber.DeviceAll),
			"Em qualquer lugar",
		},
		{string(cyber.DeviceMobile), "No celular"},
		{string(cyber.DeviceDesktop), "No computador"},
	}
	deviceChoices = []choiceOption{
		{
			string(cyber.DeviceAll),
			"Qualquer um",
		},
		{string(cyber.DeviceMobile), "Celular"},
		{string(cyber.DeviceDesktop), "Computador"},
	}
)

// Has reports whether a list of conditions holds a word.
func (f contentForm) Has(list, word string) bool {
	switch list {
	case "exposes":
		return slices.Contains(f.When.Exposes, cyber.Exposed(word))
	case "sources":
		return slices.Contains(f.When.Sources, cyber.SourceKind(word))
	case "assets":
		return slices.ContainsFunc(f.When.Assets, func(k identifier.Kind) bool { return k.String() == word })
	}
	return false
}

// Watched returns the label of the kind of value that must be watched for the item to be shown; empty for none.
func (f contentForm) Watched() string { return kindLabel(f.When.Watched) }

// NotWatched returns the label of the kind of value that must not be watched for the item to be shown; empty for none.
func (f contentForm) NotWatched() string { return kindLabel(f.When.NotWatched) }

// kindLabel returns the Portuguese name of a kind of value.
func kindLabel(k identifier.Kind) string {
	if k == 0 {
		return ""
	}
	return k.String()
}

// Answered returns the condition on answers as text, one item to a line.
func (f contentForm) Answered() string {
	var lines []string
	for id, values := range f.When.Answered {
		lines = append(lines, string(id)+": "+strings.Join(values, ", "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Asks returns the question of the item; an empty one when it asks nothing.
func (f contentForm) Asks() cyber.ValidationQuestion {
	if f.Question == nil {
		return cyber.ValidationQuestion{}
	}
	return *f.Question
}

// Conditional reports whether the item is for some people only.
func (f contentForm) Conditional() bool {
	var b bytes.Buffer
	return cyber.WriteContent(&b, []cyber.Item{{When: f.When}}) == nil && bytes.Contains(b.Bytes(), []byte("when:"))
}

// newContentForm lays an item out; sent is a form that was refused, whose rows are all there again.
func newContentForm(it cyber.Item, sent url.Values) contentForm {
	f := contentForm{Item: it}
	given := f.Asks().Options
	for i := range mostOptions {
		row := optionRow{Row: answerFieldName(i)}
		if i < len(given) {
			row.Option = given[i]
		}
		if i < max(formOptions, len(given)+spareOptions) || sent.Has(row.Row+"value") {
			f.Options = append(f.Options, row)
		}
	}
	return f
}

// parseItemForm reads the fields. What they hold is checked like a file, so that both ways know the same rules.
func parseItemForm(r *request, id cyber.ContentID) cyber.Item {
	it := cyber.Item{
		ID:     id,
		Type:   cyber.ContentType(r.trimmedField("type")),
		Device: cyber.DeviceType(r.trimmedField("device")),
		Title:  r.trimmedField("title"),
		Body:   unwrapped(r, "body"),
		More:   unwrapped(r, "more"),
	}
	it.Rank, it.When, it.Question = r.readNumber("rank", 0), conditionOf(r), questionOf(r)
	var b bytes.Buffer
	r.keepFailure(cyber.WriteContent(&b, []cyber.Item{it}))
	items, err := cyber.ReadContent(&b)
	r.noteFormError(err)
	if r.keepFailure(r.wrong); r.failure != nil {
		return it
	}
	return items[0]
}

// unwrapped returns a text of several lines as it is stored: browsers send line breaks as CRLF.
func unwrapped(r *request, name string) string {
	return strings.ReplaceAll(r.trimmedField(name), "\r\n", "\n")
}

// conditionOf parses the condition under which an item is shown. It refuses kinds of values that do not exist.
func conditionOf(r *request) (c cyber.Condition) {
	c.Exposes = mapList(r.PostForm["exposes"], func(word string) cyber.Exposed { return cyber.Exposed(word) })
	c.Sources = mapList(r.PostForm["sources"], func(word string) cyber.SourceKind { return cyber.SourceKind(word) })
	for _, word := range r.PostForm["assets"] {
		kind, err := identifier.ParseKind(word)
		if err != nil {
			r.noteFormError(cyber.ErrContentInvalid.With("assets", fault.UnknownKindOfValue))
			continue
		}
		c.Assets = append(c.Assets, kind)
	}
	for name, kind := range map[string]*identifier.Kind{"watched": &c.Watched, "not_watched": &c.NotWatched} {
		if r.trimmedField(name) == "" {
			continue
		}
		var err error
		if *kind, err = identifier.ParseKind(r.trimmedField(name)); err != nil {
			r.noteFormError(cyber.ErrContentInvalid.With(name, fault.UnknownKindOfValue))
		}
	}
	c.Severity = cyber.Severity(r.trimmedField("severity"))
	c.NoDevice, c.HasDevice = cyber.DeviceType(r.trimmedField("no_device")), cyber.DeviceType(r.trimmedField("has_device"))
	c.NoFindings, c.OpenCase, c.WaitingCase = r.PostForm.Has("no_findings"), r.PostForm.Has("open_case"), r.PostForm.Has("waiting_case")
	c.OpenFindings, c.KeyEndsWithin, c.Answered = r.readNumber("open_findings", 0), r.readNumber("key_ends_within", 0), answeredOf(r)
	return c
}

// answeredOf reads an item and its answers from each line.
func answeredOf(r *request) map[cyber.ContentID][]string {
	answered := map[cyber.ContentID][]string{}
	for line := range strings.Lines(r.trimmedField("answered")) {
		id, list, _ := strings.Cut(line, ":")
		var values []string
		for value := range strings.SplitSeq(list, ",") {
			if value = strings.TrimSpace(value); value != "" {
				values = append(values, value)
			}
		}
		if id = strings.TrimSpace(id); id == "" && len(values) == 0 {
			continue
		}
		if len(values) == 0 {
			r.noteFormError(cyber.ErrContentInvalid.With("answered", fault.ItemAndValues))
			continue
		}
		answered[cyber.ContentID(id)] = values
	}
	return answered
}

// questionOf reads the question; nil when all of its fields are empty.
func questionOf(r *request) *cyber.ValidationQuestion {
	q := cyber.ValidationQuestion{Text: unwrapped(r, "question"), Mends: unwrapped(r, "mends")}
	for i := range mostOptions {
		row := answerFieldName(i)
		o := cyber.Option{
			Value: r.trimmedField(row + "value"),
			Label: r.trimmedField(row + "label"),
			Risk:  r.readNumber(row+"risk", 0),
		}
		if o != (cyber.Option{}) {
			q.Options = append(q.Options, o)
		}
	}
	if q.Text == "" && q.Mends == "" && len(q.Options) == 0 {
		return nil // an item need not ask
	}
	return &q
}
