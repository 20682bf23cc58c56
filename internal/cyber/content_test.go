package cyber

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestFirstContent holds the catalogue against what was promised of it.
func TestFirstContent(t *testing.T) {
	items, err := firstContent()
	if err != nil {
		t.Fatal(err)
	}
	types, devices, questions := map[ContentType]int{}, map[DeviceType]int{}, 0
	byID := map[ContentID]Item{}
	for _, it := range items {
		if _, twice := byID[it.ID]; twice {
			t.Errorf("%s is in two files", it.ID)
		}
		byID[it.ID] = it
		types[it.Type]++
		devices[it.Device]++
		if it.Question != nil {
			questions++
		}
		if strings.Contains(it.Body+it.Title, "  ") ||
			!strings.HasSuffix(it.Body, ".") && !strings.HasSuffix(it.Body, "?") {
			t.Errorf("%s: the text is not clean", it.ID)
		}
	}
	if len(items) < 40 || questions < 12 || len(types) != 3 || len(devices) != 3 {
		t.Errorf("%d items, %d questions, %v, %v", len(items), questions, types, devices)
	}
	for _, it := range items {
		for id, values := range it.When.Answered {
			asked := byID[id]
			for _, v := range values {
				if asked.Question == nil || !asked.Question.offersAnswer(v) {
					t.Errorf("%s waits for the answer %s to %s, which nobody can give", it.ID, v, id)
				}
			}
		}
	}
}

// TestContentRoundTrip: what is exported can be imported and is the same.
func TestContentRoundTrip(t *testing.T) {
	items, err := firstContent()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := WriteContent(&file, items); err != nil {
		t.Fatal(err)
	}
	again, err := ReadContent(&file)
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range items {
		if !reflect.DeepEqual(it, again[i]) {
			t.Errorf("%s changed on the way:\n%+v\n%+v", it.ID, it, again[i])
		}
	}
}

func TestContentRefused(t *testing.T) {
	const good = "- {id: a-b, type: tip, device: all, rank: 5, title: T, body: B."
	if items, err := ReadContent(strings.NewReader(good + "}")); err != nil || len(items) != 1 {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"no list":             "id: a",
		"unknown member":      good + ", ranking: 3}",
		"unknown condition":   good + ", when: {exposed: [cpf]}}",
		"unknown class":       good + ", when: {exposes: [soul]}}",
		"unknown kind":        good + ", when: {not_watched: iris}}",
		"unknown severity":    good + ", when: {severity: awful}}",
		"stray placeholder":   strings.Replace(good, "B.", "'B {valor}.'", 1) + "}",
		"unknown placeholder": strings.Replace(good, "B.", "'B {nome}.'", 1) + ", when: {exposes: [cpf]}}",
		"bad id":              strings.Replace(good, "a-b", "Á", 1) + "}",
		"bad type":            strings.Replace(good, "tip", "joke", 1) + "}",
		"no rank":             strings.Replace(good, "rank: 5", "rank: 0", 1) + "}",
		"twice":               good + "}\n" + good + "}",
		"one option":          good + ", question: {text: Q, mends: M, options: [{value: a, label: A, risk: 0}]}}",
		"no good option":      good + ", question: {text: Q, mends: M, options: [{value: a, label: A, risk: 1}, {value: b, label: B, risk: 2}]}}",
		"no bad option":       good + ", question: {text: Q, mends: M, options: [{value: a, label: A, risk: 0}, {value: b, label: B, risk: 0}]}}",
		"the same option":     good + ", question: {text: Q, mends: M, options: [{value: a, label: A, risk: 0}, {value: a, label: B, risk: 2}]}}",
		"asks about findings": good + ", when: {exposes: [cpf]}, question: {text: Q, mends: M, options: [{value: a, label: A, risk: 0}, {value: b, label: B, risk: 2}]}}",
		"not YAML":            "\t{",
	} {
		if _, err := ReadContent(strings.NewReader(text)); !errors.Is(err, ErrContentInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContentBounds: the last value that is allowed, and the first that is not.
func TestContentBounds(t *testing.T) {
	question := func(n, risk int) *ValidationQuestion {
		q := &ValidationQuestion{Text: "Q", Mends: "M", Options: []Option{{Value: "sim", Label: "S"}}}
		for i := 1; i < n; i++ {
			q.Options = append(q.Options, Option{Value: "v" + strings.Repeat("x", i), Label: "L", Risk: risk})
		}
		return q
	}
	for name, c := range map[string]struct {
		change func(*Item)
		ok     bool
	}{
		"rank 1":                {func(it *Item) { it.Rank = 1 }, true},
		"rank 0":                {func(it *Item) { it.Rank = 0 }, false},
		"rank 1000":             {func(it *Item) { it.Rank = 1000 }, true},
		"rank 1001":             {func(it *Item) { it.Rank = 1001 }, false},
		"an id of 64":           {func(it *Item) { it.ID = ContentID(strings.Repeat("a", 64)) }, true},
		"an id of 65":           {func(it *Item) { it.ID = ContentID(strings.Repeat("a", 65)) }, false},
		"the least severity":    {func(it *Item) { it.When.Severity = SeverityLow }, true},
		"366 days ahead":        {func(it *Item) { it.When.KeyEndsWithin = 366 }, true},
		"367 days ahead":        {func(it *Item) { it.When.KeyEndsWithin = 367 }, false},
		"days before":           {func(it *Item) { it.When.KeyEndsWithin = -1 }, false},
		"less than no findings": {func(it *Item) { it.When.OpenFindings = -1 }, false},
		"an unknown source":     {func(it *Item) { it.When.Sources = []SourceKind{"dream"} }, false},
		"a known source":        {func(it *Item) { it.When.Sources = []SourceKind{SourcePhish} }, true},
		"an unknown device":     {func(it *Item) { it.When.NoDevice = "watch" }, false},
		"another one":           {func(it *Item) { it.When.HasDevice = "watch" }, false},
		"known devices":         {func(it *Item) { it.When.NoDevice, it.When.HasDevice = DeviceMobile, DeviceDesktop }, true},
		"no such place":         {func(it *Item) { it.Device = "watch" }, false},
		"answered with nothing": {func(it *Item) { it.When.Answered = map[ContentID][]string{"a": nil} }, false},
		"answered by no item":   {func(it *Item) { it.When.Answered = map[ContentID][]string{"A": {"x"}} }, false},
		"answered":              {func(it *Item) { it.When.Answered = map[ContentID][]string{"a": {"x"}} }, true},
		"two options":           {func(it *Item) { it.Question = question(2, 10) }, true},
		"ten options":           {func(it *Item) { it.Question = question(10, 1) }, true},
		"eleven options":        {func(it *Item) { it.Question = question(11, 1) }, false},
		"too much risk":         {func(it *Item) { it.Question = question(2, 11) }, false},
		"less than no risk":     {func(it *Item) { it.Question = question(2, -1) }, false},
		"a question of nothing": {func(it *Item) { it.Question = &ValidationQuestion{Mends: "M", Options: question(2, 1).Options} }, false},
		"others, of a finding":  {func(it *Item) { it.When.Severity, it.More = SeverityLow, "{mais}" }, true},
		"others, of no finding": {func(it *Item) { it.More = "{mais}" }, false},
		"a stray word in more":  {func(it *Item) { it.When.Severity, it.More = SeverityLow, "{nome}" }, false},
	} {
		it := tip("a-b", 5, ContentTip)
		c.change(&it)
		if err := it.checkItem(); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrContentInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContentDetails: what an operator reads of a mistake is plain ASCII, whatever was written.
func TestContentDetails(t *testing.T) {
	it := tip("a", 5, ContentTip)
	it.Body = "{ação ~\n!}"
	if err := it.checkItem(); err == nil || !strings.Contains(err.Error(), "{a??o ~?!}") {
		t.Errorf("%v", err)
	}
}

// TestContentFile: a file of just the size that is read, and one byte more; kinds of values by their names.
func TestContentFile(t *testing.T) {
	const good = "- {id: a-b, type: tip, device: all, rank: 5, title: T, body: B., when: {assets: [email], watched: phone}}\n"
	fill := func(size int) string { return good + "#" + strings.Repeat("x", size-len(good)-1) }
	items, err := ReadContent(strings.NewReader(fill(8 << 20)))
	if err != nil || len(items) != 1 {
		t.Fatalf("%+v: %v", items, err)
	}
	want := items[0].When
	want.Assets, want.Watched = []identifier.Kind{identifier.Email}, identifier.Phone
	difftest.Check(t, "when the item is shown", items[0].When, want)
	if _, err := ReadContent(strings.NewReader(fill(8<<20 + 1))); !errors.Is(err, ErrContentInvalid) {
		t.Errorf("a file over the limit: %v", err)
	}
	if _, err := ReadContent(strings.NewReader(strings.Replace(good, "[email]", "[iris]", 1))); !errors.Is(err, ErrContentInvalid) {
		t.Errorf("an unknown kind: %v", err)
	}
}
