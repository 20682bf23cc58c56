package stored_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// picture is a PNG of noise or of one colour.
func picture(t *testing.T, wide, high int, noise bool) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, wide, high))
	state := uint32(1)
	for i := range img.Pix {
		if state = state*1664525 + 1013904223; noise {
			img.Pix[i] = byte(state >> 24)
		}
	}
	img.Set(0, 0, color.NRGBA{200, 10, 10, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheme(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		reg := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
		p, _ := e.NewPartner(t, partner.Live)
		other, _ := e.NewPartner(t, partner.Live)
		ctx := t.Context()
		_, err := reg.UpdateTheme(ctx, p.ID, func(th *partner.Theme) {
			th.Accent, th.Title, th.Frames = " #7A1FA2 ", "Meu Banco", []string{
				"https://APP.banco.com.br",
				"https://app.banco.com.br",
			}
			th.Texts = map[partner.Language]partner.ThemeTexts{partner.Spanish: {Intro: "Hola"}}
			th.Logo = append(picture(t, 200, 60, false), "<script>lixo no fim</script>"...)
		})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := reg.GetTheme(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		difftest.Must(t, "the accent", kept.Accent, "#7a1fa2")
		difftest.Must(t, "the Spanish text", kept.Texts[partner.Spanish].Intro, "Hola")
		difftest.Must(t, "the frames", kept.Frames, []string{"https://app.banco.com.br"})
		if len(kept.Logo) == 0 || bytes.Contains(kept.Logo, []byte("lixo")) {
			t.Error("the logo is as it came: what cannot be seen went along")
		}
		if none, err := reg.GetTheme(ctx, other.ID); err != nil || none.Title != "" || len(none.Logo) != 0 {
			t.Error("a theme of another's:", none, err)
		}
		own := reg.ForPartner(other.ID, true)
		if _, err := own.GetTheme(ctx, p.ID); !errors.Is(err, partner.ErrNotFound) {
			t.Error("a partner's own people see another's theme:", err)
		}
		if _, err := own.UpdateTheme(ctx, p.ID, func(*partner.Theme) {}); !errors.Is(err, partner.ErrNotFound) {
			t.Error("a partner's own people change another's theme:", err)
		}
	})
}

// TestThemeRefusals: each refusal says the rule, that of contrast the ratio too.
func TestThemeRefusals(t *testing.T) {
	e := storetest.Open(t, "sqlite")
	reg := partner.NewRegistry(e.Store.Partners, e.Clock.Now, nil)
	p, _ := e.NewPartner(t, partner.Live)
	for name, c := range map[string]struct {
		edit func(*partner.Theme)
		says string
	}{
		"grey on white":              {func(th *partner.Theme) { th.Accent = "#777777" }, "accent: its contrast is 4.47 to 1 on the white page, and people need at least 4.5 to 1"},
		"yellow links":               {func(th *partner.Theme) { th.Accent = "#ffcc00" }, "accent: its contrast is 1.5"},
		"button text":                {func(th *partner.Theme) { th.AccentText = "#0b57a5" }, "accent text: its contrast is 1."},
		"no colour":                  {func(th *partner.Theme) { th.Accent = "red;} body{display:none" }, "accent: a colour such as"},
		"a long title":               {func(th *partner.Theme) { th.Title = strings.Repeat("a", 81) }, "title: at most 80"},
		"a control character":        {func(th *partner.Theme) { th.Title = "a\x00b" }, "title: "},
		"another language":           {func(th *partner.Theme) { th.Texts = map[partner.Language]partner.ThemeTexts{"fr": {}} }, "lang: one of"},
		"a path in a frame":          {func(th *partner.Theme) { th.Frames = []string{"https://banco.com.br/x"} }, "frame: an origin"},
		"a frame for all":            {func(th *partner.Theme) { th.Frames = []string{"*"} }, "frame: an origin"},
		"a frame that ends the list": {func(th *partner.Theme) { th.Frames = []string{"https://a.com.br; script-src *"} }, "frame: an origin"},
		"http frames":                {func(th *partner.Theme) { th.Frames = []string{"http://banco.com.br"} }, "frame: an origin"},
		"an svg": {func(th *partner.Theme) {
			th.Logo = []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)
		}, "logo: a PNG or JPEG"},
		"a huge picture":  {func(th *partner.Theme) { th.Logo = picture(t, 1025, 10, false) }, "logo: at most 1024 by 512"},
		"a heavy picture": {func(th *partner.Theme) { th.Logo = picture(t, 200, 60, true) }, "at most 20 KiB"},
		"a heavy file":    {func(th *partner.Theme) { th.Logo = make([]byte, partner.MaxLogoFile+1) }, "logo: a file of at most"},
	} {
		_, err := reg.UpdateTheme(t.Context(), p.ID, c.edit)
		var f *fault.Error
		if !errors.As(err, &f) || !errors.Is(err, partner.ErrInvalid) || !strings.Contains(f.Detail(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept, err := reg.GetTheme(t.Context(), p.ID); err != nil || kept.Accent != "" || kept.Logo != nil {
		t.Error("a refused theme was kept:", kept, err)
	}
}

// TestContrast holds the formula against published pairs.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#ffffff", "#ffffff", 1}, {"#777777", "#ffffff", 4.478}, {"#0000ff", "#ffffff", 8.592}, {"#ff0000", "#ffffff", 3.998}} {
		if got := partner.ContrastRatio(c.a, c.b); got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("%s on %s: %.3f, want %.3f", c.a, c.b, got, c.want)
		}
	}
}
