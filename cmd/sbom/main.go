// Command sbom lists what a released binary is made of, as CycloneDX JSON, from the record that the Go linker left in
// it: not what go.mod asks for, but what is really inside. The same binary gives the same bytes.
//
//	go run ./cmd/sbom dist/vigia-v1.2.3-linux-amd64 v1.2.3 > dist/vigia-v1.2.3.cdx.json
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// The parts of CycloneDX 1.5 that we use.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

func run(args []string, w io.Writer) error {
	if len(args) != 2 {
		return errors.New("name a binary and its version") // -trimpath keeps the version out of the linker's record
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	root := component{Type: "application", Ref: "vigia", Name: "vigia", Version: args[1]}
	b := bom{
		Format:     "CycloneDX",
		Spec:       "1.5",
		Version:    1,
		Metadata:   metadata{root},
		Components: []component{standardLibrary(info.GoVersion)},
	}
	for _, m := range info.Deps {
		if m.Replace != nil && m.Replace.Version == "" { // a folder of this tree, which is part of the program
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		b.Components = append(
			b.Components,
			component{"library", purl, m.Path, m.Version, purl, []property{{"go:sum", m.Sum}}},
		)
	}
	uses := dependency{Ref: root.Ref}
	for _, c := range b.Components {
		uses.DependsOn = append(uses.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{uses}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(b)
}

// standardLibrary is a part like any other: its holes are mended by a new Go.
func standardLibrary(goVersion string) component {
	version := strings.TrimPrefix(goVersion, "go")
	purl := "pkg:golang/stdlib@" + version
	return component{Type: "library", Ref: purl, Name: "stdlib", Version: version, PURL: purl}
}
