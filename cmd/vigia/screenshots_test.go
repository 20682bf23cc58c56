package main

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const pictureFolder = "../../docs/console"

// consolePictures are the main pages: where each is, and, for a page that has no address of its own, the link that
// leads there.
var consolePictures = []struct{ name, path, link string }{
	{"overview", "/", ""},
	{"person", "/people?state=open", `tbody a.open`},
	{"cases", "/cases", ""},
	{"case", "/cases?status=Resolvido", ".open"},
	{"findings", "/findings", ""},
	{"breaches", "/breaches", ""},
	{"breach", "/breaches/clube-de-viagem", ""},
	{"partners", "/partners", ""},
	{"webhook", "", `td a[href*="/webhooks/"]`},
	{"deliveries", "/deliveries?state=failed", ""},
}

// TestConsolePictures takes the pictures of docs/console.md anew, from the demo. It runs for scripts/screenshots alone.
func TestConsolePictures(t *testing.T) {
	if os.Getenv("VIGIA_TEST_SCREENSHOTS") == "" {
		t.Skip("VIGIA_TEST_SCREENSHOTS is not set")
	}
	takePictures(t)
}

// takePictures starts a demo and looks at its pages as an administrator does.
func takePictures(t *testing.T) {
	t.Helper()
	out, _ := startDemo(t, filepath.Join(t.TempDir(), "demo"))
	eventually(t, "30 days of a made-up past", out.String)
	m := regexp.MustCompile(`Console +(http://\S+) +\(log in as (\S+), password (\S+)\)`).FindStringSubmatch(out.String())
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 900), chromedp.Flag("lang", "pt-BR"),
		chromedp.Flag("hide-scrollbars", true))
	allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	ctx, quit := chromedp.NewContext(allocated)
	defer quit()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, steps...); err != nil {
			t.Fatal(err)
		}
	}
	do(chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1280, 900))
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}},
	}); err != nil {
		t.Fatal(err)
	}
	press := func(selector string) {
		t.Helper()
		if _, err := chromedp.RunResponse(ctx, chromedp.Click(selector, chromedp.NodeVisible)); err != nil {
			t.Fatal(selector, err)
		}
	}
	do(
		chromedp.Navigate(m[1]+"/login"),
		chromedp.SetValue(`[name="email"]`, m[2], chromedp.NodeVisible),
		chromedp.SetValue(`[name="password"]`, m[3], chromedp.NodeVisible),
	)
	press(`form[action="/login"] button`)
	for _, p := range consolePictures {
		if p.path != "" {
			do(chromedp.Navigate(m[1] + p.path))
		} else {
			do(chromedp.Navigate(m[1] + livePartnerPage(t, out.String())))
		}
		if p.link != "" {
			press(p.link)
		}
		raw, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(p.name, err)
		}
		small, err := fewColours(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(pictureFolder, p.name+".png"), small, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// livePartnerPage is the page of the partner that has a past.
func livePartnerPage(t *testing.T, printed string) string {
	t.Helper()
	visit := enterDemo(t, printed)
	for _, path := range regexp.MustCompile(`/partners/pt_[^"/]+`).FindAllString(visit("/partners", nil), -1) {
		if strings.Contains(visit(path, nil), "<title>Banco Ipê-Roxo") {
			return path
		}
	}
	t.Fatal("no live partner")
	return ""
}

// fewColours keeps the 256 colours that a picture has most of: a page has few, and the rest is the edges of letters.
func fewColours(raw []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	count := map[color.RGBA]int{}
	bounds := full.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	var colours []color.RGBA
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.RGBA) int { return count[b] - count[a] })
	palette := color.Palette{}
	for _, c := range colours[:min(len(colours), 256)] {
		palette = append(palette, c)
	}
	index := map[color.RGBA]uint8{}
	for _, c := range colours {
		index[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			small.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}
