package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
)

// startDemo runs the demo until the test ends and returns what it prints, once the tour is there.
func startDemo(t *testing.T, data string, args ...string) (out *lockedBuffer, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out = &lockedBuffer{}
	var errs lockedBuffer
	done := make(chan int, 1)
	go func() {
		done <- runCommand(ctx, append([]string{"demo", "--data", data, "--listen", "127.0.0.1:0", "--console-listen", "127.0.0.1:0", "--receiver-listen", "127.0.0.1:0"}, args...), out, &errs)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("the demo ended with %d: %s", code, errs.String())
		}
	})
	t.Cleanup(stop)
	deadline := time.Now().Add(3 * time.Minute)
	for !strings.Contains(out.String(), "Stop with Ctrl-C") {
		if time.Now().After(deadline) {
			t.Fatalf("the demo did not come up:\n%s\n%s", out.String(), errs.String())
		}
		select {
		case code := <-done:
			done <- code
			t.Fatalf("the demo ended with %d: %s", code, errs.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return out, stop
}

// TestDemoTour pastes every printed line into a shell and compares the answer with what stands under it.
func TestDemoTour(t *testing.T) {
	gatetest.Needs(t, gatetest.Programs)
	data := filepath.Join(t.TempDir(), "demo")
	out, stop := startDemo(t, data, "--tour")
	printed := out.String()
	if !strings.Contains(printed, "http://localhost:") {
		t.Error("the console is not named by localhost, without which there are no passkeys:", printed)
	}
	if pasted := pasteTour(t, printed); pasted < 14 {
		t.Errorf("%d lines to paste; each of the 14 operations has one", pasted)
	}
	herPage := regexp.MustCompile(`Ana's page +(http://\S+)`).FindStringSubmatch(printed)
	if herPage == nil {
		t.Fatal("no link to the person's page in\n", printed)
	}
	entered, err := http.Get(herPage[1])
	if err != nil {
		t.Fatal(err)
	}
	_ = entered.Body.Close()
	if entered.StatusCode != http.StatusOK || len(entered.Cookies()) == 0 {
		t.Error("the link to the person's page opens none:", entered.Status)
	}
	api := regexp.MustCompile(`Partner API +(http://\S+)`).FindStringSubmatch(printed)
	if api == nil || !strings.Contains(page(t, api[1]+"/"), "<html") {
		t.Error("the address of the API leads to no page:", api)
	}
	alerts := regexp.MustCompile(`Alerts +(http://\S+)`).FindStringSubmatch(printed)
	if alerts == nil {
		t.Fatal("no alerts page in the tour")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for !strings.Contains(page(t, alerts[1]), "monitoring.leak_detected") {
		if time.Now().After(deadline) {
			t.Fatal("no signed alert arrived")
		}
		time.Sleep(50 * time.Millisecond)
	}
	visit := enterDemo(t, printed)
	demoHasAPast(t, out, visit)
	demoFindsPeople(t, printed, visit)
	stop()

	key := regexp.MustCompile(`API key +(\S+)`)
	first := key.FindStringSubmatch(printed)[1]
	again, stop := startDemo(t, data)
	if pasted := pasteTour(t, again.String()); pasted != 5 {
		t.Errorf("%d lines to paste without --tour", pasted)
	}
	if got := key.FindStringSubmatch(again.String())[1]; got != first {
		t.Error("the second start has another partner")
	}
	enterDemo(t, again.String())
	stop()
	fresh, _ := startDemo(t, data, "--fresh") // and is stopped in the middle of its past
	if got := key.FindStringSubmatch(fresh.String())[1]; got == first {
		t.Error("--fresh kept the partner")
	}
}

// pasteTour pastes every printed line into a shell, behind the exports, and compares the answer with what stands under
// it. It returns how many there were.
func pasteTour(t *testing.T, printed string) (pasted int) {
	t.Helper()
	var exports []string
	rows := strings.Split(printed, "\n")
	for i, row := range rows {
		if strings.HasPrefix(row, "export ") {
			exports = append(exports, row)
		}
		if !strings.HasPrefix(row, "curl ") {
			continue
		}
		want := strings.TrimSpace(strings.TrimPrefix(rows[i+1], "#"))
		shell := exec.CommandContext(t.Context(), "bash", "-c", strings.Join(append(exports, row), "\n"))
		got, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, got, row)
		}
		if !strings.HasPrefix(string(got), want) || want == "" {
			t.Errorf("%s\n%s\n got %s\nwant %s...", rows[i-1], row, got, want)
		}
		pasted++
	}
	return pasted
}

// enterDemo logs in the way the demo says, and returns how to look at a page or, with a form, to send one.
func enterDemo(t *testing.T, printed string) func(path string, form url.Values) string {
	t.Helper()
	m := regexp.MustCompile(`Console +(http://\S+) +\(log in as (\S+), password (\S+)\)`).FindStringSubmatch(printed)
	if m == nil {
		t.Fatalf("no log-in in\n%s", printed)
	}
	browser := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := browser.PostForm(m[1]+"/login", url.Values{"email": {m[2]}, "password": {m[3]}})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if len(res.Cookies()) == 0 {
		t.Fatalf("the printed log-in is refused: %d", res.StatusCode)
	}
	return visitDemo(t, m[1], res.Cookies()[0])
}

// visitDemo returns what opens pages of the console, and sends their forms, in a session.
func visitDemo(t *testing.T, console string, session *http.Cookie) func(path string, form url.Values) string {
	t.Helper()
	browser := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(path string, form url.Values) string {
		t.Helper()
		method, body := http.MethodGet, io.Reader(http.NoBody)
		if form != nil {
			method, body = http.MethodPost, strings.NewReader(form.Encode())
		}
		req, err := http.NewRequestWithContext(t.Context(), method, console+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("content-type", "application/x-www-form-urlencoded")
		req.AddCookie(session)
		res, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 400 {
			t.Fatal(method, path, res.StatusCode, err)
		}
		return string(text)
	}
}

// eventually waits until a text is there.
func eventually(t *testing.T, what string, text func() string) {
	t.Helper()
	polltest.Watch(t, func() (string, bool) {
		return fmt.Sprintf("%q never came:\n%s", what, text()), strings.Contains(text(), what)
	})
}

// demoHasAPast: every picture of the console shows something.
func demoHasAPast(t *testing.T, out *lockedBuffer, visit func(string, url.Values) string) {
	t.Helper()
	eventually(t, "30 days of a made-up past", out.String)
	pages := []string{"/", "/breaches", "/cases", "/partners"}
	for _, p := range regexp.MustCompile(`/partners/pt_[^"/]+`).FindAllString(visit("/partners", nil), -1) {
		if text := visit(p, nil); strings.Contains(text, "<title>Banco Ipê-Roxo") {
			pages = append(pages, regexp.MustCompile(`/webhooks/pt_[^"/]+/whe_[^"/]+`).FindAllString(text, -1)...)
		}
	}
	if len(pages) < 6 {
		t.Errorf("the live partner has two webhooks: %v", pages)
	}
	for _, path := range pages {
		text := visit(path, nil)
		if !strings.Contains(text, `class="picture"`) {
			t.Errorf("%s has no picture", path)
		}
		for _, empty := range regexp.MustCompile(`<h3>([^<]*)</h3><p class="soft">Nada neste período`).FindAllStringSubmatch(text, -1) {
			t.Errorf("%s: nothing to see in %q", path, empty[1])
		}
	}
	for path, want := range map[string]string{
		"/deliveries?state=failed": "case.", "/deliveries?state=pending": "<td", "/cases": "Atrasado há", "/findings?severity=critical": "<td",
	} {
		if !strings.Contains(visit(path, nil), want) {
			t.Errorf("%s has no %q", path, want)
		}
	}
}

// demoFindsPeople: importing the file that the demo names finds people of the live partner.
func demoFindsPeople(t *testing.T, printed string, visit func(string, url.Values) string) {
	t.Helper()
	dump := regexp.MustCompile(`Leak +(\S+)`).FindStringSubmatch(printed)
	if dump == nil {
		t.Fatalf("no dump in\n%s", printed)
	}
	visit(
		"/breaches/new",
		url.Values{
			"name":  {"importado"},
			"title": {"Importado no teste"},
			"date":  {"2026-03-01"},
			"kind":  {"breach"},
			"paths": {dump[1]},
		},
	)
	eventually(t, "Publicado", func() string { return visit("/breaches/importado", nil) })
	eventually(
		t,
		`data-label="Parceiro">Banco Ipê-Roxo`,
		func() string { return visit("/findings?breach=importado", nil) },
	)
}

func page(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestDemoLeavesOthersAlone: the demo neither works in a folder that it did not make, with --fresh or without, nor with
// keys, breaches or a database from elsewhere, and writes nothing there.
func TestDemoLeavesOthersAlone(t *testing.T) {
	demo := []string{
		"demo", "--listen", "127.0.0.1:0", "--console-listen", "127.0.0.1:0", "--receiver-listen", "127.0.0.1:0",
	}
	inUse := filepath.Join(t.TempDir(), "data")
	if code, _, errs := vigia(t, "partner", "create", "Banco", "--data", inUse, "--people", "10"); code != 0 {
		t.Fatal(errs)
	}
	guessed := t.TempDir() // files of a demo alone do not make it one
	for _, name := range []string{demoFile, demoMark} {
		if err := os.WriteFile(filepath.Join(guessed, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for what, folder := range map[string]string{"in use": inUse, "empty": t.TempDir(), "marked by hand": guessed} {
		before := folderDigest(t, folder)
		for _, more := range [][]string{nil, {"--fresh"}} {
			code, _, errs := vigia(t, slices.Concat(demo, []string{"--data", folder}, more)...)
			if code == 0 || !strings.Contains(errs, "left alone") {
				t.Errorf("%s, %v: %d %s", what, more, code, errs)
			}
		}
		if folderDigest(t, folder) != before {
			t.Errorf("%s: something was written", what)
		}
	}
	for flag, value := range map[string]string{
		"--key-file": filepath.Join(inUse, "keys.json"),
		"--corpora":  "file://" + inUse,
		"--database": "postgres://localhost/vigia",
		"--kms":      "hcvault://localhost/transit/keys/vigia",
	} {
		folder := filepath.Join(t.TempDir(), "demo")
		code, _, errs := vigia(t, slices.Concat(demo, []string{"--data", folder, flag, value})...)
		if code == 0 || !strings.Contains(errs, "of its own: leave "+flag) {
			t.Errorf("%s: %d %s", flag, code, errs)
		}
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a folder was made", flag)
		}
	}
}

// folderDigest returns a digest of the names and contents of all files of a folder.
func folderDigest(t *testing.T, folder string) (sum [sha256.Size]byte) {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, path))
		_, _ = fmt.Fprintf(h, "%s %x\n", path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// TestFreeAddress: the demo starts beside whatever has its usual ports; an address that somebody asked for is not
// replaced.
func TestFreeAddress(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	taken := l.Addr().String()
	if got := freeListenAddress(t.Context(), taken, taken); got != "127.0.0.1:0" {
		t.Error(got)
	}
	if got := freeListenAddress(t.Context(), taken, "127.0.0.1:1"); got != taken {
		t.Error(got)
	}
	_ = l.Close()
	if got := freeListenAddress(t.Context(), taken, taken); got != taken {
		t.Error(got)
	}
}
