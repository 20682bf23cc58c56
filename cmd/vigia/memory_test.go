package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A server says in its metrics how it collects garbage. Not parallel, because it is started with this environment.
func TestServerBoundsItsGarbage(t *testing.T) {
	for _, c := range []struct{ name, gogc, memoryLimit, percent, limit string }{
		{"nothing set", "", "", "400", "2.43269632e+08"},
		{"garbage set", "50", "", "50", "2.43269632e+08"},
		{"limit set", "", "100MiB", "400", "1.048576e+08"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.memoryLimit)
			t.Setenv("VIGIA_METRICS_TOKEN", "a-token-for-metrics")
			s := newServer(t, binary(t, ""), filepath.Join(t.TempDir(), "data"), "")
			s.start(t)
			t.Cleanup(s.kill)
			_, page := getPage(t, "http://"+s.console+"/metrics")
			for _, want := range []string{"go_gc_gogc_percent " + c.percent, "go_gc_gomemlimit_bytes " + c.limit} {
				if !strings.Contains(page, "\n"+want+"\n") {
					t.Errorf("the metrics do not hold %q", want)
				}
			}
		})
	}
}
