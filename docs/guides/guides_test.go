package guides_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/client"
	"github.com/vigiahq/vigia/docs/guides"
	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// languages are the six that the guides speak: how a block of code becomes a program.
var languages = []struct {
	name, fence string
	prepare     func(t *testing.T, folder, code string) []string
}{
	{"Go", "go", func(t *testing.T, folder, code string) []string {
		write(t, filepath.Join(folder, "main.go"), code)
		program := filepath.Join(folder, "program")
		mustRun(
			t,
			"go",
			"build",
			"-ldflags=-s -w",
			"-o",
			program,
			filepath.Join(folder, "main.go"),
		) // here, inside the module
		return []string{program}
	}},
	{"Python", "python", func(t *testing.T, folder, code string) []string {
		return []string{"python3", write(t, filepath.Join(folder, "program.py"), code)}
	}},
	{"JavaScript", "js", func(t *testing.T, folder, code string) []string {
		return []string{"node", write(t, filepath.Join(folder, "program.mjs"), code)}
	}},
	{"Java", "java", func(t *testing.T, folder, code string) []string {
		const bouncyCastle = "/usr/share/java/bcprov.jar"
		class := regexp.MustCompile(`(?m)^class (\w+)`).FindStringSubmatch(code)
		// Both run for a moment: they are told not to prepare for more.
		mustRun(
			t,
			"javac",
			"-J-XX:TieredStopAtLevel=1",
			"-J-XX:+UseSerialGC",
			"-proc:none",
			"-cp",
			bouncyCastle,
			"-d",
			folder,
			write(t, filepath.Join(folder, class[1]+".java"), code),
		)
		return []string{
			"java",
			"-XX:TieredStopAtLevel=1",
			"-XX:+UseSerialGC",
			"-Dfile.encoding=UTF-8",
			"-cp",
			folder + ":" + bouncyCastle,
			class[1],
		}
	}},
	{"PHP", "php", func(t *testing.T, folder, code string) []string {
		return []string{"php", write(t, filepath.Join(folder, "program.php"), code)}
	}},
	{"Ruby", "ruby", func(t *testing.T, folder, code string) []string {
		return []string{"ruby", write(t, filepath.Join(folder, "program.rb"), code)}
	}},
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustRun(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, out)
	}
}

// run starts a program and returns its output and whether it ended well.
func run(t *testing.T, program, environment []string, stdin []byte, args ...string) (string, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program[0], append(program[1:len(program):len(program)], args...)...)
	cmd.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8"), environment...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err == nil
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// code returns the only block of a language in a guide; "" when it has none.
func code(t *testing.T, guide, language string) string {
	t.Helper()
	var found []string
	for _, m := range fence.FindAllStringSubmatch(text(t, guide), -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	switch len(found) {
	case 0:
		return ""
	case 1:
		return found[0]
	}
	t.Fatalf("%s.md has %d blocks of %s", guide, len(found), language)
	return ""
}

func text(t *testing.T, guide string) string {
	t.Helper()
	raw, err := os.ReadFile(guide + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// each runs fn with the program that a guide has for every language; min says how many there must be.
func each(t *testing.T, guide string, least int, fn func(t *testing.T, program []string)) {
	t.Helper()
	count := 0
	for _, l := range languages {
		source := code(t, guide, l.fence)
		if source == "" {
			continue
		}
		count++
		t.Run(l.name, func(t *testing.T) {
			gatetest.Needs(t, gatetest.Clients)
			fn(t, l.prepare(t, t.TempDir(), source))
		})
	}
	if count < least {
		t.Errorf("%s.md speaks %d languages", guide, count)
	}
}

func TestUserHash(t *testing.T) {
	vectors := regexp.MustCompile("(?m)^\\| `([0-9.-]+)` \\| `([^`]+)` \\| `([0-9a-f]{128})` \\|$").FindAllStringSubmatch(text(t, "user-hash"), -1)
	if len(vectors) != 3 {
		t.Fatalf("the guide has %d vectors", len(vectors))
	}
	for _, v := range vectors {
		if got := client.UserHash(v[1], v[2]); got != v[3] {
			t.Errorf("the guide's vector for %s is not what the client says: %s", v[1], got)
		}
	}
	each(t, "user-hash", 6, func(t *testing.T, program []string) {
		for _, v := range vectors {
			if got, ok := run(t, program, nil, nil, v[1], v[2]); !ok || got != v[3] {
				t.Errorf("%s with salt %s: %s", v[1], v[2], got)
			}
		}
	})
}

// delivery is a webhook as it arrives.
type delivery struct{ id, timestamp, signature, body string }

func sign(secret []byte, id string, at time.Time, body string) delivery {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + stamp + "." + body))
	return delivery{id, stamp, "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), body}
}

func TestVerifyWebhooks(t *testing.T) {
	secret, other := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{8}, 32)
	const body = `{"type":"webhook.test","timestamp":"2026-01-01T00:00:00.000Z","data":{"nome":"João"}}`
	each(t, "verify-webhooks", 6, func(t *testing.T, program []string) {
		// Each is made when it is sent: a slow machine takes a while for all of them.
		good := func() delivery { return sign(secret, "evt_01", time.Now(), body) }
		change := func(fn func(d *delivery)) func() delivery {
			return func() delivery { d := good(); fn(&d); return d }
		}
		made := func(key []byte, id string, ago time.Duration) func() delivery {
			return func() delivery { return sign(key, id, time.Now().Add(-ago), body) }
		}
		for name, c := range map[string]struct {
			make   func() delivery
			accept bool
		}{
			"as sent":            {good, true},
			"during a rotation":  {change(func(d *delivery) { d.signature = made(other, "evt_01", 0)().signature + " " + d.signature }), true},
			"with another key":   {made(other, "evt_01", 0), false},
			"body changed":       {change(func(d *delivery) { d.body += " " }), false},
			"id changed":         {change(func(d *delivery) { d.id = "evt_02" }), false},
			"time changed":       {change(func(d *delivery) { d.timestamp = strconv.FormatInt(time.Now().Unix()+1, 10) }), false},
			"too old":            {made(secret, "evt_01", 6*time.Minute), false},
			"from the future":    {made(secret, "evt_01", -6*time.Minute), false},
			"time is no number":  {change(func(d *delivery) { d.timestamp = "now" }), false},
			"dot in the id":      {made(secret, "evt.01", 0), false},
			"no signature":       {change(func(d *delivery) { d.signature = "v1," }), false},
			"only another shape": {change(func(d *delivery) { d.signature = "v1a," + d.signature[3:] }), false},
		} {
			d := c.make()
			environment := []string{"WEBHOOK_SECRET=whsec_" + base64.StdEncoding.EncodeToString(secret)}
			got, ok := run(t, program, environment, []byte(d.body), d.id, d.timestamp, d.signature)
			if ok != c.accept || c.accept && got != "accepted "+d.id ||
				!c.accept && !strings.HasPrefix(got, "refused") {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

func TestBulkEnrolment(t *testing.T) {
	s := apptest.Start(t)
	environment := []string{"VIGIA_URL=" + s.URL, "VIGIA_KEY=" + s.Sandbox.APIKey}
	vigia, err := client.New(client.Config{URL: s.URL, Key: s.Sandbox.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	each(t, "bulk-enrolment", 3, func(t *testing.T, program []string) {
		const people = 1500 // two batches
		plan := fmt.Sprintf("plano-%d", total)
		list := filepath.Join(t.TempDir(), fmt.Sprintf("clientes-%d.csv", total))
		lines := []string{"cpf,name,email,birth_date,gender,phone,card,zipcode,street,number,neighborhood,city,state"}
		for i := range people {
			gender := "F"
			if i == 1199 {
				gender = "?"
			}
			lines = append(
				lines,
				fmt.Sprintf(
					"%011d,Pessoa %d,p%d@exemplo.com.br,1990-01-01,%s,5511987654321,4111111111111111,01001000,Rua,1,Centro,São Paulo,SP",
					i+1,
					i+1,
					i+1,
					gender,
				),
			)
		}
		write(t, list, strings.Join(lines, "\n")+"\n")
		for range 2 {
			got, ok := run(t, program, environment, nil, list, plan)
			if !ok || !strings.HasSuffix(got, "enrolled 1499") || strings.Count(got, "refused") != 1 ||
				!strings.Contains(got, "refused 00000001200") {
				t.Fatal(got)
			}
		}
		total += people - 1
		if page, err := vigia.ListSubscriptions(
			t.Context(),
			client.WithPage(1),
			client.WithPageSize(1),
		); err != nil ||
			page.Pagination.TotalItems != total {
			t.Errorf("%d subscriptions, expected %d: %v", page.Pagination.TotalItems, total, err)
		}
		write(t, list, strings.Replace(strings.Join(lines, "\n"), "Pessoa 3", "Pessoa X", 1)+"\n")
		if got, ok := run(t, program, environment, nil, list, plan); ok || !strings.Contains(got, "422") {
			t.Errorf("a list that changed under its name: %s", got)
		}
	})
}

// TestShell runs the commands of a guide in one shell, one block after the other, and compares what they print with the
// block below, in which "..." stands for anything.
func TestShell(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	for _, guide := range []string{"first-hour", "sandbox"} {
		t.Run(guide, func(t *testing.T) {
			s := apptest.Start(t)
			const mark = "\n=== end of block ===\n"
			script := "set -euo pipefail\n"
			var want []string
			blocks := fence.FindAllStringSubmatch(text(t, guide), -1)
			for i, b := range blocks {
				if b[1] != "sh" {
					continue
				}
				if i+1 == len(blocks) || blocks[i+1][1] != "text" {
					t.Fatalf("nothing says what this prints:\n%s", b[2])
				}
				script += b[2] + "printf '%s' $'" + strings.ReplaceAll(mark, "\n", `\n`) + "'\n"
				want = append(want, blocks[i+1][2])
			}
			environment := []string{
				"VIGIA_URL=" + s.URL,
				"VIGIA_KEY=" + s.Sandbox.APIKey,
				"VIGIA_SALT=" + s.Sandbox.Salt,
			}
			out, ok := run(
				t,
				[]string{"bash", write(t, filepath.Join(t.TempDir(), "guide.sh"), script)},
				environment,
				nil,
			)
			got := strings.Split(out+"\n", mark)
			if !ok || len(got) != len(want)+1 && len(got) != len(want) {
				t.Fatalf("%d of %d blocks ran:\n%s", len(got)-1, len(want), out)
			}
			for i := range want {
				if !matches(want[i], got[i]) {
					t.Errorf("block %d printed\n%s\nthe guide says\n%s", i+1, got[i], want[i])
				}
			}
		})
	}
}

// matches compares without regard to line breaks between answers of curl, which ends none.
func matches(want, got string) bool {
	clean := func(s string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(s) }
	parts := strings.Split(clean(want), "...")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`\A` + strings.Join(parts, `.*?`) + `\z`).MatchString(clean(got))
}

// TestGuidesAreWhole: every file is a guide and the other way round, and every block of code is one that a test runs.
func TestGuidesAreWhole(t *testing.T) {
	known := []string{"", "sh", "text"}
	for _, l := range languages {
		known = append(known, l.fence)
	}
	for _, folder := range []string{"", "pt/"} {
		all, err := guides.All(folder)
		if err != nil {
			t.Fatal(err)
		}
		if names, err := filepath.Glob(folder + "*.md"); err != nil || len(names) != len(all) {
			t.Errorf("%d files, %d guides in order, %v", len(names), len(all), err)
		}
		for _, g := range all {
			if g.Title == "" || strings.ContainsAny(g.Title, "#\n") {
				t.Errorf("%s%s: title %q", folder, g.Name, g.Title)
			}
			for _, m := range fence.FindAllStringSubmatch(string(g.Text), -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s%s: nobody runs a block of %s", folder, g.Name, m[1])
				}
			}
		}
	}
}

// vector is a line of the test vectors, a table that programs are tried with.
var vector = regexp.MustCompile("(?m)^\\| `[0-9.-]+` \\| .*$")

// TestPortugueseHasTheSameCode: the code in the guides in Portuguese is not run, so it is that of the English ones,
// which is. Headings correspond too: a part that only one language has is a part that the other's readers miss.
func TestPortugueseHasTheSameCode(t *testing.T) {
	english, err := guides.All("")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range english {
		portuguese := text(t, "pt/"+g.Name)
		for name, part := range map[string]func(string) []string{
			"code": tested,
			"headings": func(s string) []string {
				return regexp.MustCompile("(?m)^#+ ").FindAllString(fence.ReplaceAllString(s, ""), -1)
			},
			"vectors": func(s string) []string { return vector.FindAllString(s, -1) },
		} {
			if !slices.Equal(part(string(g.Text)), part(portuguese)) {
				t.Errorf("pt/%s.md: %s differ from the English guide's", g.Name, name)
			}
		}
	}
}

// tested are the blocks that say their language: what a test runs or compares.
func tested(page string) []string {
	var blocks []string
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		if m[1] != "" {
			blocks = append(blocks, m[0])
		}
	}
	return blocks
}
