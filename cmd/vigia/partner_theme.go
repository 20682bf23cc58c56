package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/partner"
)

type partnerThemeCmd struct {
	Set  partnerThemeSetCmd  `cmd:"" help:"Change how the pages of a partner's people look."`
	Show partnerThemeShowCmd `cmd:"" help:"Show how the pages of a partner's people look."`
}

// themeView is a theme as machines read it.
type themeView struct {
	Accent     string               `json:"accent"`
	AccentText string               `json:"accent_text"`
	Title      string               `json:"title"`
	Texts      map[string]themeText `json:"texts"`
	Frames     []string             `json:"frames"`
	LogoBytes  int                  `json:"logo_bytes"`
}

type themeText struct {
	Intro   string `json:"intro"`
	Contact string `json:"contact"`
}

func (o *output) theme(t partner.Theme) error {
	v := themeView{Title: t.Title, Texts: map[string]themeText{}, Frames: append([]string{}, t.Frames...), LogoBytes: len(t.Logo)}
	v.Accent, v.AccentText = t.Colours()
	for lang, texts := range t.Texts {
		v.Texts[string(lang)] = themeText(texts)
	}
	return o.print(v, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "Accent       %s (%.2f:1 on white)\nAccent text  %s (%.2f:1 on the accent)\nTitle        %s\nFrames       %s\nLogo         %d bytes\n",
			v.Accent, partner.Contrast(v.Accent, "#ffffff"),
			v.AccentText, partner.Contrast(v.AccentText, v.Accent), orDash(v.Title), orDash(strings.Join(v.Frames, ", ")), v.LogoBytes)
		for _, lang := range partner.Languages() {
			if texts, ok := v.Texts[string(lang)]; ok {
				_, _ = fmt.Fprintf(w, "%-11s  %s\n             %s\n", lang, orDash(texts.Intro), orDash(texts.Contact))
			}
		}
	})
}

type partnerThemeShowCmd struct {
	ID string `arg:"" name:"partner" help:"The partner's id."`
}

// Run shows a theme.
func (p *partnerThemeShowCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	return withApp(ctx, c, func(a *app.App) error {
		if _, err := a.Partners.Partner(ctx, partner.ID(p.ID)); err != nil {
			return err
		}
		t, err := a.Partners.Theme(ctx, partner.ID(p.ID))
		if err != nil {
			return err
		}
		return o.theme(t)
	})
}

type partnerThemeSetCmd struct {
	ID         string   `arg:"" name:"partner" help:"The partner's id."`
	Accent     *string  `placeholder:"COLOUR" help:"Colour of links and buttons, such as #0b57a4, with a contrast of 4.5:1 on white (WCAG 2.2 AA); '' means the usual one, here and below."`
	AccentText *string  `placeholder:"COLOUR" help:"Colour of what stands on buttons, with the same contrast on the accent."`
	Title      *string  `placeholder:"TEXT" help:"What the page is called; '' means the partner's name."`
	Logo       *string  `placeholder:"FILE" help:"PNG or JPEG of at most 1024 by 512 dots, 20 KiB when written as a PNG; '' means none."`
	Frame      []string `placeholder:"ORIGIN" help:"Origins in whose pages this one may stand, in place of those before; '' means none."`
	Lang       string   `default:"pt-BR" enum:"pt-BR,es,en" help:"Language of --intro and --contact: pt-BR, es or en."`
	Intro      *string  `placeholder:"TEXT" help:"Words at the top of the first page; '' means none."`
	Contact    *string  `placeholder:"TEXT" help:"Words at the foot of every page, such as where to call; '' means none."`
}

// Help shows examples.
func (partnerThemeSetCmd) Help() string {
	return "Examples:\n  vigia partner theme set pt_... --accent '#7a1fa2' --logo logo.png --frame https://app.banco.com.br\n" +
		"  vigia partner theme set pt_... --lang es --contact 'Llame al 4004 0000.'"
}

// Run changes what was given and leaves the rest.
func (p *partnerThemeSetCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	var logo []byte
	if p.Logo != nil && *p.Logo != "" {
		var err error
		if logo, err = readLogo(*p.Logo); err != nil {
			return err
		}
	}
	return withApp(ctx, c, func(a *app.App) error {
		changed, err := a.Partners.SetTheme(ctx, partner.ID(p.ID), func(t *partner.Theme) {
			set(&t.Accent, p.Accent)
			set(&t.AccentText, p.AccentText)
			set(&t.Title, p.Title)
			if p.Logo != nil {
				t.Logo = logo
			}
			if p.Frame != nil {
				t.Frames = strings.Fields(strings.Join(p.Frame, " "))
			}
			if p.Intro != nil || p.Contact != nil {
				texts := maps.Clone(t.Texts)
				if texts == nil {
					texts = map[partner.Language]partner.ThemeTexts{}
				}
				one := texts[partner.Language(p.Lang)]
				set(&one.Intro, p.Intro)
				set(&one.Contact, p.Contact)
				texts[partner.Language(p.Lang)] = one
				t.Texts = texts
			}
		})
		if err != nil {
			return err
		}
		return o.theme(changed)
	})
}

// readLogo reads no more of a file than a logo may have, and a byte to tell that it has more.
func readLogo(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, partner.MaxLogoFile+1))
}
