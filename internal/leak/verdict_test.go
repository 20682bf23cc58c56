package leak_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// judge decides; it has no state.
var judge leak.Judge

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// world is what verdicts are tried on: no store, no clock, ids by number.
type world struct {
	published map[string]cyber.Breach
	ids       int
}

func newWorld() *world {
	w := &world{published: map[string]cyber.Breach{}}
	for _, b := range []cyber.Breach{
		{Name: "loja", Kind: cyber.SourceBreach, Exposes: []cyber.Exposed{cyber.ExposedEmail}},
		{Name: "banco", Kind: cyber.SourceBreach, Exposes: []cyber.Exposed{cyber.ExposedPassword}},
		{Name: "lista", Kind: cyber.SourceCombolist, Exposes: []cyber.Exposed{cyber.ExposedEmail}},
	} {
		w.published[b.Name] = b
	}
	return w
}

func (w *world) newID() (cyber.FindingID, error) {
	w.ids++
	return cyber.FindingID(fmt.Sprint("fd", w.ids)), nil
}

func valueOf(person, name string) *leak.Watched {
	return &leak.Watched{
		Asset: cyber.Asset{
			ID:      cyber.AssetID(name),
			Partner: "pt",
			User:    partner.UserHash("u-" + person),
			Status:  cyber.StatusMonitored,
			AddedAt: noon,
		},
		Person: person,
		Same:   name,
	}
}

// told writes a verdict down: "found a/loja a/lista(quiet); closed a/loja:other; says a alerta loja; tells ana
// a/loja=alerta".
func told(v leak.Verdict) string {
	var parts []string
	part := func(title string, words []string) {
		if len(words) > 0 {
			parts = append(parts, title+" "+strings.Join(words, ", "))
		}
	}
	var words []string
	for _, f := range v.Found {
		word := string(f.Asset) + "/" + f.Breach.Name
		if f.Quiet {
			word += "(quiet)"
		}
		words = append(words, word)
	}
	part("found", words)
	words = nil
	for _, f := range v.Closed {
		words = append(words, string(f.Asset)+"/"+f.Breach.Name+":"+string(f.Resolution))
	}
	part("closed", words)
	words = nil
	for _, r := range v.Restated {
		word := string(r.ID) + " " + string(r.Before) + ">" + string(r.Status) + " [" + r.OpenBreaches + "]"
		if r.HasMoved() != (r.Before != r.Status) {
			word += " and does not know whether it moved"
		}
		words = append(words, word)
	}
	part("says", words)
	words = nil
	for _, n := range v.News {
		word := string(n.User)
		for _, f := range n.Found {
			word += " " + string(f.Asset) + "/" + f.Breach.Name + "=" + string(n.Status[f.Asset])
		}
		words = append(words, word)
	}
	part("tells", words)
	return strings.Join(parts, "; ")
}

// TestDiscover: what hits come to.
func TestDiscover(t *testing.T) {
	for name, c := range map[string]struct {
		before, hits string
		want         string
	}{
		"nothing":                 {"", "", ""},
		"one":                     {"", "a/loja", "found a/loja; says a monitorado>alerta [loja]; tells u-ana a/loja=alerta"},
		"something usable":        {"", "a/banco", "found a/banco; says a monitorado>comprometido [banco]; tells u-ana a/banco=comprometido"},
		"the same twice":          {"", "a/loja a/loja", "found a/loja; says a monitorado>alerta [loja]; tells u-ana a/loja=alerta"},
		"known already":           {"a/loja", "a/loja", ""},
		"known and resolved":      {"a/loja:other", "a/loja", ""},
		"not published any more":  {"", "a/sumida", ""},
		"a value that is gone":    {"", "x/loja", ""},
		"a list of fresh values":  {"", "a/lista", "found a/lista; says a monitorado>alerta [lista]; tells u-ana a/lista=alerta"},
		"a list of old news":      {"a/loja", "a/lista", "found a/lista(quiet); says a alerta>alerta [loja lista~loja]"},
		"a list of resolved news": {"a/loja:other", "a/lista", "found a/lista(quiet); says a monitorado>alerta [lista~loja]"},
		"a list of withdrawn":     {"a/loja:retracted", "a/lista", "found a/lista; says a monitorado>alerta [lista]; tells u-ana a/lista=alerta"},
		"a list behind its source in one look": {
			"", "a/loja a/lista",
			"found a/loja, a/lista(quiet); says a monitorado>alerta [loja lista~loja]; tells u-ana a/loja=alerta",
		},
		"two values of one person": {
			"", "a/loja b/loja",
			"found a/loja, b/loja; says a monitorado>alerta [loja], b monitorado>alerta [loja]; tells u-ana " +
				"a/loja=alerta b/loja=alerta",
		},
		"two people": {
			"", "a/loja c/loja",
			"found a/loja, c/loja; says a monitorado>alerta [loja], c monitorado>alerta [loja]; tells u-ana " +
				"a/loja=alerta, u-caio c/loja=alerta",
		},
		"the news tell the last status": {
			"", "a/loja a/banco",
			"found a/loja, a/banco; says a monitorado>comprometido [loja banco]; tells u-ana a/loja=comprometido " +
				"a/banco=comprometido",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			values := []*leak.Watched{valueOf("ana", "a"), valueOf("ana", "b"), valueOf("caio", "c")}
			values[1].User = "another spelling of u-ana"
			w.given(t, values, c.before)
			v, err := judge.DiscoverFindings(values, selectHits(c.hits), w.published, w.newID, noon)
			if got := told(v); err != nil || got != c.want {
				t.Errorf("%v\n got %s\nwant %s", err, got, c.want)
			}
			for _, f := range v.Found {
				if f.ID == "" || f.Partner != "pt" || f.FoundAt != noon || !f.Open() ||
					f.Severity != cyber.SeverityOf(f) {
					t.Errorf("%+v", f)
				}
			}
			if again, err := judge.DiscoverFindings(
				values,
				selectHits(c.hits),
				w.published,
				w.newID,
				noon,
			); err != nil ||
				told(again) != "" {
				t.Errorf("a second look comes to %s, %v", told(again), err)
			}
		})
	}
}

// given puts findings in place: "a/loja b/loja:other".
func (w *world) given(t *testing.T, values []*leak.Watched, text string) {
	t.Helper()
	for _, word := range strings.Fields(text) {
		place, resolution, _ := strings.Cut(word, ":")
		if _, err := judge.DiscoverFindings(
			values,
			selectHits(place),
			w.published,
			w.newID,
			noon.Add(-time.Hour),
		); err != nil {
			t.Fatal(err)
		}
		if hit := selectHits(place)[0]; resolution != "" {
			judge.CloseFindings(
				values,
				func(f cyber.Finding) bool { return f.Asset == hit.Asset && f.Breach.Name == hit.Breach },
				cyber.Resolution(resolution),
				noon,
			)
		}
	}
}

func selectHits(text string) []leak.Hit {
	var hits []leak.Hit
	for _, word := range strings.Fields(text) {
		asset, breach, _ := strings.Cut(word, "/")
		hits = append(hits, leak.Hit{Asset: cyber.AssetID(asset), Seen: cyber.Seen{Breach: breach}})
	}
	return hits
}

// TestDiscoverWithoutIDs: chance that fails is no finding without a name.
func TestDiscoverWithoutIDs(t *testing.T) {
	w, broken := newWorld(), errors.New("no chance")
	_, err := judge.DiscoverFindings(
		[]*leak.Watched{valueOf("ana", "a")},
		selectHits("a/loja"),
		w.published,
		func() (cyber.FindingID, error) { return "", broken },
		noon,
	)
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestClose: what resolving comes to.
func TestClose(t *testing.T) {
	for name, c := range map[string]struct{ before, breach, want string }{
		"the only one":     {"a/loja", "loja", "closed a/loja:other; says a alerta>monitorado []"},
		"the worse of two": {"a/loja a/banco", "banco", "closed a/banco:other; says a comprometido>alerta [loja]"},
		"the milder":       {"a/loja a/banco", "loja", "closed a/loja:other; says a comprometido>comprometido [banco]"},
		"closed already":   {"a/loja:not_me", "loja", ""},
		"of several":       {"a/loja c/loja", "loja", "closed a/loja:other, c/loja:other; says a alerta>monitorado [], c alerta>monitorado []"},
		"nothing of it":    {"a/loja", "banco", ""},
	} {
		w, values := newWorld(), []*leak.Watched{valueOf("ana", "a"), valueOf("caio", "c")}
		w.given(t, values, c.before)
		v := judge.CloseFindings(
			values,
			func(f cyber.Finding) bool { return f.Breach.Name == c.breach },
			cyber.ResolvedOther,
			noon,
		)
		if got := told(v); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, c.want)
		}
		for _, f := range v.Closed {
			if !f.ResolvedAt.Equal(noon) {
				t.Errorf("%s: closed at %s", name, f.ResolvedAt)
			}
		}
	}
}

// TestRestate: an edited breach changes what values say, and tells nobody of a leak.
func TestRestate(t *testing.T) {
	w, values := newWorld(), []*leak.Watched{valueOf("ana", "a")}
	w.given(t, values, "a/loja")
	if got := told(judge.RestateValues(values)); got != "" {
		t.Error("nothing was edited:", got)
	}
	values[0].Findings[0].Breach.Exposes = []cyber.Exposed{cyber.ExposedPassword}
	if got := told(judge.RestateValues(values)); got != "says a alerta>comprometido [loja]" {
		t.Error(got)
	}
}

// TestUnite: the value added first stays, with what the other one knew.
func TestUnite(t *testing.T) {
	for name, c := range map[string]struct{ first, second, want string }{
		"neither knows anything":  {"", "", ""},
		"both know the same":      {"a/loja", "b/loja", "loja"},
		"only the second knows":   {"", "b/loja", "loja"},
		"each knows its own":      {"a/loja", "b/banco", "loja banco"},
		"resolved in the second":  {"a/loja", "b/loja:other", "loja:other"},
		"resolved in the first":   {"a/loja:not_me", "b/loja", "loja:not_me"},
		"moved as it was":         {"", "b/loja:other", "loja:other"},
		"resolved in both stays":  {"a/loja:not_me", "b/loja:other", "loja:not_me"},
		"something of everything": {"a/loja a/lista", "b/banco b/lista:other", "loja lista:other banco"},
	} {
		for _, swapped := range []bool{false, true} {
			w := newWorld()
			first, second := valueOf("ana", "a"), valueOf("ana", "b")
			second.Same, second.AddedAt = first.Same, noon.Add(time.Minute)
			w.given(t, []*leak.Watched{first}, c.first)
			w.given(t, []*leak.Watched{second}, c.second)
			values := []*leak.Watched{first, valueOf("caio", "a"), second}
			if swapped {
				values[0], values[2] = values[2], values[0]
			}
			stay, unions := judge.UniteValues(values)
			if len(stay) != 2 || len(unions) != 1 {
				t.Fatalf("%s: %v %+v", name, stay, unions)
			}
			want := unions[0]
			want.Gone, want.Into = "b", "a"
			difftest.Must(t, name, unions[0], want)
			var words []string
			for _, f := range first.Findings {
				word := f.Breach.Name
				if !f.Open() {
					word += ":" + string(f.Resolution)
				}
				if words = append(words, word); f.Asset != "a" {
					t.Errorf("%s: a finding stays with %s", name, f.Asset)
				}
			}
			if got := strings.Join(words, " "); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			if again, more := judge.UniteValues(stay); len(again) != 2 || more != nil {
				t.Errorf("%s: united again: %v", name, more)
			}
		}
	}
}

// TestVerdictsHold: whatever is hit, resolved and united in whatever order, a value has one finding of a breach, and
// nobody hears twice at a time, or of what is quiet.
func TestVerdictsHold(t *testing.T) {
	names := []string{"loja", "banco", "lista", "sumida"}
	for seed := range uint64(500) {
		chance := rand.New(rand.NewPCG(seed, 1))
		w := newWorld()
		var values []*leak.Watched
		for i := range 8 {
			v := valueOf(fmt.Sprint("p", chance.IntN(3)), fmt.Sprint("v", i))
			v.Same, v.AddedAt = fmt.Sprint("s", chance.IntN(4)), noon.Add(time.Duration(chance.IntN(3))*time.Hour)
			values = append(values, v)
		}
		known := map[string]bool{}
		for step := range 12 {
			now := noon.Add(time.Duration(step) * time.Minute)
			switch chance.IntN(5) {
			case 0:
				values, _ = judge.UniteValues(values)
			case 1:
				name := names[chance.IntN(len(names))]
				judge.CloseFindings(
					values,
					func(f cyber.Finding) bool { return f.Breach.Name == name },
					cyber.ResolvedOther,
					now,
				)
			default:
				var hits []leak.Hit
				for range 1 + chance.IntN(6) {
					hits = append(
						hits,
						leak.Hit{
							Asset: cyber.AssetID(fmt.Sprint("v", chance.IntN(9))),
							Seen:  cyber.Seen{Breach: names[chance.IntN(len(names))]},
						},
					)
				}
				v, err := judge.DiscoverFindings(values, hits, w.published, w.newID, now)
				if err != nil {
					t.Fatal(err)
				}
				checkNews(t, values, v, known)
			}
			checkValues(t, values)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkNews(t *testing.T, values []*leak.Watched, v leak.Verdict, known map[string]bool) {
	t.Helper()
	loud, people := map[cyber.FindingID]bool{}, map[partner.UserHash]bool{}
	for _, f := range v.Found {
		key := string(f.Asset) + "/" + f.Breach.Name
		if known[key] {
			t.Errorf("%s is found twice", key)
		}
		known[key] = true
		if !f.Quiet {
			loud[f.ID] = true
		}
	}
	for _, n := range v.News {
		if people[n.User] || len(n.Found) == 0 {
			t.Errorf("%s hears twice, or of nothing", n.User)
		}
		people[n.User] = true
		for _, f := range n.Found {
			i := 0
			for i < len(values) && values[i].ID != f.Asset {
				i++
			}
			if !loud[f.ID] || i == len(values) || values[i].User != n.User || values[i].Status != n.Status[f.Asset] {
				t.Errorf("%s hears of %+v", n.User, f)
			}
			delete(loud, f.ID)
		}
	}
	if len(loud) > 0 {
		t.Errorf("nobody hears of %v", loud)
	}
}

func checkValues(t *testing.T, values []*leak.Watched) {
	t.Helper()
	for _, w := range values {
		seen := map[string]bool{}
		for _, f := range w.Findings {
			if seen[f.Breach.Name] || f.Asset != w.ID {
				t.Errorf("%s: %s of %s", w.ID, f.Breach.Name, f.Asset)
			}
			seen[f.Breach.Name] = true
		}
	}
}
