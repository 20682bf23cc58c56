package console

import (
	"fmt"
	"html/template"
	"net/url"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
)

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

// newFrame returns what stands around every page; refused is why the form that the page shows was not accepted.
func (c *Console) newFrame(r *request, v view, refused error) *frame {
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
	if refused != nil {
		f.refuseForm(refused)
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
	if rt := findRoute(key); rt != nil {
		return rt.isOpenTo(f.Operator), nil
	}
	return false, fmt.Errorf("no route %s", key)
}
