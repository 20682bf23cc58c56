package app_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	codeBlock   = regexp.MustCompile("(?ms)^```.*?^```")
	linkTarget  = regexp.MustCompile(`\]\(([^)\s]+)\)|(?m:^\[[^\]]+\]: +(\S+))`)
	codeSpan    = regexp.MustCompile("`([^`\n]+)`")
	headingLine = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	otherHost   = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	folderName  = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_./-]*/$`)
	sourceName  = regexp.MustCompile(
		`^(cmd|internal|client|docs|scripts|bench|deploy|tools|\.ci)/[A-Za-z0-9_./-]+\.[a-z]+$`,
	)
	patternWord = regexp.MustCompile(`NNNN|\.\.\.`)
	// errorCode is a heading whose anchor is the heading itself: the page of errors has one for each code.
	errorCode  = regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)
	testName   = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz)[A-Z][A-Za-z0-9_]*$`)
	testOfTree = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)[A-Z][A-Za-z0-9_]*)\(`)
)

// TestDocumentsPointSomewhere checks what every Markdown page points to: relative links with their anchors, and the
// folders, files and tests named in backticks. A page that says "shown by" a test that is gone claims too much.
func TestDocumentsPointSomewhere(t *testing.T) {
	unwanted, tests := ignoredFolders(t), testsOfTree(t)
	for _, name := range treeFiles(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		text := codeBlock.ReplaceAllString(readTree(t, name), "")
		for _, match := range linkTarget.FindAllStringSubmatch(codeSpan.ReplaceAllString(text, ""), -1) {
			target := match[1] + match[2]
			if problem := judgeLink(t, name, target); problem != "" {
				t.Errorf("%s: link to %s: %s", name, target, problem)
			}
		}
		for _, match := range codeSpan.FindAllStringSubmatch(text, -1) {
			named := match[1]
			if testName.MatchString(named) && !tests[named] {
				t.Errorf("%s: names %s, which is no test", name, named)
			}
			isPath := folderName.MatchString(named) || sourceName.MatchString(named)
			if !isPath || patternWord.MatchString(named) || unwanted[strings.Trim(named, "/")] ||
				unwanted[path.Join(path.Dir(name), named)] {
				continue
			}
			if !inTree(named) && !inTree(path.Join(path.Dir(name), named)) {
				t.Errorf("%s: names %s, which does not exist", name, named)
			}
		}
	}
}

// judgeLink says what is wrong with a link, or nothing. Links to other hosts are not followed.
func judgeLink(t *testing.T, from, target string) string {
	t.Helper()
	if otherHost.MatchString(target) {
		return ""
	}
	file, anchor, _ := strings.Cut(target, "#")
	page := from
	if file != "" {
		page = path.Join(path.Dir(from), file)
		if !inTree(page) {
			return "no such file"
		}
	}
	if anchor == "" || !strings.HasSuffix(page, ".md") {
		return ""
	}
	for _, match := range headingLine.FindAllStringSubmatch(codeBlock.ReplaceAllString(readTree(t, page), ""), -1) {
		if slug(match[1]) == anchor || errorCode.MatchString(anchor) && match[1] == anchor {
			return ""
		}
	}
	return "no such heading"
}

// testsOfTree returns the names of all tests, benchmarks and fuzz targets.
func testsOfTree(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, file := range treeFiles(t) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, match := range testOfTree.FindAllStringSubmatch(readTree(t, file), -1) {
			names[match[1]] = true
		}
	}
	return names
}

// slug is the anchor that the usual Markdown renderers give to a heading.
func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// strangers are words that belong to one machine or one network and never into the tree. They are written in pieces, so
// that this file does not hold them.
var strangers = regexp.MustCompile(`(?:^|[^A-Za-z0-9_.~-])/(?:wo` + `rk|ro` + `ot)/[A-Za-z0-9_.]` +
	`|(?:proxy|sum)\.go` + `lang\.org|deb\.deb` + `ian\.org|registry\.npm` + `js\.org|py` + `pi\.org|crates` + `\.io`)

// strangersHold are what every stranger holds one of: to look for them is much quicker than to match.
var strangersHold = []string{
	"/wo" + "rk/",
	"/ro" + "ot/",
	".go" + "lang.org",
	".deb" + "ian.org",
	".npm" + "js.org",
	"py" + "pi.org",
	"crates" + ".io",
}

func holdsStrangers(text string) bool {
	return slices.ContainsFunc(strangersHold, func(part string) bool { return strings.Contains(text, part) })
}

// TestNoMachineInTheTree keeps the checkout's place on somebody's disk and the hosts of package registries out of all
// files.
func TestNoMachineInTheTree(t *testing.T) {
	for _, name := range treeFiles(t) {
		text := readTree(t, name)
		if bytes.IndexByte([]byte(text[:min(len(text), 8000)]), 0) >= 0 {
			continue // no text
		}
		if !holdsStrangers(text) {
			continue
		}
		for number, line := range strings.Split(text, "\n") {
			if found := strangers.FindString(line); found != "" {
				t.Errorf("%s:%d: holds %q", name, number+1, found)
			}
		}
	}
}

// TestStrangersAreFound shows that the expression finds what it is there for, and leaves addresses of our own alone.
func TestStrangersAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"see /wo" + "rk/main/x":              true,
		"HOME=/ro" + "ot/go":                 true,
		"https://proxy.go" + "lang.org/x":    true,
		"from sum.go" + "lang.org":           true,
		"mirror of deb.deb" + "ian.org":      true,
		"https://registry.npm" + "js.org/x":  true,
		"files of py" + "pi.org":             true,
		"see crates" + ".io/x":               true,
		"frame/wo" + "rk/flow":               false,
		"the routes / and /v1":               false,
		"https://example.com/wo" + "rk/item": false,
	} {
		if got := holdsStrangers(text) && strangers.MatchString(text); got != want {
			t.Errorf("%q: found %v", text, got)
		}
	}
}

func inTree(name string) bool {
	_, err := os.Stat(filepath.Join(treeRoot, filepath.FromSlash(name)))
	return err == nil
}

func readTree(t *testing.T, name string) string {
	t.Helper()
	if text, ok := treeTexts[name]; ok {
		return text
	}
	content, err := os.ReadFile(filepath.Join(treeRoot, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	treeTexts[name] = string(content)
	return treeTexts[name]
}
