package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/bench/load"
)

// read reads a file by its path from the top of the tree.
func read(name string) string { return string(load.Must(os.ReadFile("../../" + name))) }

// The figures of the page and the plots are what the committed raw results say.
func TestReadmeShowsTheResults(t *testing.T) {
	parts := marks.FindStringSubmatch(read(readme))
	if parts == nil {
		t.Fatal("the page has lost the marks around its figures")
	}
	figures := parts[1]
	name := regexp.MustCompile(`side-by-side-[0-9-]+\.json`).FindString(figures)
	var r report
	if err := json.Unmarshal([]byte(read(results+"/"+name)), &r); err != nil {
		t.Fatal(err)
	}
	if want := r.render(); figures != want {
		t.Errorf("the page does not show %s; it should be\n%s", name, want)
	}
	for _, g := range r.Groups {
		if read(results+"/"+r.plotFile(g)) != plot(g) {
			t.Errorf("%s is not the plot of the results", r.plotFile(g))
		}
	}
	if r.file() != name || len(r.Groups) < 6 {
		t.Errorf("%s: %d groups", r.file(), len(r.Groups))
	}
}

// Where Vigia is not the best of a line, the page says so.
func TestLossesAreListed(t *testing.T) {
	r := report{Date: "2026-01-01T00:00:00Z", Groups: []*group{{Title: "Work", Sides: []string{us, "Other"}, Measures: []measure{
		{What: "won", Unit: "a second", Values: map[string]float64{us: 2, "Other": 1}},
		{What: "slower", Unit: "a second", Values: map[string]float64{us: 1, "Other": 2}},
		{What: "larger", Unit: "bytes", Lower: true, Values: map[string]float64{us: 2, "Other": 1}},
		{What: "absent", Unit: "bytes", Values: map[string]float64{"Other": 1}},
	}}}}
	_, losses, _ := strings.Cut(r.render(), "Where Vigia loses")
	for what, want := range map[string]bool{"won": false, "slower": true, "larger": true, "absent": false} {
		if strings.Contains(losses, what) != want {
			t.Errorf("%s listed: %v, want %v", what, !want, want)
		}
	}
}

// The search over lines of any length finds every line and nothing else.
func TestSearchText(t *testing.T) {
	text := []byte("0000000001AA:1\r\n0000000003BB:200\r\n000000000FCC:3\r\n")
	for k := range uint64(20) {
		if got, want := searchText(text, hexText(k)), k == 1 || k == 3 || k == 15; got != want {
			t.Errorf("%d: %v", k, got)
		}
		if got := hexKey(hexText(k)); got != k {
			t.Errorf("%d came back as %d", k, got)
		}
	}
}
