package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// TestListsTheBinary reads the record in this very test program, which has fewer parts but the same form.
func TestListsTheBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := run([]string{self, "v1.2.3"}, &first); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{self, "v1.2.3"}, &second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two lists of one binary differ", err)
	}
	var b bom
	if err := json.Unmarshal(first.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	if b.Components[0].Version == "" || len(b.Dependencies) != 1 {
		t.Fatalf("%s", &first)
	}
	want := b
	want.Format, want.Spec, want.Metadata.Component.Version = "CycloneDX", "1.5", "v1.2.3"
	difftest.Check(t, "the list", b, want)
	difftest.Check(t, "its first part", b.Components[0].Name, "stdlib")
	difftest.Check(t, "how many parts the binary needs", len(b.Dependencies[0].DependsOn), len(b.Components))
	for _, c := range b.Components {
		if !strings.HasPrefix(c.PURL, "pkg:golang/") || c.Ref == "" {
			t.Errorf("%+v", c)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"a"}, {"main.go", "v1"}, {"nowhere", "v1"}} {
		if err := run(args, &bytes.Buffer{}); err == nil {
			t.Errorf("accepted %v", args)
		}
	}
}
