package app_test

import (
	"context"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -vet=off . -run TestLicences -update

var updateLicences = flag.Bool("update", false, "write docs/licences.md anew")

// permitted are the licences that what we ship may have: all of them let it be used, changed and passed on, with
// notice.
var permitted = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unlicense", "CC0-1.0"}

// licenceOf recognises a licence by sentences that only it has.
func licenceOf(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	has := func(s string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(s)) }
	switch {
	case has("Apache License") && has("Version 2.0"):
		return "Apache-2.0"
	case has("Mozilla Public License") && has("2.0"):
		return "MPL-2.0"
	case has("Permission to use, copy, modify, and/or distribute") || has("Permission to use, copy, modify, and distribute"):
		return "ISC"
	case has("Permission is hereby granted, free of charge"):
		return "MIT"
	case has("Redistribution and use in source and binary forms") && (has("Neither the name") || has("names of its contributors")):
		return "BSD-3-Clause"
	case has("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	case has("This is free and unencumbered software"):
		return "Unlicense"
	case has("CC0 1.0 Universal"):
		return "CC0-1.0"
	}
	return "unknown"
}

// licences makes the page from the modules that are compiled into the program, and fails for a licence that is not
// permitted.
func licences(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"go.mod", "go.sum"} { // read here, so that the test's kept result goes when they change
		readTree(t, name)
	}
	list := exec.CommandContext(
		context.Background(),
		"go",
		"list",
		"-deps",
		"-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}",
		"./cmd/vigia",
	)
	list.Dir = treeRoot
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	parts := map[string][]string{} // by licence
	for _, line := range slices.Compact(lines) {
		part := strings.Fields(line)
		if len(part) != 3 ||
			strings.HasPrefix(part[0], "github.com/vigiahq/vigia") { // the client is a module of its own, and ours
			continue
		}
		licence := licenceIn(t, part[2])
		if !slices.Contains(permitted, licence) {
			t.Errorf("not a licence that we can pass on: %s is %s", part[0], licence)
		}
		parts[licence] = append(parts[licence], "- "+part[0]+" "+part[1])
	}
	page := "# Licences\n\nWhat is compiled into the program, by licence. Made by `go generate ./internal/app`.\n"
	for _, licence := range slices.Sorted(maps.Keys(parts)) {
		page += "\n## " + licence + "\n\n" + strings.Join(parts[licence], "\n") + "\n"
	}
	return page
}

func licenceIn(t *testing.T, folder string) string {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") &&
			!strings.HasPrefix(name, "UNLICENSE") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if found := licenceOf(string(raw)); found != "unknown" {
			return found
		}
	}
	return "unknown"
}

// TestLicences: the page lists what is shipped, and nothing is shipped under a licence that we cannot pass on.
func TestLicences(t *testing.T) {
	want := licences(t)
	page := filepath.Join(treeRoot, "docs", "licences.md")
	if *updateLicences {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := readTree(t, "docs/licences.md"); got != want {
		t.Error("docs/licences.md is stale: run go generate ./internal/app")
	}
}

// TestLicenceOf shows that a licence nobody foresaw is not taken for one of the permitted.
func TestLicenceOf(t *testing.T) {
	for text, want := range map[string]string{
		"GNU GENERAL PUBLIC LICENSE\n Version 3":                            "unknown",
		"Business Source License 1.1":                                       "unknown",
		"MIT License\n\nPermission is hereby\n granted, free of charge, to": "MIT",
		"": "unknown",
	} {
		if got := licenceOf(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
