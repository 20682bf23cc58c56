package console

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A form that was refused comes back as it was sent, with the rule beside the field that broke it. That is done here for all
// forms at once, on the page as it was rendered: a template cannot forget it.

// fieldErrorID names the sentence beside the field; there is one on a page.
const fieldErrorID = "campo-recusado"

// piece is a token of a page; raw is how it stands there.
type piece struct {
	html.Token
	raw string
}

// pieces splits a page into tokens that keep their original bytes, so that untouched parts are written back unchanged.
func pieces(page []byte) []piece {
	var list []piece
	z := html.NewTokenizer(bytes.NewReader(page))
	for z.Next() != html.ErrorToken {
		raw := string(z.Raw()) // before the token is asked for, which uses up the bytes
		list = append(list, piece{z.Token(), raw})
	}
	return list
}

// get returns the value of an attribute and whether the tag has it.
func (p *piece) get(name string) (string, bool) {
	for _, a := range p.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// is reports whether the token is of the kind and has the tag name.
func (p *piece) is(kind html.TokenType, name string) bool { return p.Type == kind && p.Data == name }

// set gives an attribute a value; drop takes it away.
func (p *piece) set(name, value string) {
	p.drop(name)
	p.Attr = append(p.Attr, html.Attribute{Key: name, Val: value})
	p.raw = p.String()
}

// drop removes an attribute from the tag.
func (p *piece) drop(name string) {
	p.Attr = slices.DeleteFunc(p.Attr, func(a html.Attribute) bool { return a.Key == name })
	p.raw = p.String()
}

// mark sets an attribute without a value, or takes it away.
func (p *piece) mark(name string, on bool) {
	if _, has := p.get(name); has == on {
		return
	}
	if p.drop(name); on {
		p.set(name, name)
	}
}

// formAt finds the form that sends to path: by its own address, or by that of one of its buttons.
func formAt(page []piece, path string) (from, to int) {
	start, hit := -1, false
	for i := range page {
		switch p := &page[i]; {
		case p.is(html.StartTagToken, "form"):
			start = i
			hit = sendsTo(p, "action", path)
		case p.is(html.StartTagToken, "button") && start >= 0:
			hit = hit || sendsTo(p, "formaction", path)
		case p.is(html.EndTagToken, "form"):
			if hit {
				return start, i
			}
			start = -1
		}
	}
	return 0, 0
}

// sendsTo reports whether the URL in an attribute, such as a form's action, has the path. The query does not matter.
func sendsTo(p *piece, attribute, path string) bool {
	address, ok := p.get(attribute)
	u, err := url.Parse(address)
	return ok && err == nil && u.Path == path
}

// refill puts what was sent into the form of a page that sends to path, and the text beside the first of the fields that is
// in it. It tells whether there was one.
func refill(page []byte, path string, sent url.Values, fields []string, text string) ([]byte, bool) {
	list := pieces(page)
	from, to := formAt(list, path)
	if to == 0 {
		return page, false
	}
	openAround(list, from)
	for i := from; i < to; i++ {
		keep(list, i, sent)
	}
	at := -1
	for _, field := range fields {
		if at = fieldAt(list, from, to, field); at >= 0 {
			break
		}
	}
	if at >= 0 && text != "" {
		openAround(list, at)
		for i := range list { // the person goes on at the field that was refused
			list[i].mark("autofocus", i == at)
		}
		complain(list, at, text)
	}
	var b bytes.Buffer
	for _, p := range list {
		b.WriteString(p.raw)
	}
	return b.Bytes(), at >= 0 && text != ""
}

// openAround opens what is folded around a place.
func openAround(list []piece, place int) {
	var folds []int
	for i := range list[:place] {
		switch p := &list[i]; {
		case p.is(html.StartTagToken, "details"):
			folds = append(folds, i)
		case p.is(html.EndTagToken, "details"):
			folds = folds[:max(0, len(folds)-1)]
		}
	}
	for _, i := range folds {
		list[i].mark("open", true)
	}
}

// keep writes what was sent into a field.
func keep(list []piece, i int, sent url.Values) {
	p := &list[i]
	name, _ := p.get("name")
	kind, _ := p.get("type")
	value, _ := p.get("value")
	switch {
	case p.Type != html.StartTagToken && p.Type != html.SelfClosingTagToken || name == "":
	case p.Data == "input" && (kind == "checkbox" || kind == "radio"):
		p.mark("checked", slices.Contains(sent[name], value))
	case !sent.Has(name):
	case p.Data == "input" && !slices.Contains([]string{"password", "file", "hidden", "submit"}, kind):
		p.set("value", sent.Get(name))
	case p.Data == "textarea":
		text := "\n" + html.EscapeString(sent.Get(name)) // a line break right after the tag is not part of the text
		if list[i+1].Type != html.TextToken {
			text += list[i+1].raw // the end of a field that was empty
		}
		list[i+1].raw = text
	case p.Data == "select":
		keepChoice(list[i:], sent[name])
	}
}

// keepChoice picks what was sent among the options of the list that a part of a page begins with. Something that is not
// offered picks nothing.
func keepChoice(list []piece, sent []string) {
	for i := range list {
		p := &list[i]
		if p.is(html.EndTagToken, "select") {
			return
		}
		if !p.is(html.StartTagToken, "option") {
			continue
		}
		value, has := p.get("value")
		if !has && i+1 < len(list) {
			value = strings.TrimSpace(list[i+1].Data)
		}
		p.mark("selected", slices.Contains(sent, value))
	}
}

// fieldAt returns the index of the visible field with a name among the tokens from..to; -1 when there is none.
func fieldAt(list []piece, from, to int, name string) int {
	for i := from; i < to; i++ {
		p := &list[i]
		kind, _ := p.get("type")
		if given, _ := p.get("name"); given == name && (p.Data == "input" && kind != "hidden" || p.Data == "textarea" || p.Data == "select") {
			return i
		}
	}
	return -1
}

// complain ties a sentence to a field: to the eye below it, to a screen reader as its description.
func complain(list []piece, at int, text string) {
	p := &list[at]
	said := `<span class="field-error" id="` + fieldErrorID + `">` + html.EscapeString(text) + `</span>`
	kind, _ := p.get("type")
	described, has := p.get("aria-describedby")
	if has {
		described += " "
	}
	p.set("aria-invalid", "true")
	p.set("aria-describedby", described+fieldErrorID)
	end := at // where the field ends
	switch {
	case kind == "checkbox" || kind == "radio":
		for end < len(list)-1 && !list[end].is(html.EndTagToken, "label") {
			end++
		}
	case p.Data != "input":
		for end < len(list)-1 && !list[end].is(html.EndTagToken, p.Data) {
			end++
		}
	}
	list[end].raw += said
}
