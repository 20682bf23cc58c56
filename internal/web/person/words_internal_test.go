package person

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/web/pages"
)

// TestWords: every sentence that a page asks for is there in all three languages, with the same blanks, and none is
// left over.
func TestWords(t *testing.T) {
	asked := map[string]bool{}
	want := func(key string) {
		asked[key] = true
		if _, ok := words[key]; !ok {
			t.Errorf("no words for %s", key)
		}
	}
	literal := regexp.MustCompile(`\.T "([a-z.]+)"`)
	code := regexp.MustCompile(`"((?:done|fault|[a-z]+)\.[a-z._]+)"`)
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := templateFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			want(m[1])
		}
	}
	sources, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if strings.HasPrefix(name, "words") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			if _, ok := words[m[1]]; ok {
				asked[m[1]] = true
			}
		}
		for _, m := range regexp.MustCompile(`redirect\{[^,]+, "([a-z]+)"`).FindAllStringSubmatch(string(text), -1) {
			want("done." + m[1])
		}
	}
	for _, item := range menu {
		want(item.word)
	}
	for _, s := range []cyber.Status{cyber.StatusMonitored, cyber.StatusAlert, cyber.StatusCompromised} {
		want("status." + string(s))
		want("home." + string(s))
	}
	for _, s := range cyber.Severities() {
		want("severity." + string(s))
	}
	for _, e := range cyber.AllExposed() {
		want("exposed." + string(e))
	}
	for _, k := range identifier.ListKinds() {
		want("kind." + k.String())
	}
	for _, m := range []cyber.Mends{
		cyber.MendStealer, cyber.MendPassword, cyber.MendCard, cyber.MendSession, cyber.MendIdentity, cyber.MendMoney,
		cyber.MendHash, cyber.MendHealth, cyber.MendPhish, cyber.MendContact, cyber.MendDevice, cyber.MendWatch, cyber.MendAnswer,
	} {
		if m != cyber.MendWatch && m != cyber.MendAnswer {
			want("mend." + string(m))
		}
	}
	for _, k := range []identifier.Kind{identifier.CPF, identifier.Email, identifier.Phone, identifier.Card} {
		want("watch." + k.String())
	}
	for _, r := range []cyber.Resolution{
		cyber.ResolvedPasswordChanged, cyber.ResolvedAccountClosed, cyber.ResolvedCardReplaced, cyber.ResolvedNotMe,
		cyber.ResolvedOther, cyber.ResolvedRetracted,
	} {
		want("resolution." + string(r))
	}
	for kind := fault.Internal; kind <= fault.Unavailable; kind++ {
		want("problem." + kind.String())
	}
	for _, s := range cyber.CaseStatuses() {
		want(caseStatus[s])
	}
	blank := regexp.MustCompile(`\{[a-z]*\}`)
	for key, said := range words {
		if !asked[key] && !strings.HasPrefix(key, "fault.") {
			t.Errorf("%s is said nowhere", key)
		}
		for i, text := range said {
			if text == "" && !(i == 0 && (key == "foreign" || key == "data.lang")) {
				t.Errorf("%s is missing in language %d", key, i)
			}
			if marks := blank.FindAllString(text, -1); !slices.Equal(sorted(marks), sorted(blank.FindAllString(said[0], -1))) {
				t.Errorf("%s has other blanks in language %d: %v", key, i, marks)
			}
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// TestPagesParse: a page is parsed when it is shown first, so a broken one must be noticed here.
func TestPagesParse(t *testing.T) {
	templates, err := pages.ParseTemplates(templateFiles, functions, "layout.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range templates.Names() {
		if _, err := templates.Find(name); err != nil {
			t.Error(err)
		}
	}
}

// brokenServices is a store that cannot be read.
type brokenServices struct{ cyber.ServiceStore }

var errBroken = fault.New(fault.Unavailable, "store.broken")

func (brokenServices) ListServices(context.Context) ([]cyber.Service, error) { return nil, errBroken }

// TestGatherReturnsErrors: what a page shows is gathered without HTTP, and a rule that fails is the page's error.
func TestGatherReturnsErrors(t *testing.T) {
	p := &Pages{Options: Options{Rules: Rules{Services: cyber.NewServices(brokenServices{}, time.Now)}}}
	if _, err := p.gatherCases(t.Context(), visitor{}); !errors.Is(err, errBroken) {
		t.Error("the page of cases:", err)
	}
	if _, err := p.loadService(t.Context(), "pt_1", "sv_1"); !errors.Is(err, errBroken) {
		t.Error("the page of a service:", err)
	}
}

// TestFirstNameOf: a name is greeted as one writes it, whatever the partner sent; an initial greets nobody.
func TestFirstNameOf(t *testing.T) {
	for name, want := range map[string]string{
		"Ana Souza":      "Ana",
		"ÉRICA DA LUZ":   "Érica",
		" joão  batista": "João",
		"A. Souza":       "",
		"X Y":            "",
		"":               "",
	} {
		if got := firstNameOf(name); got != want {
			t.Errorf("%q is greeted as %q, not %q", name, got, want)
		}
	}
}
