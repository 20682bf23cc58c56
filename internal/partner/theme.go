package partner

import (
	"context"
	"errors"
	_ "image/jpeg" // logos come as JPEG too
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// Theme is how a partner's people see their page. The zero value of each field means the service's own look.
type Theme struct {
	// The colours, as #rrggbb: of links and buttons, and of what stands on buttons. The page itself is light or dark as
	// the person's phone is.
	Accent, AccentText string
	// Title is what the page is called; empty means the partner's name.
	Title string
	Texts map[Language]ThemeTexts
	// Frames are the origins in whose pages this one may stand, such as https://app.banco.com.br.
	Frames []string
	// Logo is a PNG that this program wrote; empty for none.
	Logo []byte
}

// ThemeTexts are a partner's own words in one language.
type ThemeTexts struct {
	// Intro stands at the top of the first page, Contact at the foot of every one.
	Intro, Contact string
}

// The look of a page for which the partner chose none.
const (
	// paper is what links stand on, on a light page.
	paper             = "#ffffff"
	DefaultAccent     = "#0b57a4"
	DefaultAccentText = "#ffffff"
)

// EffectiveColours returns the theme's colours with defaults filled in.
func (t Theme) EffectiveColours() (accent, accentText string) {
	or := func(chosen, usual string) string {
		if chosen == "" {
			return usual
		}
		return chosen
	}
	return or(t.Accent, DefaultAccent), or(t.AccentText, DefaultAccentText)
}

// ThemeStore keeps themes.
type ThemeStore interface {
	// GetTheme returns a partner's theme; its zero value when there is none.
	GetTheme(ctx context.Context, id ID) (Theme, error)
	// UpdateTheme changes it under the lock of the partner's row.
	UpdateTheme(ctx context.Context, id ID, change func(*Theme) error) (Theme, error)
}

// GetTheme returns how a partner's people see their page.
func (r *Registry) GetTheme(ctx context.Context, id ID) (Theme, error) {
	return r.store.GetTheme(ctx, id)
}

// UpdateTheme changes how a partner's people see their page.
func (r *Registry) UpdateTheme(ctx context.Context, id ID, edit func(*Theme)) (Theme, error) {
	return r.store.UpdateTheme(ctx, id, func(t *Theme) error {
		before := t.Logo
		edit(t)
		if err := t.checkTheme(); err != nil {
			return err
		}
		if len(t.Logo) == 0 || string(before) == string(t.Logo) {
			return nil
		}
		logo, err := redrawPicture(t.Logo)
		t.Logo = logo
		return err
	})
}

const (
	maxTitle  = 80
	maxIntro  = 600
	maxFrames = 5
	// leastContrast is what WCAG 2.2 asks of text, level AA.
	leastContrast = 4.5
)

// checkTheme refuses colours that cannot be read and addresses that are none.
func (t *Theme) checkTheme() error {
	var wrong []error
	for _, c := range []struct {
		name  string
		value *string
	}{{"accent", &t.Accent}, {"accent text", &t.AccentText}} {
		if *c.value = strings.ToLower(strings.TrimSpace(*c.value)); *c.value != "" && !colour.MatchString(*c.value) {
			return ErrInvalid.With(c.name, fault.ColourFormat)
		}
	}
	accent, accentText := t.EffectiveColours()
	for _, pair := range []struct{ name, on, over, under string }{
		{"accent", "white page", accent, paper}, {"accent text", "accent", accentText, accent},
	} {
		// Cut, not rounded: 4.499 is not enough and must not read as if it were.
		ratio := ContrastRatio(pair.over, pair.under)
		wrong = append(
			wrong,
			fault.When(
				ratio < leastContrast,
				ErrInvalid.With(
					pair.name,
					fault.Contrast,
					strconv.FormatFloat(math.Floor(ratio*100)/100, 'f', 2, 64),
					pair.on,
				),
			),
		)
	}
	t.Title = strings.TrimSpace(t.Title)
	wrong = append(
		wrong,
		fault.When(!IsPrintableLine(t.Title, 0, maxTitle), ErrInvalid.With("title", fault.PlainAtMost, maxTitle)),
	)
	for lang, texts := range t.Texts {
		wrong = append(
			wrong,
			fault.When(!slices.Contains(ListLanguages(), lang), ErrInvalid.With("lang", fault.OneOf, "pt-BR, es, en")),
			fault.When(
				!Paragraphs(texts.Intro, 0, maxIntro) || !Paragraphs(texts.Contact, 0, maxIntro),
				ErrInvalid.With("intro, contact", fault.TextsAtMost, maxIntro),
			),
		)
	}
	return errors.Join(append(wrong, t.checkFrames())...)
}

// checkFrames holds the origins to what a header can carry: a scheme and a host, and nothing that could end the list.
func (t *Theme) checkFrames() error {
	if len(t.Frames) > maxFrames {
		return ErrInvalid.With("frame", fault.AtMost, maxFrames)
	}
	for i, f := range t.Frames {
		u, err := url.Parse(strings.ToLower(strings.TrimSpace(f)))
		if err != nil || u.Scheme != "https" || !hostName.MatchString(u.Hostname()) || u.User != nil ||
			u.Path+u.RawQuery+u.Fragment != "" ||
			u.Port() != "" && !hasOnlyDigits(u.Port()) {
			return ErrInvalid.With("frame", fault.OriginFormat)
		}
		t.Frames[i] = "https://" + u.Host
	}
	slices.Sort(t.Frames)
	t.Frames = slices.Compact(t.Frames)
	return nil
}
