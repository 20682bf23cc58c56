package cyber

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

var modelNow = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

func firstCatalogue(t interface{ Fatal(...any) }) *catalogueIndex {
	items, err := firstContent()
	if err != nil {
		t.Fatal(err)
	}
	return indexCatalogue(items)
}

// drawBreaches makes a small world of breaches, so that values meet in the same one.
func drawBreaches(t *rapid.T) []*judged {
	kinds := []SourceKind{SourceBreach, SourceCombolist, SourceStealer, SourcePaste, SourcePhish}
	list := make([]*judged, rapid.IntRange(1, 12).Draw(t, "breaches"))
	for i := range list {
		list[i] = judgeBreach(Breach{
			Name: "b" + strconv.Itoa(i), Title: "B" + strconv.Itoa(i), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
			Date:    modelNow.AddDate(0, -rapid.IntRange(0, 120).Draw(t, "months"), 0),
			Exposes: rapid.SliceOfDistinct(rapid.SampledFrom(AllExposed()), rapid.ID[Exposed]).Draw(t, "exposes"), Verified: rapid.Bool().Draw(t, "verified"),
			Fabricated: rapid.IntRange(0, 9).Draw(t, "fabricated") == 0, SpamList: rapid.IntRange(0, 9).Draw(t, "spam") == 0,
		}, modelNow)
		if copied := rapid.IntRange(-4, 3).Draw(t, "content"); copied > 0 { // some are copies of others
			list[i].content = strconv.Itoa(copied)
		}
	}
	return list
}

// finding is what the store would hold: a value and a breach.
type finding struct{ asset, breach int }

var drawnKinds = []identifier.Kind{
	identifier.Email,
	identifier.CPF,
	identifier.Phone,
	identifier.Card,
	identifier.Email,
}

// postureOf builds a posture the way the store does: statuses by ComputeStatus, in whichever order findings come.
func postureOf(breaches []*judged, findings []finding, devices []PostureDevice, answers map[ContentID]string) *Posture {
	p := &Posture{Devices: devices, Answers: answers}
	for i, k := range drawnKinds {
		a := PostureAsset{Kind: k, Value: "x" + strconv.Itoa(i)}
		var open []Finding
		for _, f := range findings {
			if f.asset == i {
				a.open = append(a.open, breaches[f.breach])
				open = append(open, Finding{Breach: breaches[f.breach].Breach})
			}
		}
		a.Status = ComputeStatus(open)
		p.Assets = append(p.Assets, a)
	}
	return p
}

func drawFindings(t *rapid.T, breaches int) []finding {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) finding {
		return finding{
			rapid.IntRange(0, len(drawnKinds)-1).Draw(t, "asset"),
			rapid.IntRange(0, breaches-1).Draw(t, "breach"),
		}
	}), 0, 40, rapid.ID[finding]).Draw(t, "findings")
}

func inRange(s Score) bool {
	return s.Breach >= 0 && s.Breach <= 100 && s.Assessment >= 0 && s.Assessment <= 100
}

// TestScoreIsMonotone: a new finding never lowers either score, resolving one never raises it, and order means nothing.
func TestScoreIsMonotone(t *testing.T) {
	s := firstCatalogue(t)
	rapid.Check(t, func(t *rapid.T) {
		breaches := drawBreaches(t)
		findings := drawFindings(t, len(breaches))
		all := computeScore(postureOf(breaches, findings, nil, nil), s)
		if !inRange(all) || len(findings) == 0 && all.Breach != 0 {
			t.Fatalf("%+v", all)
		}
		shuffled := rapid.Permutation(findings).Draw(t, "order")
		if again := computeScore(
			postureOf(breaches, shuffled, nil, nil),
			s,
		); again.Breach != all.Breach ||
			again.Assessment != all.Assessment {
			t.Fatalf("another order, another score: %v, %v", all, again)
		}
		for i := range findings {
			fewer := computeScore(postureOf(breaches, slices.Delete(slices.Clone(findings), i, i+1), nil, nil), s)
			if fewer.Breach > all.Breach || fewer.Assessment > all.Assessment {
				t.Fatalf("without finding %d the score is worse: %v, %v", i, fewer, all)
			}
		}
	})
}

// TestPostureIsMonotone: a device never raises the assessment, nor does an answer, and a worse answer never lowers it.
func TestPostureIsMonotone(t *testing.T) {
	s := firstCatalogue(t)
	var asking []*Item
	for i := range s.items {
		if s.items[i].Question != nil {
			asking = append(asking, &s.items[i])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		breaches := drawBreaches(t)
		findings := drawFindings(t, len(breaches))
		answers := map[ContentID]string{}
		for _, it := range asking {
			if rapid.Bool().Draw(t, "answered") {
				answers[it.ID] = rapid.SampledFrom(it.Question.Options).Draw(t, "option").Value
			}
		}
		base := computeScore(postureOf(breaches, findings, nil, answers), s)
		phone := []PostureDevice{{System: Android, ValidUntil: modelNow.AddDate(1, 0, 0)}}
		if with := computeScore(
			postureOf(breaches, findings, phone, answers),
			s,
		); with.Assessment >= base.Assessment ||
			with.Breach != base.Breach {
			t.Fatalf("a protected phone: %v, %v", base, with)
		}
		it := rapid.SampledFrom(asking).Draw(t, "item")
		a, b := rapid.SampledFrom(it.Question.Options).Draw(t, "a"), rapid.SampledFrom(it.Question.Options).Draw(t, "b")
		score := func(value string) float64 {
			answers[it.ID] = value
			return computeScore(postureOf(breaches, findings, nil, answers), s).Assessment
		}
		if with, other, none := score(a.Value), score(b.Value), score(""); a.Risk <= b.Risk && with > other || other > none {
			t.Fatalf("%s: %s gives %v, %s gives %v, none gives %v", it.ID, a.Value, with, b.Value, other, none)
		}
	})
}

// TestRecommendationsWinWhatTheySay: mending what the first one names lowers the scores by its points.
func TestRecommendationsWinWhatTheySay(t *testing.T) {
	s := firstCatalogue(t)
	rapid.Check(t, func(t *rapid.T) {
		breaches := drawBreaches(t)
		findings := drawFindings(t, len(breaches))
		before := computeScore(postureOf(breaches, findings, nil, nil), s)
		for i, r := range before.Recommendations {
			if i > 0 && r.Wins > before.Recommendations[i-1].Wins {
				t.Fatal("not in the order of points")
			}
			if r.Breach == "" {
				continue
			}
			named := breaches[slices.IndexFunc(breaches, func(b *judged) bool { return b.Title == r.Breach })]
			rest := slices.DeleteFunc(slices.Clone(findings), func(f finding) bool {
				b := breaches[f.breach]
				return b.content == named.content // what leaked once is mended once
			})
			after := computeScore(postureOf(breaches, rest, nil, nil), s)
			won := before.Breach + before.Assessment - after.Breach - after.Assessment
			if math.Abs(won-r.Wins) > 0.21 { // four roundings to a tenth
				t.Fatalf("%s promises %v and wins %v", r.Breach, r.Wins, won)
			}
		}
	})
}

// TestRecommendationsAddUp: for somebody nobody knows, what can be won is the whole score.
func TestRecommendationsAddUp(t *testing.T) {
	s := firstCatalogue(t)
	score := computeScore(&Posture{}, s)
	sum := 0.0
	for _, r := range score.Recommendations {
		sum += r.Wins
	}
	if score.Breach != 0 || score.Assessment != 85 || math.Abs(sum-85) > 1e-9 {
		t.Errorf("%+v wins %v", score, sum)
	}
}

// TestModelIsWhole: every class of data has a weight, and the worst assessment is 100.
func TestModelIsWhole(t *testing.T) {
	for _, e := range AllExposed() {
		if exposedWeight[e].points == 0 {
			t.Errorf("%s has no weight", e)
		}
	}
	sum := shareDevices + shareAnswers + shareAlerts + 0.0
	for _, w := range shareWatched {
		sum += w.points
	}
	if sum != 100 {
		t.Error("the shares add up to", sum)
	}
}

// TestCopiesCountOnce: a dump that was imported three times, under three names, is one breach to the score and to the
// advice; a dump with other contents is another.
func TestCopiesCountOnce(t *testing.T) {
	shop := Breach{
		Name:     "loja",
		Title:    "Loja",
		Kind:     SourceBreach,
		Date:     modelNow.AddDate(0, -6, 0),
		Verified: true,
		Content:  "c1",
		Exposes:  []Exposed{ExposedEmail, ExposedPassword, ExposedName},
	}
	imported := func(name, content string, exposes ...Exposed) *judged {
		b := shop
		b.Name, b.Title, b.Content = name, name, content
		if exposes != nil {
			b.Exposes = exposes
		}
		return judgeBreach(b, modelNow)
	}
	score := func(open ...*judged) Score {
		p := &Posture{Assets: []PostureAsset{
			{Kind: identifier.Email, Value: "a@exemplo.com.br", Status: StatusCompromised, open: open},
			{Kind: identifier.Phone, Value: "+5511999990000", Status: StatusCompromised, open: open[:1]},
		}}
		return computeScore(p, firstCatalogue(t))
	}
	about := func(s Score) (n int) {
		for _, r := range s.Recommendations {
			if r.Breach != "" {
				n++
			}
		}
		return n
	}
	one := score(imported("a", "c1"))
	three := score(imported("a", "c1"), imported("b", "c1"), imported("c", "c1"))
	difftest.Check(t, "once", one.Breach, 42)
	want := three
	want.Breach, want.Assessment = one.Breach, one.Assessment
	difftest.Check(t, "three times", three, want)
	difftest.Check(t, "recommendations of three times", about(three), 1)
	// Told of in another way, the worst that is known of it counts.
	if mixed := score(imported("a", "c1", ExposedEmail), imported("b", "c1")); mixed.Breach != one.Breach {
		t.Error(mixed.Breach)
	}
	for name, other := range map[string]*judged{"other contents": imported("b", "c2"), "none of its own": imported("b", "")} {
		if got := score(imported("a", "c1"), other); got.Breach != 66.4 || about(got) != 2 {
			t.Errorf("%s: %v with %d recommendations", name, got.Breach, about(got))
		}
	}
	if got := score(imported("a", ""), imported("b", "")); got.Breach != 66.4 {
		t.Error("two without contents are two:", got.Breach)
	}
}

// TestExamples are the examples of docs/risk-model.md.
func TestExamples(t *testing.T) {
	shop := judgeBreach(Breach{
		Name: "loja", Title: "Loja", Kind: SourceBreach, Date: modelNow.AddDate(0, -6, 0), Verified: true,
		Exposes: []Exposed{ExposedEmail, ExposedPassword, ExposedName},
	}, modelNow)
	old := judgeBreach(Breach{
		Name: "forum", Title: "Fórum", Kind: SourceBreach, Date: modelNow.AddDate(-9, 0, 0), Verified: true,
		Exposes: []Exposed{ExposedEmail, ExposedPassword, ExposedName},
	}, modelNow)
	register := judgeBreach(Breach{
		Name: "cadastro", Title: "Cadastro", Kind: SourceBreach, Date: modelNow.AddDate(-9, 0, 0), Verified: true,
		Exposes: []Exposed{ExposedCPF, ExposedName, ExposedBirthDate},
	}, modelNow)
	stealer := judgeBreach(Breach{
		Name: "logs", Title: "Logs", Kind: SourceStealer, Date: modelNow, Verified: true,
		Exposes: []Exposed{ExposedEmail, ExposedPassword, ExposedCookies, ExposedCard},
	}, modelNow)
	for _, c := range []struct {
		name string
		all  []*judged
		want float64
	}{
		{"a shop, recent", []*judged{shop}, 42},
		{"a forum, nine years ago", []*judged{old}, 17.4},
		{"a register with CPF, nine years ago", []*judged{register}, 33},
		{"a stealer's log", []*judged{stealer}, 75},
		{"shop and register", []*judged{shop, register}, 61.1},
		{"all four", []*judged{shop, old, register, stealer}, 92},
	} {
		p := &Posture{
			Assets: []PostureAsset{
				{Kind: identifier.Email, Value: "a@exemplo.com.br", Status: StatusCompromised, open: c.all},
			},
		}
		if got := computeScore(p, firstCatalogue(t)).Breach; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestBestRecommendations: the twenty that win most, the largest first; of equals the first.
func TestBestRecommendations(t *testing.T) {
	best := func(wins []float64) (got []int) {
		var list []Recommendation
		for i, w := range wins {
			list = append(list, Recommendation{Text: strconv.Itoa(i), Wins: w})
		}
		for _, r := range pickBestWins(list) {
			i, _ := strconv.Atoi(r.Text)
			got = append(got, i)
		}
		return got
	}
	wins := make([]float64, 30)
	for i := range wins {
		wins[i] = float64(i / 2) // pairs of equals, growing
	}
	want := []int{28, 29, 26, 27, 24, 25, 22, 23, 20, 21, 18, 19, 16, 17, 14, 15, 12, 13, 10, 11}
	if got := best(wins); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := best(make([]float64, 25)); len(got) != 20 || !slices.IsSorted(got) || got[19] != 19 {
		t.Errorf("of equals %v, want the first twenty", got)
	}
}

// TestMends: what to do about a breach is decided by the worst of it.
func TestMends(t *testing.T) {
	for _, c := range []struct {
		b    Breach
		want Mends
	}{
		{Breach{Kind: SourceStealer, Exposes: []Exposed{ExposedCard}}, MendStealer},
		{Breach{Kind: SourcePhish, Exposes: []Exposed{ExposedEmail}}, MendPhish},
		{Breach{Kind: SourceBreach, Exposes: []Exposed{ExposedEmail}}, MendContact},
		{Breach{Kind: SourcePhish, Exposes: []Exposed{ExposedHealth}}, MendHealth},
		{Breach{Exposes: []Exposed{ExposedPassword, ExposedCard}}, MendPassword},
	} {
		if got := c.b.recommendedMend(); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.b.Kind, c.b.Exposes, got, c.want)
		}
	}
}

// TestNothingToMend: a question whose answer leaves no risk is no recommendation.
func TestNothingToMend(t *testing.T) {
	items := indexCatalogue(
		[]Item{
			{
				ID:       "q",
				Question: &ValidationQuestion{Mends: "M", Options: []Option{{Value: "sim"}, {Value: "nao", Risk: 5}}},
			},
		},
	)
	for answer, want := range map[string]int{"sim": 0, "nao": 1, "": 1} {
		n := 0
		for _, g := range postureGaps(&Posture{Answers: map[ContentID]string{"q": answer}}, items) {
			if g.Mends == MendAnswer {
				n++
			}
		}
		if n != want {
			t.Errorf("answered %q: recommended %d times", answer, n)
		}
	}
}

// TestIdentityBonus: a government id alone opens no account, nor does a name; both together weigh more than their
// parts.
func TestIdentityBonus(t *testing.T) {
	points := func(exposes ...Exposed) float64 {
		return Breach{Kind: SourceBreach, Date: modelNow, Verified: true, Exposes: exposes}.riskPoints(modelNow)
	}
	for _, id := range []Exposed{ExposedCPF, ExposedDocument} {
		for _, with := range []Exposed{ExposedName, ExposedBirthDate, ExposedAddress} {
			both := max(points(id), points(with)) + furtherShare*min(points(id), points(with)) + identityBonus
			if got := points(id, with); got != both {
				t.Errorf("%s with %s: %v, want %v", id, with, got, both)
			}
		}
	}
	if alone, want := points(ExposedCPF), exposedWeight[ExposedCPF].points; alone != want {
		t.Errorf("a CPF alone: %v, want %v", alone, want)
	}
	if alone, want := points(ExposedName, ExposedAddress), exposedWeight[ExposedAddress].points+furtherShare*exposedWeight[ExposedName].points; alone != want {
		t.Errorf("name and address: %v, want %v", alone, want)
	}
}
