package cyber

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
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
		if strings.Contains(it.Body+it.Title, "  ") || !strings.HasSuffix(it.Body, ".") && !strings.HasSuffix(it.Body, "?") {
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
				if asked.Question == nil || !asked.Question.offers(v) {
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
