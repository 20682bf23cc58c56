package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/subject"
)

// pages are the templates: each page is the layout and one file. One is parsed when it is shown first, because each has
// the layout and all partials to itself, and all of them together are most of what an idle server would hold.
type pages struct {
	byName map[string]func() (*template.Template, error)
}

// partials are files that every page can use.
var partials = []string{"layout.html", "parts.html", "pictures.html", "list.html", "content-form.html"}

// parsedPages are there once in a process, however many consoles it has: tests have many.
var parsedPages = sync.OnceValues(func() (*pages, error) { return parsePages(templateFiles) })

// parsePages prepares the templates of all pages with the partials they share. A page is parsed at its first use.
func parsePages(files fs.FS) (*pages, error) {
	base := template.New("").Funcs(functions)
	for _, name := range partials {
		if _, err := base.ParseFS(files, "templates/"+name); err != nil {
			return nil, err
		}
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	p := &pages{byName: map[string]func() (*template.Template, error){}}
	for _, name := range names {
		short := strings.TrimSuffix(path.Base(name), ".html")
		if slices.Contains(partials, short+".html") {
			continue
		}
		p.byName[short] = sync.OnceValues(func() (*template.Template, error) {
			one, err := base.Clone()
			if err != nil {
				return nil, err
			}
			return one.ParseFS(files, name)
		})
	}
	return p, nil
}

// renderPage writes a page inside the frame. The layout comes last: it tells of the problems that no field of the page is about.
func (p *pages) renderPage(w io.Writer, f *frame, name string) error {
	parsed, ok := p.byName[name]
	if !ok {
		return fmt.Errorf("no page named %q", name)
	}
	t, err := parsed()
	if err != nil {
		return err
	}
	var page strings.Builder
	if err := t.ExecuteTemplate(&page, "page", f); err != nil {
		return err
	}
	f.Page = template.HTML(page.String()) //nolint:gosec // a template wrote it
	return t.ExecuteTemplate(w, "layout", f)
}

// frame is what the layout and every page are rendered from.
type frame struct {
	Title    string
	Operator operator.Operator
	Menu     []menuGroup
	Path     string
	Done     string
	// Undo is the case whose final move can be taken back from this page.
	Undo string
	// Page is the rendered page inside the layout.
	Page template.HTML
	// Problem is why the form was refused; refusals say it field by field. Form is what was sent.
	Problem  string
	refusals []refusal
	Form     url.Values
	// refused is set while the form that was refused is rendered, focused once a field has the focus.
	refused, focused bool
	Data             any
	Now              time.Time
	// Scope is the partner whose person looks; empty for those who run the service.
	Scope scopeView
	// Pictures are the charts of the page; nil on a page that has none.
	Pictures *pictures
}

// menuGroup is a part of the menu under one label.
type menuGroup struct {
	Label string
	Items []menuItem
}

// menuItem is a link of the menu; Current marks the section of the page on view.
type menuItem struct {
	Path, Label, Icon string
	Current           bool
}

// newFrame returns what stands around every page.
func (c *Console) newFrame(r *request, v view) *frame {
	f := &frame{
		Title:    v.title,
		Operator: r.who,
		Path:     r.URL.Path,
		Done:     doneSentences[r.URL.Query().Get("done")],
		Undo:     r.URL.Query().Get("undo"),
		Form:     r.PostForm,
		Data:     v.data,
		Now:      c.Now(),
		Pictures: r.pictures,
	}
	if r.problem != nil {
		f.refuseForm(r.problem)
	}
	// What comes before a session is whole stands at the door, also where one may go on without a second factor.
	if r.who.ID == "" || r.route.early || r.route.role == "" || (!r.who.TOTPOn && !c.SecondFactorOptional) {
		return f
	}
	f.Menu, f.Scope = menuForOperator(r), r.scope.newScopeView()
	return f
}

// May reports whether the operator's role covers another: pages leave out what would be refused.
func (f *frame) May(role string) bool { return f.Operator.Role.Covers(operator.Role(role)) }

// Can is the same by the route that would be refused, for pages that partners' people see too.
func (f *frame) Can(key string) (bool, error) {
	for _, rt := range routes {
		if rt.tableKey() == key {
			return rt.isOpenTo(f.Operator), nil
		}
	}
	return false, fmt.Errorf("no route %s", key)
}

// brazil is the time that pages show. Brazil has had no summer time since 2019, so an offset is enough and no zone
// table is needed.
var brazil = time.FixedZone("BRT", -3*60*60)

var functions = template.FuncMap{
	"date":    func(t time.Time) string { return formatTime(t, "02/01/2006") },
	"time":    func(t time.Time) string { return formatTime(t, "02/01/2006 15:04") },
	"clock":   func(t time.Time) string { return formatTime(t, "02/01/2006 15:04:05") },
	"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"number":  func(n any) string { return groupedNumber(toInteger(n)) },
	"bytes":   func(n any) string { return formatByteSize(toInteger(n)) },
	"took":    formatDuration,
	"left":    formatTimeLeft,
	"brief":   briefNumber,
	"failure": failureText,
	"role":    func(r operator.Role) string { return roleNames[string(r)] },
	"short":   shortenID,
	"icon":    iconHTML,
	"dict":    makeDict,
	"join":    func(list []string) string { return strings.Join(list, " ") },
	"list":    func(items ...any) []any { return items },
	"mask":    identifier.MaskValue,
	"roles":   operator.ListRoles,
	"plural":  func(n any, one, many string) string { return pluralWord(toInteger(n), one, many) },
	"count":   func(counts map[operator.Figure]int64, name string) int64 { return counts[operator.Figure(name)] },
	"arrived": func(o webhook.Outcome) bool { return o.Status >= 200 && o.Status < 300 },
	"at": func(segments ...any) string {
		return joinPath(mapList(segments, func(s any) string { return fmt.Sprint(s) })...)
	},
	"reais":      formatReais,
	"cpf":        identifier.FormatCPF,
	"maskCPF":    func(cpf string) string { return identifier.MaskValue(identifier.CPF, cpf) },
	"maskMail":   func(mail string) string { return identifier.MaskValue(identifier.Email, mail) },
	"mask4":      lastFourDigits,
	"maskName":   maskPersonName,
	"action":     func(name string) string { return cmp.Or(actionNames[name], name) },
	"system":     func(s cyber.System) string { return cmp.Or(systemNames[s], string(s)) },
	"monogram":   monogramOf,
	"add":        func(a, b any) int64 { return toInteger(a) + toInteger(b) },
	"sub":        func(a, b int) int { return a - b },
	"tenths":     func(n any) string { return formatDecimal(float64(toInteger(n)) / 10) },
	"neg":        func(d time.Duration) time.Duration { return -d },
	"dayField":   formatDayField,
	"birthDay":   formatBirthDay,
	"date3":      func(t time.Time) string { return t.UTC().Format("02/01/2006") },
	"resolution": resolutionName,
	"feedKind":   feedLabel,
	"choices":    func(name string) []choiceOption { return choiceLists[name] },
	"sample":     sampleText,
	"kinds":      kindCounts,
	"language":   func(l partner.Language) string { return languageNames[l] },
	"hit":        func(h subject.Hit) string { return hitPages[h.Kind].label },
	"hitPath":    pathOfHit,
	"listTitle":  fileTitle,
	"notice":     func(action string) string { return accessChanges[action] },
	"ended":      hasEnded,
	"subState":   subscriptionBadge,
}

// choiceLists are the options of select fields that pages offer, by name.
var choiceLists = map[string][]choiceOption{
	"exposed":     exposedOptions,
	"sources":     kindOptions,
	"ways":        wayOptions,
	"feeds":       feedKinds,
	"algorithms":  algorithmOptions,
	"resolutions": resolutionOptions,
	"moves":       moveOptions,
	"contents":    contentTypes,
	"places":      contentDevices,
	"devices":     deviceChoices,
	"values":      kindField.Options,
	"severities":  severityField.Options,
}

// formatBirthDay writes a stored date of birth as people do; what is no date stays as it is.
func formatBirthDay(stored string) string {
	if day, err := time.Parse(time.DateOnly, stored); err == nil {
		return day.Format("02/01/2006")
	}
	return stored
}

// mapList returns what a function makes of each element of a list.
func mapList[A, B any](list []A, convert func(A) B) []B {
	made := make([]B, len(list))
	for i, one := range list {
		made[i] = convert(one)
	}
	return made
}

// lastFourDigits shows the end of a number that is long enough to hide the rest.
func lastFourDigits(s string) string {
	if len(s) < 8 {
		return "****"
	}
	return "****" + s[len(s)-4:]
}

// maskPersonName returns a name as a list shows it, enough to tell two people apart: two letters, and the last initial.
func maskPersonName(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 {
		return ""
	}
	first := []rune(words[0])
	masked := string(first[:min(2, len(first))]) + "•••"
	if len(words) > 1 {
		last, _ := utf8.DecodeRuneInString(words[len(words)-1])
		masked += " " + string(last) + "."
	}
	return masked
}

// monogramOf returns the two letters that stand for a name or for an operator's address.
func monogramOf(name string) string {
	name, _, _ = strings.Cut(name, "@")
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '.' || r == '_' || r == '-' })
	if len(words) == 0 {
		return ""
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	last := ""
	if len(words) > 1 {
		r, _ := utf8.DecodeRuneInString(words[len(words)-1])
		last = string(r)
	}
	return strings.ToUpper(string(first) + last)
}

// formatDayField returns a day as the field of a form holds it.
func formatDayField(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("02/01/2006")
}

// resolutionName returns the label of a resolution. Findings without a known one were withdrawn with their breach.
func resolutionName(r cyber.Resolution) string {
	return cmp.Or(optionLabels(resolutionOptions)[string(r)], "Retirado")
}

// optionLabels returns the labels of options, by their values.
func optionLabels(options []choiceOption) map[string]string {
	labels := make(map[string]string, len(options))
	for _, o := range options {
		labels[o.Value] = o.Label
	}
	return labels
}

// formatTime writes a time, or a dash for the zero time.
func formatTime(t time.Time, layout string) string {
	if t.IsZero() {
		return "—"
	}
	return t.In(brazil).Format(layout)
}

// pluralWord returns the word for one or for many.
func pluralWord(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// countWithWord returns a number with what it counts.
func countWithWord(n int64, one, many string) string {
	return groupedNumber(n) + " " + pluralWord(n, one, many)
}

// toInteger returns a number of any integer type.
func toInteger(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n)
	case int32:
		return int64(n)
	}
	return 0
}

// briefNumber writes a number in few letters, for the side of a chart: 1234567 as 1,2 mi.
func briefNumber(n int64) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(formatTenths(n/100_000), ",0") + " mi"
	case n >= 10_000:
		return strings.TrimSuffix(formatTenths(n/100), ",0") + " mil"
	}
	return groupedNumber(n)
}

// groupedNumber writes 1234567 as 1.234.567.
func groupedNumber(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "." + s[i:]
	}
	return sign + s
}

// formatDecimal writes a number with one decimal, behind a comma.
func formatDecimal(f float64) string {
	return strings.Replace(strconv.FormatFloat(f, 'f', 1, 64), ".", ",", 1)
}

// formatByteSize writes a number of bytes for people.
func formatByteSize(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for f >= 1000 && i < len(units)-1 {
		f /= 1000
		i++
	}
	if i == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return formatDecimal(f) + " " + units[i]
}

// formatDuration writes a duration for people: 850 µs, 12,3 ms, 2 min.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + " µs"
	case d < time.Second:
		return formatDecimal(float64(d.Microseconds())/1000) + " ms"
	case d < time.Minute:
		return formatDecimal(d.Seconds()) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	return countWithWord(int64(d.Hours()/24), "dia", "dias")
}

// formatTimeLeft returns how long something still takes, in words: falta 1 h, faltam 2 h.
func formatTimeLeft(d time.Duration) string {
	text := formatDuration(d)
	if strings.HasPrefix(text, "1 ") {
		return "falta " + text
	}
	return "faltam " + text
}

// shortenID leaves of an id what tells it from others on one screen.
func shortenID(id any) string {
	s := []rune(fmt.Sprint(id)) // some ids are in partners' own words
	if len(s) <= 16 {
		return string(s)
	}
	prefix := 4
	if i := slices.Index(s[:5], '_'); i > 0 {
		prefix = i + 1
	}
	return string(s[:prefix]) + "…" + string(s[len(s)-8:])
}

// makeDict makes the argument of a partial from names and values.
func makeDict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: %d arguments", len(pairs))
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: argument %d is no name", i)
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}

// icons are drawn with strokes on a grid of 24; all of them are ours.
var icons = map[string]string{
	"chart":    `<path d="M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6"/>`,
	"building": `<path d="M5 20V5l7-2v17M12 20V9l7 2v9M3 20h18M8 8h1M8 12h1M8 16h1M15 14h1M15 17h1"/>`,
	"plan":     `<path d="M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h5"/>`,
	"people":   `<path d="M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6.5 6.5 0 0 1 3.5 5.5"/>`,
	"card":     `<path d="M3 6h18v12H3zM3 10h18M7 15h4"/>`,
	"eye":      `<path d="M2 12s3.5-6.5 10-6.5S22 12 22 12s-3.5 6.5-10 6.5S2 12 2 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z"/>`,
	"leak":     `<path d="M12 3s6 6.5 6 11a6 6 0 0 1-12 0c0-4.500 6-11 6-11zM9.500 15a2.500 2.500 0 0 0 2.500 2.500"/>`,
	"key":      `<path d="M8 15a4 4 0 1 1 3.500-6H21v4h-3v3h-3v-3h-3.500A4 4 0 0 1 8 15zM8 11h.01"/>`,
	"board":    `<path d="M3 4h18v16H3zM9 4v16M15 4v16"/>`,
	"phone":    `<path d="M7 3h10v18H7zM11 18h2"/>`,
	"text":     `<path d="M4 5h16M4 10h16M4 15h10M4 20h7"/>`,
	"send":     `<path d="M21 4 3 11l7 3 3 7zM10 14 21 4"/>`,
	"bell":     `<path d="M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4"/>`,
	"feed":     `<path d="M5 19h.01M4 12a8 8 0 0 1 8 8M4 5a15 15 0 0 1 15 15"/>`,
	"list":     `<path d="M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01"/>`,
	"lifebuoy": `<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 15.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM5.600 5.600l4 4M14.400 14.400l4 4M18.400 5.600l-4 4M9.600 14.400l-4 4"/>`,
	"gear":     `<path d="M12 15.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.100 2.100M16.300 16.300l2.100 2.100M18.400 5.600l-2.100 2.100M7.700 16.300l-2.100 2.100"/>`,
	"plus":     `<path d="M12 5v14M5 12h14"/>`,
	"check":    `<path d="M5 13l4 4L19 7"/>`,
	"warn":     `<path d="M12 4 2.500 20h19zM12 10v4M12 17h.01"/>`,
	"out":      `<path d="M10 4H5v16h5M15 8l4 4-4 4M19 12H9"/>`,
	"menu":     `<path d="M4 7h16M4 12h16M4 17h16"/>`,
	"person":   `<path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.500 21a7.500 7.500 0 0 1 15 0"/>`,
	"search":   `<path d="M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM15.500 15.500 21 21"/>`,
	"siren":    `<path d="M7 18v-5a5 5 0 0 1 10 0v5M5 21h14v-3H5zM12 3v2M4 6l1.500 1.500M20 6l-1.500 1.500"/>`,
	"lock":     `<path d="M6 11h12v10H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3M12 15v2"/>`,
	"shield":   `<path d="M12 3l8 3v6c0 5-3.500 8-8 9-4.500-1-8-4-8-9V6zM8.500 12l2.500 2.500 4.500-5"/>`,
}

// iconHTML is decoration beside a word: screen readers skip it.
func iconHTML(name string) template.HTML {
	return template.HTML(
		`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">` + icons[name] + `</svg>`,
	) //nolint:gosec // our own constants
}

// Page is a row of the route table, for those who hold the table against something: tests, documents.
type Page struct {
	Method, Path string
	// Role is the least role that may; empty for what comes before a session.
	Role operator.Role
	// Portal is the right by which a partner's people may; NoRight where it is closed to them.
	Portal operator.Right
	// Fresh pages ask for the password again.
	Fresh bool
}

// ListNames names every list, as paths do.
func ListNames() []string {
	return mapList(listings, func(l *listing) string { return l.name })
}

// ListPages returns the whole route table.
func ListPages() []Page {
	return mapList(routes, func(rt route) Page { return Page{rt.method, rt.path, rt.role, rt.portal, rt.fresh} })
}

// errReason asks for the reason without which no personal value is shown.
var errReason = fault.New(fault.Invalid, "reason.missing")

// parseReason returns the operator's reason for seeing a personal value, and refuses one that is too short.
func parseReason(r *request) (string, error) {
	text := cmp.Or(r.trimmedField("preset"), r.trimmedField("reason"))
	if len(text) < 3 {
		return "", errReason
	}
	return text, nil
}

// revealTime is how long a person's values and words stay open to the operator who gave a reason.
const revealTime = 15 * time.Minute

// mostReveals is how many people one operator can have open at a time.
const mostReveals = 200

// recordReveal records why the operator wants to see who a person is. The line in the audit trail itself unlocks the pages
// about the person for revealTime, so one line covers everything that the operator looks at in that time.
func (c *Console) recordReveal(r *request, ref string, then redirect) (answer, error) {
	why, err := parseReason(r)
	r.noteFormError(err)
	c.recordAction(r, "person.reveal", ref, why)
	return then, nil
}

// currentReveals returns the operator's reveals that are still valid, by the person's reference.
func (c *Console) currentReveals(r *request) map[string]*operator.Entry {
	lines := callRuleWith(
		r,
		c.Rules.Audit.ListEntries,
		operator.Filter{
			Actor:  string(r.who.ID),
			Action: "person.reveal",
			From:   c.Now().Add(-revealTime),
			Limit:  mostReveals,
		},
	)
	reveals := make(map[string]*operator.Entry, len(lines))
	for i := range lines {
		if reveals[lines[i].Subject] == nil { // the newest comes first
			reveals[lines[i].Subject] = &lines[i]
		}
	}
	return reveals
}

// referenceOf returns the keyed reference to a person of a partner.
func (c *Console) referenceOf(id partner.ID, user partner.UserHash) string {
	return c.Rules.Subjects.Reference(subject.Person{User: user, Partner: id})
}

// partnerChoice is the row of a page that picks a partner.
type partnerChoice struct {
	All     []partner.Partner
	Current partner.Partner
}

// choosePartner reads which partner a page is about: the one in the address, the one that was chosen before, or the newest.
func (c *Console) choosePartner(r *request) partnerChoice {
	choice := partnerChoice{All: c.visiblePartners(r)}
	asked := c.chosenPartner(r, choice.All)
	for _, p := range choice.All {
		if p.ID == asked || asked == "" {
			choice.Current = p
		}
	}
	if asked != "" && choice.Current.ID == "" && r.problem == nil { // a page that tells of a problem tells of that one
		r.keepFailure(partner.ErrNotFound)
	}
	return choice
}

// partnerNames maps ids to names of partners, for lists over all of them.
func (c *Console) partnerNames(r *request) map[partner.ID]string {
	return partnerChoice{All: c.visiblePartners(r)}.namesByID()
}

// namesByID returns the names of the partners to choose from.
func (p partnerChoice) namesByID() map[partner.ID]string {
	names := make(map[partner.ID]string, len(p.All))
	for _, one := range p.All {
		names[one.ID] = one.Name
	}
	return names
}

// joinPath joins escaped segments to a path; ids may be in partners' own words.
func joinPath(segments ...string) string {
	path := ""
	for _, s := range segments {
		path += "/" + url.PathEscape(s)
	}
	return path
}

// themePage is how the pages of a partner's people look.
type themePage struct {
	Partner partner.Partner
	Theme   partner.Theme
	// The colours with defaults filled in.
	Accent, AccentText string
	Langs              []partner.Language
}

var languageNames = map[partner.Language]string{
	partner.Portuguese: "Português",
	partner.Spanish:    "Espanhol",
	partner.English:    "Inglês",
}

// showTheme shows the form for the look and the texts of the page that a partner's people see.
func showTheme(c *Console, r *request) (answer, error) {
	p := callRuleWith(r, c.Rules.Partners.GetPartner, partner.ID(r.PathValue("id")))
	theme := callRuleWith(r, c.Rules.Partners.GetTheme, p.ID)
	page := themePage{Partner: p, Theme: theme, Langs: partner.ListLanguages()}
	page.Accent, page.AccentText = theme.EffectiveColours()
	return view{"theme", "Página das pessoas", page}, nil
}

// saveTheme stores colours, logo, texts and the sites that may frame the page.
func saveTheme(c *Console, r *request) (answer, error) {
	if err := r.ParseMultipartForm(maxForm); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, errForm.Because(err)
	}
	logo := parseValue(r, r.uploadedPicture, "file")
	id := partner.ID(r.PathValue("id"))
	return c.changeAndRedirect(
		r,
		"partner.theme",
		redirect{partnerPath(id) + "/theme", "theme.saved"},
		func(ctx context.Context, in *Rules) (string, string, error) {
			_, err := in.Partners.UpdateTheme(ctx, id, func(t *partner.Theme) {
				t.Accent, t.AccentText = r.trimmedField("accent"), r.trimmedField("accent_text")
				t.Title, t.Frames = r.trimmedField("title"), strings.Fields(r.trimmedField("frame"))
				t.Texts = map[partner.Language]partner.ThemeTexts{}
				for _, l := range partner.ListLanguages() {
					texts := partner.ThemeTexts{
						Intro:   r.trimmedField("intro-" + string(l)),
						Contact: r.trimmedField("contact-" + string(l)),
					}
					if texts != (partner.ThemeTexts{}) {
						t.Texts[l] = texts
					}
				}
				switch {
				case len(logo) > 0:
					t.Logo = logo
				case r.trimmedField("no_logo") != "":
					t.Logo = nil
				}
			})
			return string(id), "", err
		},
	)
}

// uploadedPicture returns a small file of a form that may be left out.
func (r *request) uploadedPicture(name string) ([]byte, error) {
	part, _, err := r.FormFile(name)
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return []byte{}, nil
	}
	if err != nil {
		return nil, errForm.Because(err)
	}
	defer func() { _ = part.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(part, partner.MaxLogoFile+1))
}
