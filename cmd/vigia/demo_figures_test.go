package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
	"github.com/vigiahq/vigia/internal/platform/polltest"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestFiguresAreTheirRows: every figure of the overview, of leaks, partners and people, and of a partner's own first
// page, is the number of rows behind its link, on the demo's data after an import, a retraction and an erasure.
func TestFiguresAreTheirRows(t *testing.T) {
	gatetest.Needs(t, gatetest.Processes)
	data := filepath.Join(t.TempDir(), "demo")
	out, _ := startDemo(t, data)
	printed := out.String()
	eventually(t, "30 days of a made-up past", out.String)
	visit := enterDemo(t, printed)
	demoFindsPeople(t, printed, visit)
	const retracted = "/breaches/clube-de-viagem"
	visit(retracted+"/retract", url.Values{"confirm": {"clube-de-viagem"}})
	eventually(t, "Retirado", func() string { return visit(retracted, nil) })
	erased := makePerson(4).CPF
	if page := visit("/subjects/erase", url.Values{
		"cpf": {erased}, "reason": {"pedido do titular"}, "confirm": {"APAGAR"},
	}); !strings.Contains(page, "apagad") {
		t.Fatal("nobody was erased:", page)
	}
	a, err := app.OpenApp(t.Context(), config.Common{Data: data}, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()

	pages := []string{"/", "/?dias=7", "/?dias=365"}
	for _, leak := range hrefsOf(visit("/breaches", nil), `^/breaches/[a-z]+(-[a-z]+)*$`) {
		if leak != "/breaches/new" {
			pages = append(pages, leak)
		}
	}
	live := ""
	for _, path := range hrefsOf(visit("/partners", nil), `^/partners/pt_[^/]+$`) {
		pages = append(pages, path)
		if strings.Contains(visit(path, nil), "<title>Banco Ipê-Roxo") {
			live = strings.TrimPrefix(path, "/partners/")
		}
	}
	people := hrefsOf(visit("/people?partner="+live, nil), `^/people/pt_[^/]+/us_`)
	pages = append(pages, people[:min(3, len(people))]...)
	if len(pages) < 12 || len(people) < 3 {
		t.Fatal("too little to look at:", pages)
	}
	yesterday := []partner.LoggedRequest{{
		At: time.Now().Add(-24 * time.Hour), Operation: "GET /cyber/cases", Status: http.StatusNotFound,
	}}
	if err := a.Store.Partners.LogRequests(t.Context(), partner.ID(live), yesterday); err != nil {
		t.Fatal(err)
	}
	looked := lookAtFigures(t, a, pages, visit)
	if looked < 150 {
		t.Errorf("only %d figures were looked at", looked)
	}
	if ours := lookAtFigures(t, a, []string{"/"}, enterInvited(t, a, printed, partner.ID(live))); ours < 5 {
		t.Errorf("only %d figures of the partner's own first page were looked at", ours)
	}
}

// enterInvited logs in as one of a partner's own people.
func enterInvited(t *testing.T, a *app.App, printed string, id partner.ID) func(string, url.Values) string {
	t.Helper()
	_, token, err := a.Operators.InvitePartnerOperator(t.Context(), id, "dev@banco.example", operator.Developer)
	if err != nil {
		t.Fatal(err)
	}
	const password = "girafa amarela no telhado"
	console := demoLogin.FindStringSubmatch(printed)[1]
	browser := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := browser.PostForm(console+"/link/"+token, url.Values{"password": {password}, "again": {password}})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if len(res.Cookies()) == 0 {
		t.Fatal("the invitation is refused:", res.Status)
	}
	return visitDemo(t, console, res.Cookies()[0])
}

// lookAtFigures compares every figure of some pages with the rows behind it, and returns how many it looked at.
func lookAtFigures(t *testing.T, a *app.App, pages []string, visit func(string, url.Values) string) (looked int) {
	t.Helper()
	for _, path := range pages {
		polltest.Watch(t, func() (string, bool) { // deliveries end and are counted while one looks
			if err := a.Store.Overview.CountFigures(context.Background(), 0); err != nil {
				t.Fatal(err)
			}
			wrong, n := figuresThatDiffer(t, visit(path, nil), visit)
			looked += n
			return path + ":\n" + strings.Join(wrong, "\n"), len(wrong) == 0
		})
	}
	return looked
}

// figure is a number of a page and where it leads.
type figure struct {
	href, text string
	n          int
}

// figuresThatDiffer compares the figures of a page with the rows behind their links; a large figure without a link is
// wrong by itself.
func figuresThatDiffer(
	t *testing.T, page string, visit func(string, url.Values) string,
) (wrong []string, looked int) {
	t.Helper()
	main := findNode(parseHTML(t, page), func(n *html.Node) bool { return n.Data == "main" })
	for _, f := range figuresIn(main) {
		looked++
		if rows := countRows(t, f.href, visit); rows != f.n {
			wrong = append(wrong, fmt.Sprintf("%q says %d, and %s has %d rows", f.text, f.n, f.href, rows))
		}
	}
	eachNode(main, func(n *html.Node) {
		isTile := n.Data == "div" && hasClass(n, "tile") || n.Data == "span" && hasClass(n, "tile")
		strong := findNode(n, func(n *html.Node) bool { return n.Data == "strong" })
		if isTile && strong != nil && numberOf(textOf(strong)) >= 0 {
			wrong = append(wrong, fmt.Sprintf("%q leads to no rows", textOf(n)))
		}
	})
	return wrong, looked
}

// figureList are the lists that figures lead to.
var figureList = regexp.MustCompile(
	`^/(findings|people|monitoring|deliveries|devices|subscriptions|breaches|cases|partners/[^/]+/requests)(\?|$)`,
)

// figuresIn returns the links to lists that have a number in them, or one beside them.
func figuresIn(main *html.Node) (list []figure) {
	eachNode(main, func(n *html.Node) {
		href := attribute(n, "href")
		if n.Data != "a" || !figureList.MatchString(href) {
			return
		}
		number := findNode(n, func(n *html.Node) bool { return n.Data == "strong" || n.Data == "b" })
		if number == nil && n.Parent != nil && hasClass(n.Parent, "line") {
			number = findNode(n.Parent, func(n *html.Node) bool { return n.Data == "b" })
		}
		text := textOf(n)
		if number != nil {
			text = textOf(number)
		}
		if v := numberOf(text); v >= 0 {
			list = append(list, figure{href, textOf(n), v})
		}
	})
	return list
}

var (
	firstNumber = regexp.MustCompile(`\d[\d.]*`)
	spaces      = regexp.MustCompile(`\s+`)
)

// numberOf returns the first number of a text, which may have dots between its thousands; -1 without one.
func numberOf(text string) int {
	found := firstNumber.FindString(text)
	if found == "" {
		return -1
	}
	n, err := strconv.Atoi(strings.ReplaceAll(found, ".", ""))
	if err != nil {
		return -1
	}
	return n
}

// countRows counts the rows of a list on all its pages.
func countRows(t *testing.T, href string, visit func(string, url.Values) string) (rows int) {
	t.Helper()
	for seen := []string{}; href != ""; {
		if slices.Contains(seen, href) {
			t.Fatal("the pages of the list go round:", href)
		}
		seen = append(seen, href)
		main := findNode(parseHTML(t, visit(href, nil)), func(n *html.Node) bool { return n.Data == "main" })
		table := findNode(main, func(n *html.Node) bool { return n.Data == "table" && n.Parent.Data == "div" })
		href = ""
		if table != nil && findNode(main, func(n *html.Node) bool { return hasClass(n, "empty") }) == nil {
			eachNode(table, func(n *html.Node) {
				if n.Data == "tr" && n.Parent.Data == "tbody" && !hasClass(n, "by") {
					rows++
				}
			})
		}
		next := findNode(main, func(n *html.Node) bool { return n.Data == "a" && attribute(n, "rel") == "next" })
		if next != nil && attribute(next, "class") == "" {
			href = attribute(next, "href")
		}
	}
	return rows
}

func parseHTML(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func eachNode(n *html.Node, do func(*html.Node)) {
	do(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		eachNode(c, do)
	}
}

// findNode returns the first node for which is holds; nil without one.
func findNode(n *html.Node, is func(*html.Node) bool) (found *html.Node) {
	eachNode(n, func(one *html.Node) {
		if found == nil && one.Type == html.ElementNode && is(one) {
			found = one
		}
	})
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

func textOf(n *html.Node) string {
	var b strings.Builder
	eachNode(n, func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
	})
	return strings.TrimSpace(spaces.ReplaceAllString(b.String(), " "))
}

// hrefsOf returns where the links of a page lead, those that fit, each once.
func hrefsOf(page, fits string) (list []string) {
	is := regexp.MustCompile(fits)
	for _, m := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if href := html.UnescapeString(m[1]); is.MatchString(href) && !slices.Contains(list, href) {
			list = append(list, href)
		}
	}
	return list
}
