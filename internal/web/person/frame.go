package person

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/plan"
)

// frame is what the layout and every page are rendered from.
type frame struct {
	Lang  partner.Language
	Title string
	// Brand is the partner's name for the page; empty before a link has shown which partner it belongs to.
	Brand        string
	Logo, Themed bool
	Menu, Others []menuItem
	Langs        []langItem
	// Back is the page of the menu that this one belongs to.
	Back string
	Done string
	// InPlace says that the page itself shows Done where something was changed.
	InPlace        bool
	Problem        string
	Intro, Contact string
	Return         string
	Form           url.Values
	Data           any
}

// menuItem is a link of the menu.
type menuItem struct {
	Path, Label, Icon string
	Current           bool
}

// langItem is a link that shows the page in another language.
type langItem struct {
	Lang    partner.Language
	Label   string
	Current bool
}

// newFrame returns what stands around every page; refused is why the form that it shows again was not accepted.
func (p *Pages) newFrame(r *request, v view, refused error) frame {
	f := frame{
		Lang:   r.lang,
		Title:  r.sentence(v.title),
		Return: r.session.Return,
		Form:   r.PostForm,
		Data:   v.data,
		Back:   Prefix,
	}
	if refused != nil {
		f.Problem = sentenceOf(r.lang, refused)
	}
	if r.who.ID == "" || r.begun {
		return f
	}
	f.Brand, f.Logo, f.Themed = r.theme.Title, len(r.theme.Logo) > 0, true
	if f.Brand == "" {
		f.Brand = r.who.Name
	}
	if done := r.URL.Query().Get("done"); done != "" {
		f.Done = doneSentence(r.lang, done)
	}
	f.Intro, f.Contact = r.theme.Texts[r.lang].Intro, r.theme.Texts[r.lang].Contact
	f.InPlace = r.URL.Query().Has("at")
	below := false
	for _, item := range others {
		if item.path == r.URL.Path {
			f.Back, below = item.path, true
		}
		f.Others = append(f.Others, menuItem{Path: item.path, Label: r.sentence(item.word), Icon: item.icon})
	}
	for _, item := range menu {
		current := item.path == r.URL.Path || item.path != Prefix && strings.HasPrefix(r.URL.Path, item.path) ||
			item.path == "/p/cases" && strings.HasPrefix(r.URL.Path, "/p/services/") || item.path == "/p/more" && below
		if current && !below {
			f.Back = item.path
		}
		f.Menu = append(f.Menu, menuItem{item.path, r.sentence(item.word), item.icon, current})
	}
	for _, l := range partner.ListLanguages() {
		f.Langs = append(f.Langs, langItem{l, langNames[l], l == r.lang})
	}
	return f
}

// T returns a sentence in the person's language, with its blanks filled in order.
func (f frame) T(key string, values ...any) string { return sentenceIn(f.Lang, key, values...) }

// Old is what was filled into a form that was refused.
func (f frame) Old(name string) string {
	if f.Problem == "" {
		return ""
	}
	return f.Form.Get(name)
}

// Foreign reports whether a text of the operator's own, which is Portuguese, stands in a page of another language.
func (f frame) Foreign() bool { return f.Lang != partner.Portuguese }

// brazil is the time that pages show. Brazil has had no summer time since 2019, so an offset is enough and no zone
// table is needed.
var brazil = time.FixedZone("BRT", -3*60*60)

// Date writes a day of the calendar.
func (f frame) Date(t time.Time) string { return f.formatMoment(t, "") }

// Day writes the day of a moment in Brazil: in the evening another one begins in UTC already.
func (f frame) Day(t time.Time) string { return f.formatMoment(t.In(brazil), "") }

// Time writes a moment by Brazil's clock.
func (f frame) Time(t time.Time) string { return f.formatMoment(t.In(brazil), " 15:04") }

// formatMoment writes a day, and the time if clock says how.
func (f frame) formatMoment(t time.Time, clock string) string {
	switch {
	case t.IsZero():
		return "—"
	case f.Lang == partner.English:
		return t.Format("2 Jan 2006" + clock)
	}
	return t.Format("02/01/2006" + clock)
}

// Number writes a number with one decimal.
func (f frame) Number(n float64) string {
	text := strconv.FormatFloat(n, 'f', 1, 64)
	if f.Lang == partner.English {
		return text
	}
	return strings.Replace(text, ".", ",", 1)
}

// Tenths writes a number of tenths with one decimal.
func (f frame) Tenths(n int64) string { return f.Number(float64(n) / 10) }

// Reais writes an amount of money in cents, as Brazil does in every language.
func (f frame) Reais(amount plan.Money) string {
	cents := int64(amount)
	whole, rest := strconv.FormatInt(cents/100, 10), strconv.FormatInt(100+cents%100, 10)[1:]
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "." + whole[i:]
	}
	return "R$ " + whole + "," + rest
}

var functions = template.FuncMap{
	"icon": func(name string) template.HTML {
		text := `<svg class="i" aria-hidden="true"><use href="#` + name + `"/></svg>`
		return template.HTML(text) //nolint:gosec // our own names
	},
	"face": func(s cyber.Severity) string { return severityFace[s] },
	"join": func(list []string) string { return strings.Join(list, ", ") },
	"iso":  func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"lang": languageOf,
	"both": func(f frame, of any) inFrame { return inFrame{f, of} },
}

// severityFace is the colour and the picture of a severity.
var severityFace = map[cyber.Severity]string{
	cyber.SeverityLow:      "low",
	cyber.SeverityMedium:   "mid",
	cyber.SeverityHigh:     "high",
	cyber.SeverityCritical: "high",
}

// inFrame is what a part of a page is rendered from: one thing, and the frame for its words.
type inFrame struct {
	Frame frame
	Of    any
}
