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
	if err != nil {
		return nil, err
	}
	return view{"content", "Conteúdo", all}, nil
}

// sampleWords stand for what an item names of a finding.
var sampleWords = strings.NewReplacer(
	"{vazamento}", "Loja Exemplo",
	"{valor}", "a***@e***.br",
	"{data}", "01/03/2026",
	"{mais}", "2",
)

// withSampleWords returns an item with made-up words where it names a finding.
func withSampleWords(it cyber.Item) cyber.Item {
	it.Title = sampleWords.Replace(it.Title)
	it.Body = sampleWords.Replace(it.Body)
	it.More = sampleWords.Replace(it.More)
	return it
}

func contentView(r *request, it cyber.Item) (answer, error) {
	page, shown := newContentForm(it, r.PostForm), withSampleWords(it)
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, []cyber.Item{it}); err != nil {
		return nil, err
	}
	page.YAML, page.Preview = b.String(), &shown
	return view{"content-item", it.Title, page}, nil
}

// showContent shows the form of one item of the catalogue.
func showContent(c *Console, r *request) (answer, error) {
	it, err := c.Rules.Content.GetItem(r.Context(), cyber.ContentID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return contentView(r, it)
}

// saveContent keeps what the form holds, or shows how it would look.
func saveContent(c *Console, r *request) (answer, error) {
	now, err := c.Rules.Content.GetItem(r.Context(), cyber.ContentID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	it, err := parseItemForm(r, now.ID)
	if err != nil {
		return nil, err
	}
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
	next := redirect{joinPath("content", string(it.ID)), "content.saved"}
	return c.changeAndRedirect(r, "content.edit", next, func(ctx context.Context, in *Rules) (string, string, error) {
		return string(it.ID), "", in.Content.ImportItems(ctx, []cyber.Item{it}, false)
	})
}

// resetContent undoes the operators' changes of an item; one that does not come with the program is deleted.
var resetContent = changeHandler("content.reset", "id", "/content", "content.reset",
	func(r *request, in *Rules, id cyber.ContentID) (string, error) {
		return "", in.Content.ResetItem(r.Context(), id)
	})

// retireContent stops showing an item to people without deleting it; offerContent shows it again.
var retireContent, offerContent = setRetired("content.retire", true), setRetired("content.offer", false)

// setRetired retires an item or offers it again, and records the action in the audit trail.
func setRetired(action string, retired bool) handler {
	return changeHandler(action, "id", "/content/{id}", "content.saved",
		func(r *request, in *Rules, id cyber.ContentID) (string, error) {
			_, err := in.Content.EditItem(r.Context(), id, func(it *cyber.Item) { it.Retired = retired })
			return "", err
		})
}

// exportContent downloads the catalogue as YAML, in the form that the import of the catalogue takes.
func exportContent(c *Console, r *request) (answer, error) {
	items, err := c.Rules.Content.ListItems(r.Context())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, items); err != nil {
		return nil, err
	}
	return download{"catalogo.yaml", "application/yaml", &b}, nil
}

const newContentYAML = `- id: minha-dica
  type: tip
  device: all
  rank: 100
  title: Título que a pessoa lê
  body: Texto em uma ou duas frases.
`

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
	it, err := parseItemForm(r, cyber.ContentID(r.trimmedField("id")))
	if err != nil {
		return nil, err
	}
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
	next := redirect{"/content", "content.saved"}
	return c.changeAndRedirect(r, "content.add", next, func(ctx context.Context, in *Rules) (string, string, error) {
		names := make([]string, len(items))
		for i, it := range items {
			names[i] = string(it.ID)
		}
		return strings.Join(names, " "), "", in.Content.ImportItems(ctx, items, fresh)
	})
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
	// formOptions is how many answers the form has room for at least; spareOptions how many it adds to those that are
	// there.
	formOptions  = 4
	spareOptions = 2
	mostOptions  = 10
)

var (
	contentTypes = []choiceOption{
		{string(cyber.ContentAlert), "Alerta"},
		{string(cyber.ContentAdvice), "Conselho"},
		{string(cyber.ContentTip), "Dica"},
	}
	contentDevices = []choiceOption{
		{string(cyber.DeviceAll), "Em qualquer lugar"},
		{string(cyber.DeviceMobile), "No celular"},
		{string(cyber.DeviceDesktop), "No computador"},
	}
	deviceChoices = []choiceOption{
		{string(cyber.DeviceAll), "Qualquer um"},
		{string(cyber.DeviceMobile), "Celular"},
		{string(cyber.DeviceDesktop), "Computador"},
	}
)

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
func parseItemForm(r *request, id cyber.ContentID) (cyber.Item, error) {
	form := newFormReader(r)
	it := cyber.Item{
		ID:       id,
		Type:     cyber.ContentType(r.trimmedField("type")),
		Device:   cyber.DeviceType(r.trimmedField("device")),
		Title:    r.trimmedField("title"),
		Body:     unwrapped(r, "body"),
		More:     unwrapped(r, "more"),
		Rank:     form.readNumber("rank", 0),
		When:     form.readCondition(),
		Question: form.readQuestion(),
	}
	var b bytes.Buffer
	if err := cyber.WriteContent(&b, []cyber.Item{it}); err != nil {
		return it, err
	}
	items, err := cyber.ReadContent(&b)
	if err := form.joinFaults(err); err != nil {
		return it, err
	}
	return items[0], nil
}

// unwrapped returns a text of several lines as it is stored: browsers send line breaks as CRLF.
func unwrapped(r *request, name string) string {
	return strings.ReplaceAll(r.trimmedField(name), "\r\n", "\n")
}

// readCondition reads the condition under which an item is shown. It refuses kinds of values that do not exist.
func (f *formReader) readCondition() cyber.Condition {
	c := cyber.Condition{
		Watched:       f.readKind("watched"),
		NotWatched:    f.readKind("not_watched"),
		Severity:      cyber.Severity(f.trimmedField("severity")),
		NoDevice:      cyber.DeviceType(f.trimmedField("no_device")),
		HasDevice:     cyber.DeviceType(f.trimmedField("has_device")),
		NoFindings:    f.PostForm.Has("no_findings"),
		OpenCase:      f.PostForm.Has("open_case"),
		WaitingCase:   f.PostForm.Has("waiting_case"),
		OpenFindings:  f.readNumber("open_findings", 0),
		KeyEndsWithin: f.readNumber("key_ends_within", 0),
		Answered:      f.readAnswered(),
	}
	for _, word := range f.PostForm["exposes"] {
		c.Exposes = append(c.Exposes, cyber.Exposed(word))
	}
	for _, word := range f.PostForm["sources"] {
		c.Sources = append(c.Sources, cyber.SourceKind(word))
	}
	for _, word := range f.PostForm["assets"] {
		kind, err := identifier.ParseKind(word)
		if err != nil {
			f.noteFault(cyber.ErrContentInvalid.With("assets", fault.UnknownKindOfValue))
			continue
		}
		c.Assets = append(c.Assets, kind)
	}
	return c
}

// readKind returns the kind of value that a field names; an empty field is none.
func (f *formReader) readKind(name string) identifier.Kind {
	if f.trimmedField(name) == "" {
		return 0
	}
	kind, err := identifier.ParseKind(f.trimmedField(name))
	if err != nil {
		f.noteFault(cyber.ErrContentInvalid.With(name, fault.UnknownKindOfValue))
	}
	return kind
}

// readAnswered reads an item and its answers from each line.
func (f *formReader) readAnswered() map[cyber.ContentID][]string {
	answered := map[cyber.ContentID][]string{}
	for line := range strings.Lines(f.trimmedField("answered")) {
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
			f.noteFault(cyber.ErrContentInvalid.With("answered", fault.ItemAndValues))
			continue
		}
		answered[cyber.ContentID(id)] = values
	}
	return answered
}

// readQuestion reads the question; nil when all of its fields are empty.
func (f *formReader) readQuestion() *cyber.ValidationQuestion {
	q := cyber.ValidationQuestion{Text: unwrapped(f.request, "question"), Mends: unwrapped(f.request, "mends")}
	for i := range mostOptions {
		row := answerFieldName(i)
		o := cyber.Option{
			Value: f.trimmedField(row + "value"),
			Label: f.trimmedField(row + "label"),
			Risk:  f.readNumber(row+"risk", 0),
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
