package console

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// listing is a list that people filter, sort, page through, export and act on. The page, the export and the bulk action
// ask the same store method with the same filter, so that none of them knows more or less than the others.
type listing struct {
	name, title string
	// role is who may see it, portal who of a partner's people may, of what is theirs.
	role   operator.Role
	portal operator.Right
	fields []listField
	// header names the columns of an export.
	header []string
	// read returns a page of lines and where the next begins; empty at the end.
	read func(ctx context.Context, in *Rules, f filter, limit int) (lines []listLine, next string, err error)
	// persons is set when the list can be filtered by person.
	persons bool
	// action is what can be done to many lines at once; nil when nothing can.
	action *bulkAction
}

// listLine is a line of an export, and of the preview of a bulk action. Personal values in it are masked.
type listLine struct {
	// key names the line in forms: ids, never a value.
	key   string
	cells []string
}

// listField is a way to narrow a list. One without options is a day.
type listField struct {
	Name, Label string
	Options     []choiceOption
	// None is the choice that does not restrict; without one the first option is what the list holds unless told
	// otherwise.
	None string
	// Text is set for a field that is filled by links from other pages and has no input on this one.
	Text bool
	// Max is how long what is typed into a field may be, and Hint what it looks like: a word of ours or an operator's
	// address, never anything about a person. It is 0 for fields that are not typed into.
	Max  int
	Hint string
	// Tab fields are chosen by links above the list.
	Tab bool
	// Many says that several of the options may be chosen at once.
	Many bool
}

// isServiceOnly tells of a field that only those who run the service have: partners' people have one partner, and do
// not know who works on what.
func (f listField) isServiceOnly() bool { return f.Name == "partner" || f.Name == "owner" }

// filter is the filter of a list as its address carries it. It holds ids, words of our own, days and keyed references,
// and never what an operator typed about a person: addresses end up in browser histories and proxy logs.
type filter struct {
	Partner partner.ID
	// Person is the keyed reference to one of the partner's people, user the userHash that it stands for.
	Person string
	user   partner.UserHash
	values url.Values
	// From is a moment, To the one after the period.
	From, To time.Time
	// After is where the page begins; empty at the beginning.
	After string
	// Skipped is how many rows stand before the page, and Trail where the pages before it began, the first excepted.
	Skipped int64
	Trail   []string
	now     time.Time
	// confined leaves out who of the service it was.
	confined bool
}

func (f filter) valueOfName(name string) string { return f.values.Get(name) }

// valueOr returns a word of the filter, or what the list holds unless told otherwise.
func (f filter) valueOr(name, otherwise string) string { return cmp.Or(f.values.Get(name), otherwise) }

// isOfLivePartners reports whether the list is one of all partners: what sandboxes made up is only shown of a sandbox
// that was chosen, or to its own people.
func (f filter) isOfLivePartners() bool { return f.Partner == "" && !f.confined }

// isOldestFirst reports whether the order is turned round.
func (f filter) isOldestFirst() bool { return f.valueOfName("sort") == "old" }

// parseMark reads a place that is a time and an id.
func (f filter) parseMark() cyber.Mark {
	text, id, _ := strings.Cut(f.After, ".")
	if at := parseMicros(text); !at.IsZero() {
		return cyber.Mark{At: at, ID: id}
	}
	return cyber.Mark{}
}

// parseMicros reads a moment of a cursor; anything else is the zero time.
func parseMicros(text string) time.Time {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n != 0 {
		return time.UnixMicro(n)
	}
	return time.Time{}
}

// formatMicros writes a moment that parseMicros reads.
func formatMicros(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMicro(), 10)
}

// parseNumber reads a place that is a number.
func (f filter) parseNumber() int64 {
	n, _ := strconv.ParseInt(f.After, 10, 64) // anything else is the beginning
	return n
}

// formatMark writes a place that parseMark reads.
func formatMark(m cyber.Mark) string {
	if m.ID == "" {
		return ""
	}
	return formatMicros(m.At) + "." + m.ID
}

// formatSeq writes a place that parseNumber reads.
func formatSeq(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// encodeQuery returns the filter as a query, without the cursor.
func (f filter) encodeQuery() string {
	v := url.Values{}
	for name, list := range f.values {
		if len(list) > 0 && list[0] != "" {
			v[name] = list
		}
	}
	if f.Partner != "" {
		v.Set("partner", string(f.Partner))
	}
	if f.Person != "" {
		v.Set("person", f.Person)
	}
	return v.Encode()
}

// totalUnlessFiltered returns a count that was made beforehand, where nothing but its own word and the order filters
// the list; otherwise -1.
func (f filter) totalUnlessFiltered(counted int64, word string) int64 {
	if f.Partner != "" || f.Person != "" {
		return -1
	}
	for name := range f.values {
		if name != word && name != "sort" {
			return -1
		}
	}
	return counted
}

// parseFilter reads what an address narrows a list to.
func (c *Console) parseFilter(r *request, l *listing, all []partner.Partner) (filter, error) {
	id := askedPartner(r)
	if r.again && !isKnownPartner(all, id) {
		id = ""
	}
	return c.parseFilterQuery(r.Context(), l, r.URL.Query(), id, all)
}

// parseFilterQuery reads a query; unknown words of it do not restrict.
func (c *Console) parseFilterQuery(
	ctx context.Context,
	l *listing,
	q url.Values,
	id partner.ID,
	all []partner.Partner,
) (filter, error) {
	f := filter{Partner: id, values: url.Values{}, After: q.Get("after"), now: c.Now(), confined: c.confined}
	if f.After != "" {
		f.Skipped, _ = strconv.ParseInt(q.Get("n"), 10, 64) // anything else is not known
		if trail := q.Get("trail"); trail != "" {
			f.Trail = strings.Split(trail, ",")
		}
	}
	if id != "" && !isKnownPartner(all, id) {
		return f, partner.ErrNotFound
	}
	for _, field := range l.fields {
		value := q.Get(field.Name)
		switch {
		case field.Name == "partner" || value == "" || c.confined && field.isServiceOnly():
			continue
		case field.Many:
			for _, word := range q[field.Name] {
				if offersOption(field.Options, word) && !slices.Contains(f.values[field.Name], word) {
					f.values.Add(field.Name, word)
				}
			}
			continue
		case field.Text:
		case field.Max > 0:
			if value = strings.TrimSpace(value); value == "" || len(value) > field.Max {
				continue
			}
		case field.Options == nil:
			day, err := time.ParseInLocation(time.DateOnly, value, brazil)
			if err != nil {
				continue
			}
			if field.Name == "to" {
				f.To = day.AddDate(0, 0, 1)
			} else {
				f.From = day
			}
		case !offersOption(field.Options, value):
			continue
		}
		f.values.Set(field.Name, value)
	}
	if ref := q.Get("person"); ref != "" && id != "" {
		person, err := c.Rules.Subjects.FindReferred(ctx, id, ref)
		if err != nil {
			return f, err
		}
		f.Person, f.user = ref, person.User
	}
	return f, nil
}

// listPart is the part of a list that a page shows.
type listPart struct {
	// partners are those that the list can be narrowed to.
	partners []partner.Partner
	// shown is how many lines the page has, next where those behind them begin; empty at the end.
	shown int
	next  string
	// total is how many there are in all, if that is known; -1 otherwise.
	total int64
	// size is how many rows a page has, if not perPage.
	size int
}

// longestTrail is how many pages one can go back; from further on the way leads to the first.
const longestTrail = 20

// offersOption reports whether a value is one of the options.
func offersOption(options []choiceOption, value string) bool {
	return slices.ContainsFunc(options, func(o choiceOption) bool { return o.Value == value })
}

// listView is what every list shows around its table.
type listView struct {
	Name, Path string
	Fields     []listField
	Person     string
	filter     filter
	// Shown is how many lines the page has; Next leads to those behind them, and is empty at the end.
	Shown int
	Next  string
	// Total is how many there are in all, if that is known; -1 otherwise.
	Total int64
	// Persons is set when the list can be filtered by person.
	Persons  bool
	Saved    []operator.KeptFilter
	Action   *bulkAction
	pageSize int64
}

// Picks reports whether something can be done to many rows.
func (v listView) Picks() bool { return v.Action != nil }

// Value returns the present value of a field.
func (v listView) Value(name string) string {
	if name == "partner" {
		return string(v.filter.Partner)
	}
	return v.filter.valueOfName(name)
}

// IsNarrowed reports whether a word narrows the list: the queues above a list have links of their own.
func (v listView) IsNarrowed() bool {
	return v.Person != "" || slices.ContainsFunc(v.Fields, func(f listField) bool {
		word := v.Value(f.Name)
		return !f.Tab && word != "" && word != ownerMe && word != ownerNone
	})
}

// chip is a word that narrows the list and what may stand in its place.
type chip struct {
	Name, Label, Value string
	// Raw is the word as the address has it; IsDay that it is a day.
	Raw   string
	IsDay bool
	// Options are the other words; none where one is typed. Choices are those of which several may be chosen.
	Options []listLink
	Choices []chipChoice
	// Without is the address of the list without the word; empty where the list always has one.
	Without string
}

// chipChoice is one of several words that a chip may hold at once.
type chipChoice struct {
	Value, Label string
	Chosen       bool
}

// listLink is a way to look at the list otherwise.
type listLink struct {
	Label, Path string
	Current     bool
}

// orderField is the name of the field that orders a list: it stands at the end of the filters.
const orderField = "sort"

// Chips returns what narrows the list, in the order of its fields. A field that always has a word is among them.
func (v listView) Chips() (chips []chip) {
	for _, f := range v.Fields {
		word := v.Value(f.Name)
		if f.Tab || f.Name == orderField || word == "" && (f.None != "" || len(f.Options) == 0) {
			continue
		}
		one := chip{Name: f.Name, Label: f.Label, Raw: word, Value: f.optionLabel(word)}
		if word == "" {
			one.Value = f.Options[0].Label
		} else {
			one.Without = v.with(f.Name, "")
		}
		if day, err := time.Parse(time.DateOnly, word); err == nil {
			one.Value, one.IsDay = formatDayField(day), true
		}
		if f.Many {
			chosen := v.filter.values[f.Name]
			var labels []string
			for _, o := range f.Options {
				is := slices.Contains(chosen, o.Value)
				if one.Choices = append(one.Choices, chipChoice{o.Value, o.Label, is}); is {
					labels = append(labels, o.Label)
				}
			}
			one.Value = strings.Join(labels, ", ")
			chips = append(chips, one)
			continue
		}
		one.Options = v.linksOf(f)
		chips = append(chips, one)
	}
	return chips
}

// linksOf returns the list under each option of a field.
func (v listView) linksOf(f listField) []listLink {
	var links []listLink
	for i, o := range f.Options {
		word := v.Value(f.Name)
		links = append(links, listLink{
			Label:   o.Label,
			Path:    v.with(f.Name, o.Value),
			Current: o.Value == word || word == "" && i == 0 && f.None == "" && !f.Tab,
		})
	}
	if f.None != "" && len(links) > 0 {
		links = append(links, listLink{Label: f.None, Path: v.with(f.Name, ""), Current: v.Value(f.Name) == ""})
	}
	return links
}

// Unset returns the fields that could narrow the list further.
func (v listView) Unset() (fields []listField) {
	for _, f := range v.Fields {
		hidden := f.Tab || f.Name == orderField || f.Text && len(f.Options) == 0
		always := f.None == "" && len(f.Options) > 0 && f.Name != "partner"
		if !hidden && !always && v.Value(f.Name) == "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// Groupings returns the ways to group the rows; none where there is one only.
func (v listView) Groupings() []listLink {
	for _, f := range v.Fields {
		if f.Name == "group" {
			grouped := listLink{"Por vazamento", v.with(f.Name, ""), v.Value(f.Name) == ""}
			return append([]listLink{grouped}, v.linksOf(f)...)
		}
	}
	return nil
}

// Orders returns the orders of the list; none where it has one only.
func (v listView) Orders() []listLink {
	for _, f := range v.Fields {
		if f.Name == orderField {
			return v.linksOf(f)
		}
	}
	return nil
}

// with returns the address of the list with another word in a field; none takes the field out.
func (v listView) with(name, word string) string {
	q, _ := url.ParseQuery(v.Query()) // it was just encoded
	if q.Del(name); word != "" {
		q.Set(name, word)
	}
	if name == "partner" {
		q.Del("person") // of another partner that is another person, or nobody
	}
	return v.Of(q.Encode())
}

// Without returns the words of the filter but that of one field, for a form that sets it.
func (v listView) Without(name string) (words []choiceOption) {
	q, _ := url.ParseQuery(v.Query()) // it was just encoded
	for _, field := range slices.Sorted(maps.Keys(q)) {
		if field == name {
			continue
		}
		for _, word := range q[field] {
			words = append(words, choiceOption{Value: field, Label: word})
		}
	}
	return words
}

// TotalText says how many rows the list has.
func (v listView) TotalText() string {
	switch {
	case v.Total >= 0:
		return groupedNumber(v.Total)
	case v.Next == "":
		return groupedNumber(v.filter.Skipped + int64(v.Shown))
	}
	return "mais de " + groupedNumber(v.filter.Skipped+int64(v.Shown))
}

// RangeText says which of the rows are on the page.
func (v listView) RangeText() string {
	first := v.filter.Skipped + 1
	if v.Shown == 0 {
		return "0 de " + v.TotalText()
	}
	return groupedNumber(first) + "–" + groupedNumber(first+int64(v.Shown)-1) + " de " + v.TotalText()
}

// Back returns the address of the page before; empty on the first one.
func (v listView) Back() string {
	if v.filter.After == "" {
		return ""
	}
	q, _ := url.ParseQuery(v.Query()) // it was just encoded
	if n := len(v.filter.Trail); n > 0 {
		q.Set("after", v.filter.Trail[n-1])
		q.Set("n", strconv.FormatInt(max(0, v.filter.Skipped-v.pageSize), 10))
		q.Set("trail", strings.Join(v.filter.Trail[:n-1], ","))
	}
	return v.Of(q.Encode())
}

// Query returns the filter as a query, for forms and links.
func (v listView) Query() string { return v.filter.encodeQuery() }

// Of returns the address of the list under a query.
func (v listView) Of(query string) string { return v.Path + "?" + query }

// Ref returns the keyed reference of the person that the list is filtered by; empty without such a filter.
func (v listView) Ref() string { return v.filter.Person }

// Place returns the cursor at which this page of the list begins; empty on the first page.
func (v listView) Place() string { return v.filter.After }

// Inner reports whether the page is a later one than the first.
func (v listView) Inner() bool { return v.filter.After != "" }

func (v listView) Partner() partner.ID { return v.filter.Partner }

// newListView puts together what stands around the table of a list.
func (c *Console) newListView(
	ctx context.Context, who viewer, l *listing, f filter, part listPart,
) (listView, error) {
	v := listView{Name: l.name, Path: "/" + l.name, filter: f, Shown: part.shown, Total: part.total, Persons: l.persons}
	for _, field := range l.fields {
		if c.confined && field.isServiceOnly() {
			continue
		}
		if field.Name == "partner" && field.Options == nil {
			field.Options = partnerOptions(part.partners)
		}
		v.Fields = append(v.Fields, field)
	}
	v.pageSize = int64(cmp.Or(part.size, perPage))
	if part.next != "" {
		q, _ := url.ParseQuery(f.encodeQuery()) // it was just encoded
		q.Set("after", part.next)
		q.Set("n", strconv.FormatInt(f.Skipped+int64(part.shown), 10))
		if f.After != "" {
			trail := append(slices.Clone(f.Trail), f.After)
			q.Set("trail", strings.Join(trail[max(0, len(trail)-longestTrail):], ","))
		}
		v.Next = v.Of(q.Encode())
	} else if f.After == "" && part.total < 0 {
		v.Total = int64(part.shown)
	}
	if f.Person != "" {
		v.Person = joinPath("people", string(f.Partner), f.Person)
	}
	if l.action.isAllowedTo(who.who) {
		v.Action = l.action
	}
	kept, err := c.Rules.Saved.KeptFilters(ctx, who.who.ID)
	if err != nil {
		return listView{}, err
	}
	for _, one := range kept {
		if one.List == l.name && (!c.confined || who.scope.coversQuery(one.Query)) {
			v.Saved = append(v.Saved, one)
		}
	}
	return v, nil
}

func (v *listView) offerOption(field string, o choiceOption) {
	for i := range v.Fields {
		if v.Fields[i].Name == field {
			v.Fields[i].Options = append(v.Fields[i].Options, o)
		}
	}
}

// coversQuery reports whether a saved filter belongs to the partner on view. An operator of a partner with a sandbox
// has filters of both.
func (s scope) coversQuery(query string) bool {
	q, err := url.ParseQuery(query)
	return err == nil && q.Get("partner") == string(s.at.ID)
}

// partnerOptions returns the partners as options of a select field, with sandboxes marked as such.
func partnerOptions(all []partner.Partner) []choiceOption {
	options := make([]choiceOption, len(all))
	for i, p := range all {
		options[i] = choiceOption{string(p.ID), p.Name}
		if p.Mode == partner.Sandbox {
			options[i].Label += " (testes)"
		}
	}
	return options
}

// listNamed returns the list that a path names, if the operator may see it.
func listNamed(r *request) (*listing, error) {
	for _, l := range listings {
		if l.name != r.PathValue("list") {
			continue
		}
		if !isAllowedTo(r.who, l.role, l.portal) {
			return nil, errForbidden
		}
		return l, nil
	}
	return nil, errNotFound
}

// showListAgain shows the list that a path names again, after a form of its was refused.
func showListAgain(c *Console, r *request) (answer, error) {
	show := map[string]handler{
		findingsList.name:      listFindings,
		assetsList.name:        listAssets,
		eventsList.name:        listEvents,
		deliveriesList.name:    listDeliveries,
		subscriptionsList.name: listSubscriptions,
		devicesList.name:       listDevices,
		breachesList.name:      listBreaches,
		casesList.name:         showCases,
		peopleList.name:        listPeople,
		auditList.name:         listAudit,
	}[r.PathValue("list")]
	if show == nil {
		return nil, errNotFound
	}
	return show(c, r)
}

// pickPerson filters a list by one person. The typed text is looked up as in the search and never gets into an address,
// which carries the keyed reference instead.
func pickPerson(c *Console, r *request) (answer, error) {
	l, err := listNamed(r)
	if err != nil {
		return nil, err
	}
	hits, as, err := c.Rules.Search.FindText(r.Context(), r.PostFormValue("q"))
	if err != nil {
		return nil, err
	}
	only := partner.ID(r.trimmedField("partner"))
	var found []subject.Hit
	for _, h := range hits {
		if h.Kind == subject.HitPerson && (only == "" || h.Partner == only) {
			found = append(found, h)
		}
	}
	if err := c.noteSearch(r, found, as); err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, errPerson.With("q", fault.ManyPeople, len(found))
	}
	q := url.Values{"partner": {string(found[0].Partner)}, "person": {found[0].ID}}
	return redirect{to: "/" + l.name + "?" + q.Encode()}, nil
}

// ListNames names every list, as paths do.
func ListNames() []string {
	names := make([]string, len(listings))
	for i, l := range listings {
		names[i] = l.name
	}
	return names
}
