package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// These are set by -ldflags: the version, the commit and its time. Where they are not, the build's own record speaks.
var version, commit, built string

// recorded returns a setting that the Go toolchain recorded in the build; empty where it recorded none.
func recorded(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

// versionText returns the version of a release build, or the one that the Go toolchain recorded.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// commitText returns the commit that was built, or "unknown".
func commitText() string { return cmp.Or(commit, recorded("vcs.revision"), "unknown") }

// buildTime returns the time of the commit, if it is known.
func buildTime() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, cmp.Or(built, recorded("vcs.time")))
	return t, err == nil
}

// versionCmd is 'vigia version'.
type versionCmd struct{}

// Run prints the version and the commit it was made from.
func (versionCmd) Run(o *output) error {
	return o.printValue(newRecord("version", versionText(), "commit", commitText()), func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "vigia %s, commit %s\n", versionText(), commitText())
	})
}
