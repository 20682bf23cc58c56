package reference

// entry is a line of the navigation.
type entry struct{ Href, Label, Method string }

// section is a part of the menu of the reference.
type section struct {
	Title   string
	Entries []entry
}

// navigation returns the menu; root leads to the overview in the writer's language, top to /docs/.
func (w *writer) navigation(root, top string) ([]section, error) {
	start := section{Title: "Start", Entries: []entry{{Href: root, Label: "Overview"}}}
	more := section{"More", []entry{
		{Href: root + "search", Label: "Search"},
		{Href: root + "errors", Label: "Errors"},
		{Href: root + "events", Label: "Webhook events"},
		{Href: root + "changelog", Label: "Changelog"},
		{Href: root + "deprecations", Label: "Deprecations"},
	}}
	for _, words := range []*section{&start, &more} {
		var err error
		if words.Title, err = w.language.textInLanguage(words.Title); err != nil {
			return nil, err
		}
		for i := range words.Entries {
			if words.Entries[i].Label, err = w.language.textInLanguage(words.Entries[i].Label); err != nil {
				return nil, err
			}
		}
	}
	for _, g := range w.guides {
		start.Entries = append(start.Entries, entry{Href: root + "guides/" + g.Name, Label: g.Title})
	}
	list := []section{start}
	for _, t := range w.contract.Tags {
		s := section{Title: t.Name}
		for _, op := range w.contract.Operations {
			if op.Tag == t.Name {
				s.Entries = append(s.Entries, entry{root + "operations/" + op.ID, op.Summary, op.Method})
			}
		}
		list = append(list, s)
	}
	document := "openapi.yaml"
	if w.language.texts != nil {
		document = "openapi.pt.yaml"
	}
	more.Entries = append(more.Entries, entry{Href: top + "../" + document, Label: document})
	return append(list, more), nil
}
