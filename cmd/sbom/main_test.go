package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
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
	if b.Format != "CycloneDX" || b.Spec != "1.5" || b.Metadata.Component.Version != "v1.2.3" ||
		b.Components[0].Name != "stdlib" ||
		b.Components[0].Version == "" ||
		len(b.Dependencies) != 1 ||
		len(b.Dependencies[0].DependsOn) != len(b.Components) {
		t.Errorf("%s", &first)
	}
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
