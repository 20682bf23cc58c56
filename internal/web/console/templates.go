package console

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/web/pages"
)

var functions = template.FuncMap{
	"date":        func(t time.Time) string { return formatTime(t, "02/01/2006") },
	"time":        func(t time.Time) string { return formatTime(t, "02/01/2006 15:04") },
	"weekday":     formatWeekday,
	"clock":       func(t time.Time) string { return formatTime(t, "02/01/2006 15:04:05") },
	"iso":         func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"number":      func(n any) string { return groupedNumber(toInteger(n)) },
	"bytes":       func(n any) string { return formatByteSize(toInteger(n)) },
	"took":        formatDuration,
	"brief":       briefNumber,
	"failure":     failureText,
	"unanswered":  func(f webhook.Failure) string { return cmp.Or(failureNames[f], string(f)) },
	"role":        func(r operator.Role) string { return roleNames[string(r)] },
	"short":       shortenID,
	"icon":        iconHTML,
	"dict":        makeDict,
	"join":        func(list []string) string { return strings.Join(list, " ") },
	"list":        func(items ...any) []any { return items },
	"mask":        identifier.MaskValue,
	"plural":      func(n any, one, many string) string { return pluralWord(toInteger(n), one, many) },
	"count":       func(counts map[operator.Figure]int64, name string) int64 { return counts[operator.Figure(name)] },
	"arrived":     func(a alert.AttemptLog) bool { return a.Status >= 200 && a.Status < 300 },
	"at":          joinPath,
	"reais":       formatReais,
	"cpf":         identifier.FormatCPF,
	"maskCPF":     func(cpf string) string { return identifier.MaskValue(identifier.CPF, cpf) },
	"maskMail":    func(mail string) string { return identifier.MaskValue(identifier.Email, mail) },
	"mask4":       lastFourDigits,
	"maskName":    maskPersonName,
	"action":      describeAction,
	"system":      func(s cyber.System) string { return cmp.Or(systemNames[s], string(s)) },
	"monogram":    monogramOf,
	"add":         func(a, b any) int64 { return toInteger(a) + toInteger(b) },
	"sub":         func(a, b int) int { return a - b },
	"tenths":      func(n any) string { return formatDecimal(float64(toInteger(n)) / 10) },
	"turn":        formatTurn,
	"dayField":    formatDayField,
	"birthDay":    formatBirthDay,
	"calendarDay": func(t time.Time) string { return t.UTC().Format("02/01/2006") },
	"resolution":  resolutionName,
	"feedKind":    feedLabel,
	"choices":     func(name string) []choiceOption { return choiceLists[name] },
	"sample":      sampleText,
	"kinds":       kindCounts,
	"language":    func(l partner.Language) string { return languageNames[l] },
	"hit":         func(h subject.Hit) string { return hitPages[h.Kind].label },
	"hitPath":     pathOfHit,
	"listTitle":   fileTitle,
	"notice":      func(action string) string { return accessChanges[action] },
	"ended":       hasEnded,
	"subState":    subscriptionBadge,
	"watchText":   watchText,
}

// choiceLists are the options of select fields that pages offer, by name.
var choiceLists = map[string][]choiceOption{
	"exposed":     exposedOptions,
	"sources":     kindOptions,
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

// partials are files that every page can use.
var partials = []string{"layout.html", "parts.html", "pictures.html", "list.html", "content-form.html"}

// parsedPages are there once in a process, however many consoles it has: tests have many.
var parsedPages = sync.OnceValues(func() (*pages.Templates, error) {
	return pages.ParseTemplates(templateFiles, functions, partials...)
})

// renderPage writes a page inside the frame. The layout comes last: it tells of the problems that no field of the page
// is about.
func (c *Console) renderPage(w io.Writer, f *frame, name string) error {
	t, err := c.templates.Find(name)
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
