package console_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestThemePage: the look of people's pages is set in the console too, refused in Portuguese, and in the audit trail.
func TestThemePage(t *testing.T) {
	t.Parallel()
	d := newAdmin(t)
	p, _, err := d.app.Partners.CreatePartner(t.Context(), "Banco Exemplo", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	path := "/partners/" + string(p.ID) + "/theme"
	colours := []string{"accent", "#ffcc00", "accent_text", "#000000", "title", "Proteção"}
	_, page := d.post(http.StatusUnprocessableEntity, path, colours...)
	if !strings.Contains(page, "O contraste é de 1,5") && !strings.Contains(page, "O contraste é de 1.5") || !strings.Contains(page, "Proteção") {
		t.Error("the ratio is not said, or what was typed is lost:", page)
	}
	colours[1], colours[3] = "#7a1fa2", "#ffffff"
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 40, 20))); err != nil {
		t.Fatal(err)
	}
	d.upload(http.StatusSeeOther, path, "logo.png", picture.String(), append(colours, "intro-es", "Hola", "frame", "https://app.banco.com.br")...)
	kept, err := d.app.Partners.GetTheme(t.Context(), p.ID)
	if err != nil || kept.Accent != "#7a1fa2" || kept.Texts[partner.Spanish].Intro != "Hola" || len(kept.Logo) == 0 || len(kept.Frames) != 1 {
		t.Fatalf("%+v %v", kept, err)
	}
	d.recorded("partner.theme", string(p.ID), "")
	if _, page := d.send(path, "", nil); !strings.Contains(page, "Hola") || !strings.Contains(page, "Retirar o logotipo") {
		t.Error("the page does not show what was kept:", page)
	}
	d.post(http.StatusSeeOther, path, append(colours, "no_logo", "on")...)
	if kept, err := d.app.Partners.GetTheme(t.Context(), p.ID); err != nil || len(kept.Logo) != 0 {
		t.Error("the logo is still there:", err)
	}
}
