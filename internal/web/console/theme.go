package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/vigiahq/vigia/internal/partner"
)

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
	p, err := c.partnerInPath(r)
	if err != nil {
		return nil, err
	}
	theme, err := c.Rules.Partners.GetTheme(r.Context(), p.ID)
	if err != nil {
		return nil, err
	}
	page := themePage{Partner: p, Theme: theme, Langs: partner.ListLanguages()}
	page.Accent, page.AccentText = theme.EffectiveColours()
	return view{"theme", "Página das pessoas", page}, nil
}

// saveTheme stores colours, logo, texts and the sites that may frame the page.
func saveTheme(c *Console, r *request) (answer, error) {
	if err := r.ParseMultipartForm(maxForm); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, errForm.Because(err)
	}
	logo, err := r.uploadedPicture("file")
	if err != nil {
		return nil, err
	}
	id := partnerOf(r)
	next := redirect{partnerPath(id) + "/theme", "theme.saved"}
	return c.changeAndRedirect(r, "partner.theme", next, func(ctx context.Context, in *Rules) (string, string, error) {
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
	})
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
